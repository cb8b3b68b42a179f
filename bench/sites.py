"""Real sites to crawl: Debian's documentation packages, fetched once, served by nginx on loopback.

They are kept in $WEBARC_BENCH_DIR (default ~/.cache/webarc-bench), one folder a package as `dpkg -x` unpacks it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import clean_environment


@dataclass(frozen=True, slots=True)
class Site:
    """A documentation package and where its pages begin."""

    name: str
    package: str
    root: str
    start: str


POSTGRESQL = Site("postgresql", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "index.html")
# The first page of the JDK's documentation is a meta refresh to api/index.html, which wget2 does not follow.
JDK = Site("jdk", "openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless", "api/index.html")
SITES = {site.name: site for site in (POSTGRESQL, JDK)}

_NGINX = """
{user}
daemon off;
worker_processes 1;
pid {run}/nginx.pid;
error_log {run}/error.log crit;
events {{ worker_connections 1024; }}
http {{
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    log_format short '$status $request_uri';
    access_log {run}/access.log short buffer=64k flush=200ms;
    client_body_temp_path {run}/body; proxy_temp_path {run}/proxy; fastcgi_temp_path {run}/fastcgi;
    uwsgi_temp_path {run}/uwsgi; scgi_temp_path {run}/scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 10000000;
    keepalive_timeout 300s;
    server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def cache() -> Path:
    """Where sites and other large things are kept between runs."""
    named = os.environ.get("WEBARC_BENCH_DIR")
    folder = Path(named) if named else Path.home() / ".cache" / "webarc-bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def folder_of(site: Site) -> Path:
    """The unpacked site, fetched first if need be."""
    unpacked = cache() / site.package
    if not (unpacked / site.root / site.start).is_file():
        _fetch(site.package, unpacked)
    return unpacked / site.root


def _fetch(package: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache()) as work:
        command = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package]
        if subprocess.run(command, cwd=work, check=False, capture_output=True).returncode:
            subprocess.run(["apt-get", "-qq", "update"], check=False, capture_output=True)
            if subprocess.run(command, cwd=work, check=False).returncode:
                sys.exit(f"{package} could not be fetched; on Debian: cd {cache()} && apt-get download {package}")
        [archive] = Path(work).glob("*.deb")
        subprocess.run(["dpkg", "-x", archive, f"{work}/unpacked"], check=True)
        shutil.rmtree(target, ignore_errors=True)
        Path(work, "unpacked").rename(target)


class Server:
    """A running nginx; counts what it was asked for."""

    def __init__(self, port: int, log: Path) -> None:
        self.base = f"http://127.0.0.1:{port}/"
        self.domain = f"127.0.0.1:{port}"
        self._log = log
        self._read = 0

    def answers(self) -> Counter[int]:
        """How often each status was sent since the last time this was asked."""
        time.sleep(0.5)  # nginx writes its log every 200 ms
        with self._log.open("rb") as log:
            log.seek(self._read)
            lines = log.readlines()
            self._read = log.tell()
        return Counter(int(line.split(b" ", 1)[0]) for line in lines)


@contextmanager
def serve(root: Path) -> Iterator[Server]:
    """Serves a folder by nginx on a free loopback port."""
    with tempfile.TemporaryDirectory(prefix="webarc-nginx-") as run:
        port = free_port()
        user = "user root;" if os.geteuid() == 0 else ""
        config = Path(run, "nginx.conf")
        config.write_text(_NGINX.format(user=user, run=run, port=port, root=root))
        process = subprocess.Popen(["nginx", "-p", run, "-c", config], env=clean_environment(), start_new_session=True)
        try:
            _await_port(port, process)
            yield Server(port, Path(run, "access.log"))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def free_port() -> int:
    """A loopback port that nobody uses just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if process.poll() is not None:
            sys.exit("nginx did not start; is it installed? (apt-get install nginx)")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit("nginx did not answer within five seconds.")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SITES:
        print(folder_of(SITES[chosen]))
