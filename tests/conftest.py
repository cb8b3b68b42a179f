"""Fixtures that most tests use."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.crawls import Webarc

# A shell starts what runs in the background with Ctrl-C ignored, and what the tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def webarc(tmp_path: Path) -> Webarc:
    """The command line with an empty archive."""
    return Webarc(tmp_path / "archive")
