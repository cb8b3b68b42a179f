"""Running a command while the clock, and where asked the memory of its whole process tree, is read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_EVERY = 0.05
_LONGEST_RUN = 1800.0


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a command took; memory is in bytes, 0 if it was not watched."""

    seconds: float
    code: int
    peak_memory: int = 0
    output: str = ""


@dataclass(slots=True)
class MemoryWatch:
    """Samples the memory of a process and all its descendants: shared pages are counted once (PSS)."""

    root: int
    on_sample: Callable[[int], None] | None = None
    peak: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Samples until told to stop."""
        while not self._stop.wait(_EVERY):
            total = sum(_pss(pid) for pid in descendants(self.root))
            self.peak = max(self.peak, total)
            if self.on_sample and total:
                self.on_sample(total)

    def stop(self) -> None:
        """No more samples."""
        self._stop.set()


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    watch_memory: bool = False,
    on_sample: Callable[[int], None] | None = None,
    fine: tuple[int, ...] = (0,),
) -> Run:
    """Runs a command to its end; its output is kept for the message if it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    watch = MemoryWatch(process.pid, on_sample)
    watcher = threading.Thread(target=watch.run, daemon=True)
    if watch_memory or on_sample:
        watcher.start()
    output = _wait(process)
    seconds = time.perf_counter() - start
    watch.stop()
    if process.returncode not in fine:
        sys.exit(f"{' '.join(map(str, command))}\nended with {process.returncode}:\n{output[-3000:]}")
    return Run(seconds, process.returncode, watch.peak, output)


def _wait(process: subprocess.Popen[bytes]) -> str:
    try:
        output, _ = process.communicate(timeout=_LONGEST_RUN)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return output.decode(errors="replace")


def clean_environment() -> dict[str, str]:
    """The environment of every contender: no settings of the user's webarc, git or wget."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WEBARC_", "GIT_", "WGET"))}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', os.defpath)}{os.pathsep}/usr/sbin"
    # On a user's machine the second start finds compiled modules, and nobody measures the first.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    quiet = {"LC_ALL": "C.UTF-8", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return env | quiet | {"WEBARC_CONFIG": os.devnull}


def descendants(root: int) -> list[int]:
    """A process and everything below it, right now."""
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue.extend(_children(pid))
    return found


def _children(pid: int) -> list[int]:
    """The processes that any thread of a process started; none if it has just ended."""
    try:
        lists = [(task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []
    return [int(child) for children in lists for child in children.split()]


def _pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def folder_size(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())
