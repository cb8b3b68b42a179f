"""The git tag of a crawl: its commitTag, with what git refuses in names written as `%XX`."""

from __future__ import annotations

import re
from hashlib import sha256

# A host holds no `%`, so the escaped name still stands for one commitTag only, and escaping it twice changes nothing.
_REFUSED = re.compile(r"[\x00-\x20\x7f~^:?*\[\\/{]|(?<=\.)\.|^[.-]|\.$|\.(?=lock$)")
_LONGEST = 200


def tag_name(commit_tag: str) -> str:
    """`2026-11-15T23%3A50%3A00@example.org`: what `git show` and `git checkout` find a crawl by."""
    name = _REFUSED.sub(lambda match: f"%{ord(match.group()):02X}", commit_tag)
    if len(name.encode()) <= _LONGEST:
        return name
    # File systems allow 255 bytes in a name, and a host may have 253 by itself.
    return f"{name[:100]}%_{sha256(commit_tag.encode()).hexdigest()}"
