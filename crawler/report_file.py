"""The report that people ask for: every URL of a run with its outcome, as one JSON file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from webarc.crawler.job import Result


def write_report(file: Path, results: Sequence[Result]) -> None:
    """Join the instances' own lists; URLs are copied line by line, so that a long list needs no memory."""
    with file.open("w", encoding="utf-8") as stream:
        stream.write('{"crawls": [')
        for number, result in enumerate(results):
            stream.write(",\n" if number else "\n")
            head = json.dumps(result.as_json())
            stream.write(f'{head[:-1]}, "urls": [')
            if result.urls is not None and result.urls.exists():
                with result.urls.open(encoding="utf-8") as urls:
                    for count, line in enumerate(urls):
                        stream.write(("," if count else "") + "\n" + line.rstrip("\n"))
            stream.write("]}")
        stream.write("\n]}\n")
