"""The images that a web manifest names: what a page looks like once it is installed as a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

from webarc.crawler.joins import Joiner

_LARGEST = 1024 * 1024
_MOST_IMAGES = 1_000
# A document without these names no images, whatever it is.
_NAMES = (b'"icons"', b'"screenshots"')


def read_manifest(body: bytes, url: str) -> list[str]:
    """The canonical URLs of icons and screenshots; none if the document is something else."""
    if len(body) > _LARGEST or not any(name in body for name in _NAMES):
        return []
    try:
        manifest = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return []
    joined = map(Joiner(url).url, islice(_images(manifest), _MOST_IMAGES))
    return list(dict.fromkeys(filter(None, joined)))


def _images(manifest: object) -> Iterator[str]:
    if not isinstance(manifest, dict):
        return
    for holder in (manifest, *_dicts(manifest.get("shortcuts"))):
        for name in ("icons", "screenshots"):
            for image in _dicts(holder.get(name)):
                source = image.get("src")
                if isinstance(source, str):
                    yield source


def _dicts(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
