"""White space as a reader sees it: words with one blank between them, in lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from webarc.diff import marks

_SEPARATORS = f" {marks.LINE}"
_TITLE = re.compile(f"{marks.TITLE}[^{marks.TITLE_END}]*{marks.TITLE_END}")
_LAID_OUT_ENDS = re.compile(f"([{marks.LAID_OUT}{marks.LAID_OUT_END}])")
_TEMPLATE_ENDS = re.compile(f"([{marks.TEMPLATE}{marks.TEMPLATE_END}])")


class Tidy(NamedTuple):
    """A piece of a page: its text, the first title in it, and whether the end of a line counts behind it."""

    text: str
    title: str
    laid_out: bool


def tidied(shown: str, laid_out: bool) -> Tidy:
    """Collapse the white space of a piece without NOTHING; some at its ends is kept, for it may be within a line."""
    title = ""
    if marks.TITLE in shown:
        titles = (" ".join(found[1:-1].split()) for found in _TITLE.findall(shown))
        title = next(filter(None, titles), "")
        shown = _TITLE.sub("", shown)
    shown = shown.replace(marks.TITLE_END, "")
    if laid_out or marks.LAID_OUT in shown or marks.LAID_OUT_END in shown:
        shown, laid_out = _laid_out(shown, laid_out)
    lines = [" ".join(line.split()) for line in shown.split(marks.LINE)]
    before = " " if shown[:1].isspace() and lines[0] else ""
    behind = " " if shown[-1:].isspace() and lines[-1] else ""
    if len(lines) == 1:
        return Tidy(before + lines[0] + behind or (" " if shown else ""), title, laid_out)
    return Tidy(marks.LINE.join([before + lines[0], *filter(None, lines[1:-1]), lines[-1] + behind]), title, laid_out)


def joined(texts: Iterable[str]) -> str:
    """Tidy pieces as one tidy text."""
    found, last = [""], marks.LINE
    for text in texts:
        if last == marks.LINE:
            text = text.lstrip(_SEPARATORS)
        elif last == " " and text[:1] == marks.LINE:
            found[-1] = found[-1][:-1]
        elif last == " ":
            text = text.lstrip(" ")
        if text:
            found.append(text)
            last = text[-1]
    return "".join(found).rstrip(_SEPARATORS)


def without_templates(text: str) -> str:
    """A tidy text without what stands in templates, which nobody sees."""
    if marks.TEMPLATE not in text and marks.TEMPLATE_END not in text:
        return text
    kept, depth = [], 0
    for part in _TEMPLATE_ENDS.split(text):
        if part == marks.TEMPLATE:
            depth += 1
        elif part == marks.TEMPLATE_END:
            depth = max(depth - 1, 0)
        elif not depth:
            kept.append(part)
    return joined(tidied("".join(kept), laid_out=False)[:1])


def _laid_out(shown: str, laid_out: bool) -> tuple[str, bool]:
    """In preformatted text the end of a line is one."""
    found = []
    for part in _LAID_OUT_ENDS.split(shown):
        if part in (marks.LAID_OUT, marks.LAID_OUT_END):
            laid_out = part == marks.LAID_OUT
        else:
            found.append(part.replace("\n", marks.LINE) if laid_out else part)
    return "".join(found), laid_out
