"""A part of a real site: fewer pages of the same kind, to see how the cost of a page grows with their number."""

from __future__ import annotations

import os
import re
import shutil
from functools import partial
from pathlib import Path
from zlib import crc32

from bench.sites import Site, cache, folder_of

_LOCAL_LINK = re.compile(r'((?:href|src)=")([^"#?:]+)(?=["#?])')


def part_of(site: Site, pages: int) -> Path:
    """A smaller site of the same kind of pages.

    Every n-th file by size is taken, so that small and large pages keep their shares; a link to a page that was left
    out goes to one that was taken, so that pages keep their number of links and none of them is dead.
    """
    whole = folder_of(site)
    part = cache() / f"{site.name}-{pages}"
    if not part.exists():
        making = part.with_suffix(".making")
        shutil.rmtree(making, ignore_errors=True)
        _copy_part(whole, making, _sample(whole, site.start, pages))
        making.rename(part)
    return part


def _sample(root: Path, start: str, pages: int) -> list[str]:
    files = [file for file in root.rglob("*") if file.is_file()]
    by_size = sorted((file.stat().st_size, file.relative_to(root).as_posix()) for file in files)
    step = len(by_size) / pages
    chosen = {by_size[int(step * (number + 0.5))][1] for number in range(pages)}
    return sorted(chosen | {start})


def _copy_part(root: Path, target: Path, chosen: list[str]) -> None:
    taken = frozenset(chosen)
    by_ending: dict[str, list[str]] = {}
    for name in chosen:
        by_ending.setdefault(Path(name).suffix, []).append(name)
    next_page = chosen[0]
    # Backwards, so that a page can link to all that stands between it and the next one: each file is reached.
    between: list[str] = []
    for name in reversed(chosen):
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix != ".html":
            shutil.copyfile(root / name, file)
            between.append(name)
            continue
        text = (root / name).read_text(encoding="utf-8", errors="surrogateescape")
        text = _LOCAL_LINK.sub(partial(_redirected, name=name, taken=taken, by_ending=by_ending), text)
        links = "".join(
            f'<a href="{os.path.relpath(goal, Path(name).parent)}">on</a>' for goal in [next_page, *between]
        )
        file.write_text(text.replace("</body>", f"{links}</body>"), encoding="utf-8", errors="surrogateescape")
        next_page, between = name, []


def _redirected(match: re.Match[str], name: str, taken: frozenset[str], by_ending: dict[str, list[str]]) -> str:
    """The link as it is, or to a page that was taken in place of one that was not."""
    goal = os.path.normpath(Path(name).parent / match.group(2))
    choices = by_ending.get(Path(goal).suffix, ())
    if goal in taken or not choices:
        return match.group()
    other = choices[crc32(goal.encode(errors="surrogateescape")) % len(choices)]
    return match.group(1) + os.path.relpath(other, Path(name).parent)
