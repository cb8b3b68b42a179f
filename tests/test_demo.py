"""The demonstration runs, shows what it promises, and can be run again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from webarc.demo.tour import Tour
from webarc.errors import UsageProblem


def demonstrate(folder: Path) -> str:
    command = [sys.executable, "-m", "webarc.demo", folder.name]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_tour_shows_two_versions_and_what_is_gone(tmp_path: Path) -> None:
    shown = demonstrate(tmp_path / "demo")
    assert "$ webarc --archive demo/archive crawl --depth 3" in shown
    assert "-<p>Fare: 12.00 each way, bicycles free.</p>" in shown
    assert "+<p>Fare: 14.50 each way, bicycles free.</p>" in shown
    assert "<p>Six rooms, all with a view of the sea" in shown
    assert shown.count("gone\n") >= 2, "before and after the index was rebuilt"
    assert "http-404" in shown
    assert "Traceback" not in shown


def test_tour_can_be_run_again(tmp_path: Path) -> None:
    demonstrate(tmp_path / "demo")
    (tmp_path / "demo" / "left-over").touch()
    demonstrate(tmp_path / "demo")
    assert not (tmp_path / "demo" / "left-over").exists()


def test_tour_leaves_a_folder_alone_that_it_did_not_make(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    with pytest.raises(UsageProblem):
        Tour(tmp_path).run()
    assert precious.read_text() == "mine"
