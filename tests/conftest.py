"""Fixtures that most tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawls import Webarc


@pytest.fixture
def webarc(tmp_path: Path) -> Webarc:
    """The command line with an empty archive."""
    return Webarc(tmp_path / "archive")
