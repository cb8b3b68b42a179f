"""The command line reference is made from the commands and kept with the docs."""

from __future__ import annotations

from pathlib import Path

from webarc.cli.reference import reference

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text() == reference(), "run `python -m webarc.cli.reference > docs/cli.md`"


def test_every_command_is_in_it() -> None:
    for name in ("crawl", "schedule add", "schedule run", "db-recover", "filters", "config show", "init", "completion"):
        assert f"## webarc {name}\n" in PAGE.read_text()
