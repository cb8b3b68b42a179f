"""Signs that stand for tags in the text of a page until it is settled; no document can contain them."""

from __future__ import annotations

# What a tag that breaks nothing leaves behind, so that `&am<b>p;</b>` does not become a reference.
NOTHING = "\x07"
LINE = "\x1e"
CELL = " "
TITLE, TITLE_END = "\x01", "\x02"
TEMPLATE, TEMPLATE_END = "\x03", "\x04"
LAID_OUT, LAID_OUT_END = "\x05", "\x06"
ALL = (NOTHING, LINE, TITLE, TITLE_END, TEMPLATE, TEMPLATE_END, LAID_OUT, LAID_OUT_END)

_BLOCKS = (
    *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog"),
    *("dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3"),
    *("h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol"),
    *("optgroup", "option", "p", "search", "section", "select", "summary", "table", "tbody", "tfoot", "thead", "tr"),
    "ul",
)
_STARTS_AND_ENDS = {
    **dict.fromkeys(_BLOCKS, (LINE, LINE)),
    **dict.fromkeys(("td", "th"), (CELL, CELL)),
    **dict.fromkeys(("pre", "listing", "xmp", "textarea"), (LINE + LAID_OUT, LAID_OUT_END + LINE)),
    "title": (TITLE, TITLE_END),
    "template": (TEMPLATE, TEMPLATE_END),
}
# The mark of `name` and of `/name`, in lower or upper case; names that are not in it leave NOTHING.
OF_TAG = {
    written: marks[place]
    for name, marks in _STARTS_AND_ENDS.items()
    for place, tag in enumerate((name, f"/{name}"))
    for written in (tag, tag.upper())
}
