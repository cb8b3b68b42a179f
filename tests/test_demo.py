"""The demonstration runs, shows what it promises, and can be run again."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawls import environment
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


ROOT = Path(__file__).parent.parent


def steps_of_the_readme() -> list[tuple[str, str]]:
    """The commands of the tour in README.md, and what they print."""
    tour = (ROOT / "README.md").read_text().partition("## Five minutes\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```\n(.*?)^```", tour, re.MULTILINE | re.DOTALL)
    steps = [step.partition("\n") for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, printed) for command, _, printed in steps]


def shape(printed: str) -> str:
    """What does not differ from one run to the next."""
    kept = [line for line in printed.splitlines() if not line.endswith(": crawling")]
    known = re.sub(r"\b[0-9a-f]{7}\b", "ID", "\n".join(kept)).replace("CEST", "CET")
    return "\n".join(" ".join(re.sub(r"\d+", "N", line).split()) for line in known.splitlines())


def test_the_tour_of_the_readme_can_be_followed_from_top_to_bottom(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    (tmp_path / ".venv").symlink_to(sys.prefix)
    steps = [(command.replace("8765", port), printed) for command, printed in steps_of_the_readme()]
    script = ["trap 'kill %1' EXIT"]
    for command, _ in steps:
        if command.endswith("&"):
            command = f"{command.removesuffix('&')} > served 2>&1 & until [ -s served ]; do sleep 0.1; done; cat served"
        script += ["printf '\\0'", f"{command} || echo FAILED"] if "&" not in command else ["printf '\\0'", command]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=environment(TZ="Europe/Berlin"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    found = done.stdout.split("\0")[1:]
    assert len(found) == len(steps) > 12, done.stdout
    for (command, printed), said in zip(steps, found, strict=True):
        assert shape(said) == shape(printed), (command, said)


def test_the_times_in_the_readme_are_of_one_run() -> None:
    times = sorted(set(re.findall(r"2026-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?= CET|[@<])", str(steps_of_the_readme()))))
    assert len({time.replace("T", " ") for time in times if not time.endswith("03:00:00")}) == 2


def test_the_sample_site_is_not_laid_out_over_something_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "webarc.demo", "--serve", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2 and "is there already" in done.stderr
