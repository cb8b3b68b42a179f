"""A real PostgreSQL server for tests: Debian's binaries, a folder of its own, a free port on loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_MISSING = "PostgreSQL IS NOT TESTED: no server found; install one with `apt-get install postgresql-15`"


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database on a server that lives as long as the block; skips loudly if there is none."""
    binaries = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="webarc-postgres-"))
    account = _account(folder)
    try:
        initdb = f"{binaries}/initdb -D {folder}/data -U webarc -A trust -E UTF8 --locale=C.UTF-8 --no-sync".split()
        subprocess.run(initdb, check=True, capture_output=True, cwd=folder, **account)
        with _running(binaries, folder, account) as port:
            yield f"postgresql+psycopg://webarc:secret@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(binaries: Path, folder: Path, account: dict[str, Any]) -> Iterator[int]:
    port = _free_port()
    settings = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "off"}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        command = [str(binaries / "postgres"), "-D", str(folder / "data"), *options]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **account)
        try:
            _wait(binaries, port, folder / "log")
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _binaries() -> Path:
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    on_path = shutil.which("initdb")
    if on_path:
        found.append(Path(on_path).resolve().parent)
    if not found:
        warnings.warn(_MISSING, stacklevel=2)
        pytest.skip(_MISSING)
    return max(found)


def _account(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(binaries: Path, port: int, log: Path) -> None:
    for _ in range(200):
        ready = subprocess.run([binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(port)], capture_output=True)
        if ready.returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")
