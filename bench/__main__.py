"""All benchmarks, one after the other: `python -m bench [--json]`."""

from __future__ import annotations

import platform
import subprocess
import sys
from os import cpu_count

_ALL = ("full_job", "same_files", "latency", "million", "endings", "history", "when", "diff")


def main(options: list[str]) -> int:
    """Runs each benchmark in a process of its own; the exit code is the first that is not 0."""
    if "--json" not in options:
        print(f"{platform.system()} {platform.machine()}, {cpu_count()} cores, Python {platform.python_version()}")
    codes = [subprocess.run([sys.executable, "-m", f"bench.{name}", *options], check=False).returncode for name in _ALL]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
