"""The XML schemas of everything webarc writes as XML: `arc` (data.xml), `crawl` and `urls` (a crawl's report)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

_HERE = Path(__file__).parent


def schema_path(name: str) -> Path:
    """The file of a schema: `arc`, `crawl` or `urls`."""
    return _HERE / f"{name}.xsd"


@cache
def validator(name: str) -> etree.XMLSchema:
    """The compiled schema of that name."""
    from lxml import etree  # heavy, and only those who validate need it

    return etree.XMLSchema(etree.parse(str(schema_path(name))))
