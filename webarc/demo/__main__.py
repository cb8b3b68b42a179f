"""The demonstration: `python -m webarc.demo [FOLDER]`, in ./demo unless another folder is named.

The sample site alone, to try things with: `python -m webarc.demo --serve FOLDER [PORT]` lays it out in a new folder and
serves it until Ctrl-C, `python -m webarc.demo --change FOLDER` changes it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from threading import Event

from webarc.archive.failures import storage
from webarc.demo.server import change, lay_out, serve
from webarc.demo.tour import Tour
from webarc.errors import UsageProblem, WebarcError


def main(arguments: list[str]) -> int:
    """Do what is asked for; the exit code is that of the first thing that went wrong."""
    try:
        if arguments[:1] == ["--serve"]:
            _serve(*arguments[1:])
        elif arguments[:1] == ["--change"]:
            _change(*arguments[1:])
        else:
            Tour(Path(arguments[0] if arguments else "demo")).run()
    except WebarcError as problem:
        print(f"webarc: {problem}", file=sys.stderr)
        return problem.exit_code
    return 0


def _serve(name: str = "site", port: str = "") -> None:
    folder = Path(name)
    if folder.exists():
        raise UsageProblem(f"{folder} is there already; name a folder that is to be made.")
    with storage("making the sample site"):
        lay_out(folder)
    with serve(folder, int(port) if port.isdigit() else None) as url, suppress(KeyboardInterrupt):
        print(f"The sample site is in {folder}/ and is served at {url} until Ctrl-C.", flush=True)
        Event().wait()


def _change(name: str = "site") -> None:
    with storage("changing the sample site"):
        change(Path(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
