"""`python -m webarc.demo [FOLDER]`: the demonstration, in ./demo unless another folder is named."""

from __future__ import annotations

import sys
from pathlib import Path

from webarc.demo.tour import Tour
from webarc.errors import WebarcError


def main(arguments: list[str]) -> int:
    """Runs the tour; the exit code is that of the first thing that went wrong."""
    try:
        Tour(Path(arguments[0] if arguments else "demo")).run()
    except WebarcError as problem:
        print(f"webarc: {problem}", file=sys.stderr)
        return problem.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
