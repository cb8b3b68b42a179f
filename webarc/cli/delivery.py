"""Where bytes go: a file that is whole or not there, standard output, or a terminal that nothing can play tricks on."""

from __future__ import annotations

import os
import re
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast

from webarc.archive.failures import storage
from webarc.cli.output import safe
from webarc.errors import StorageProblem, UsageProblem

if TYPE_CHECKING:
    from webarc.archive.catalog import Catalog
    from webarc.sql.rows import VersionRow

_LOOKED_AT = 4096
_LAYOUT = re.compile(r"([\n\t])")


@contextmanager
def delivered(output: str | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears under its name only when all has been written."""
    if output is None or output == "-":
        yield cast("BinaryIO", sys.stdout.buffer)
        return
    if not output:
        raise UsageProblem("the name of the file is empty; give one, or - for standard output.")
    file = Path(output)
    if file.is_dir():
        raise UsageProblem(f"{output} is a folder; name a file in it.")
    if file.exists() and not file.is_file():
        # A pipe or a device is written to as it is.
        with file.open("wb") as target:
            yield target
        return
    with storage(f"writing {output}"), _beside(_placed(file)) as target:
        yield target


def _placed(file: Path) -> Path:
    """The file itself, where links lead to; raises StorageProblem if there is no folder for it."""
    file = file.resolve()
    if not file.parent.is_dir():
        what = "is no folder" if file.parent.exists() else "does not exist"
        raise StorageProblem(
            f"{file.name} cannot be written, for {file.parent} {what}; make it, or name another folder."
        )
    return file


@contextmanager
def _beside(file: Path) -> Iterator[BinaryIO]:
    target = NamedTemporaryFile(dir=file.parent, prefix=f".{file.name[:100]}.", delete=False)  # noqa: SIM115
    try:
        with target:
            yield cast("BinaryIO", target)
        Path(target.name).chmod(_mode(file))
        Path(target.name).replace(file)
    except BaseException:
        Path(target.name).unlink(missing_ok=True)
        raise


def _mode(file: Path) -> int:
    """The permissions of the file that is replaced, or those that a new one gets."""
    if file.exists():
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def print_on_terminal(catalog: Catalog, row: VersionRow, before: bytes) -> None:
    """Print a text so that it cannot move the cursor; anything else is refused, as it would spoil the terminal."""
    with catalog.open(row) as pieces:
        first = next(pieces, b"")
        if not _is_text(row, first):
            raise UsageProblem(
                f"{row.url} is {row.mime_type}, which would spoil the terminal; write it to a file with -o FILE, "
                "or give -o - to print it all the same."
            )
        _print(before.decode("utf-8", "replace").replace("\r\n", "\n"))
        for text in _texts(row, chain((first,), pieces)):
            _print(text)


def _is_text(row: VersionRow, start: bytes) -> bool:
    from webarc.archive.extensions import is_textual

    wide = row.charset.lower().startswith(("utf-16", "utf-32"))
    return is_textual(row.mime_type) and (wide or b"\0" not in start[:_LOOKED_AT])


def _texts(row: VersionRow, pieces: Iterable[bytes]) -> Iterator[str]:
    """The text of a document; where Python does not decode piece by piece as browsers do, it comes as a whole."""
    from webarc.archive.encodings import decoded, encoding_named

    encoding = encoding_named(row.charset) or "utf-8"
    if not encoding.startswith("utf-"):
        yield decoded(b"".join(pieces), encoding)
        return
    decode = getincrementaldecoder(encoding)(errors="replace").decode
    yield from map(decode, pieces)
    yield decode(b"", final=True)


def _print(text: str) -> None:
    # Lines and tabs stay, whatever else moves the cursor is shown as an escape.
    parts = _LAYOUT.split(text.replace("\r\n", "\n"))
    sys.stdout.write("".join(part if _LAYOUT.fullmatch(part) else safe(part) for part in parts))
