"""Figures with their targets, as a table for people or JSON lines for programs."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value, and what it should be (empty: nothing was promised)."""

    name: str
    value: float
    unit: str = ""
    target: str = ""
    note: str = ""


class Report:
    """Collects the figures of one benchmark and prints each group as it is complete."""

    def __init__(self, title: str, as_json: bool) -> None:
        self._title = title
        self._as_json = as_json
        self._group: list[Figure] = []
        if not as_json:
            print(f"\n# {title}", flush=True)

    def add(self, name: str, value: float, unit: str = "", *, target: str = "", note: str = "") -> None:
        """One more figure of the current group."""
        self._group.append(Figure(name, value, unit, target, note))

    def progress(self, text: str) -> None:
        """A line about what is being done, for the person who waits."""
        if not self._as_json:
            print(f"  .. {text}", flush=True)

    def show(self, subtitle: str) -> None:
        """Prints the group and begins the next."""
        if self._as_json:
            for figure in self._group:
                print(json.dumps({"benchmark": self._title, "group": subtitle} | asdict(figure)), flush=True)
        else:
            print(f"\n## {subtitle}\n\n{_table(self._group)}\n", flush=True)
        self._group = []

    def remarks(self, lines: list[str]) -> None:
        """Findings in words."""
        for line in lines:
            print(
                json.dumps({"benchmark": self._title, "remark": line}) if self._as_json else f"  - {line}", flush=True
            )


def _table(figures: list[Figure]) -> str:
    rows = [("", "value", "target", "note")]
    rows += [(figure.name, _number(figure), figure.target, figure.note) for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _number(figure: Figure) -> str:
    whole = figure.value == int(figure.value) or figure.value >= 1000
    return f"{figure.value:,.0f} {figure.unit}".strip() if whole else f"{figure.value:.3g} {figure.unit}".strip()


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="one JSON object a figure instead of tables")
    return parser
