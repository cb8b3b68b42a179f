"""Looking for bytes in everything that lies below a folder, packed or not."""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import zstandard

_COMPRESSED = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x28\xb5\x2f\xfd")


def places(root: Path, wanted: bytes) -> list[str]:
    """Every file and git object, reachable or not, that holds these bytes; compressed parts are looked into."""
    found = [f"{file}" for file in sorted(root.rglob("*")) if file.is_file() and wanted in _unpacked(file)]
    for git_dir in sorted(root.rglob(".git")):
        found += [f"{git_dir}: {name}" for name, data in objects(git_dir) if wanted in data]
    return found


def objects(git_dir: Path) -> Iterator[tuple[str, bytes]]:
    """Id and bytes of every object of a repository, of those that no ref names, too."""
    command = ["git", f"--git-dir={git_dir}", "cat-file", "--batch", "--batch-all-objects", "--unordered"]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        name, _, size = output[position:end].split(b" ")
        yield name.decode(), output[end + 1 : end + 1 + int(size)]
        position = end + 1 + int(size) + 1


def _unpacked(file: Path) -> bytes:
    data = file.read_bytes()
    parts = [data]
    if file.suffix not in (".pack", ".idx"):
        for start in _COMPRESSED.finditer(data):
            method: Any = zlib if start.group()[0] == 0x78 else zstandard.ZstdDecompressor()
            with suppress(zlib.error, zstandard.ZstdError):
                parts.append(method.decompressobj().decompress(data[start.start() :]))
    return b"\n".join(parts)
