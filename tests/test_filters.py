"""Filters: the shipped ones, one's own, and what happens when one fails."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from webarc.archive.layout import path_of
from webarc.config.settings import load
from webarc.errors import ConfigProblem, UnknownFilter
from webarc.filters.catalog import chosen, find, known, settings_file
from webarc.filters.chain import Chain
from webarc.filters.duplicate import DuplicateFilter
from webarc.filters.mime import MimeFilter
from webarc.filters.pattern import PatternFilter
from webarc.filters.size import SizeFilter

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "filters.md"


@pytest.fixture
def staged(tmp_path: Path) -> Any:
    """Puts a file where a crawl would put it before the filters see it."""

    def put(url: str, content: bytes = b"text", name: str = "data.txt") -> Path:
        folder = tmp_path / "archive" / ".webarc" / "staging" / "1" / path_of(url)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        return folder / name

    return put


def module(folder: Path, code: str, name: str = "own") -> dict[str, str]:
    (folder / f"{name}.py").write_text(code)
    return {name: f"{folder / name}.py:keep"}


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({}, "html png txt"),
        ({"includes": ["*/*"]}, "html png txt"),
        ({"includes": ["*"], "excludes": ["image/*"]}, "html txt"),
        ({"includes": ["text/*"]}, "html txt"),
        ({"includes": ["text/*"], "excludes": ["text/html"]}, "txt"),
        ({"includes": ["IMAGE/PNG", "text/h*"]}, "html png"),
        ({"excludes": ["*/*"]}, ""),
        ({"includes": ["text/?tml", "[ti]*/*"]}, ""),
    ],
)
def test_mime(staged: Any, settings: dict[str, Any], kept: str) -> None:
    files = {
        "html": staged("https://e.org/a", b"<!DOCTYPE html><p>", "data.html"),
        "png": staged("https://e.org/b.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "data.png"),
        "txt": staged("https://e.org/c.png", b"plain words\n"),
    }
    keeper = MimeFilter(settings)
    assert " ".join(name for name, path in files.items() if keeper.keep(path)) == kept


def test_mime_believes_the_metadata_that_lies_beside(staged: Any) -> None:
    from webarc.archive.document import render
    from webarc.archive.metadata import Metadata, Response

    path = staged("https://e.org/a", b"a,b\n1,2\n", "data.csv")
    response = Response(200, "https://e.org/a", "1.1", "text/csv", "", "", "", "data.csv", 8, "0" * 64, ())
    day = "2026-11-15 23:50:00"
    tag = "2026-11-15T23:50:00@e.org"
    meta = Metadata("https://e.org/a", "text/csv", None, "e.org/a", "e.org", day, day, tag, response)
    path.with_name("data.xml").write_bytes(render(meta))
    assert MimeFilter({"includes": ["text/csv"]}).keep(path)
    assert PatternFilter({"include_url": ["^https://e.org/a$"]}).keep(path)


@pytest.mark.parametrize(
    ("settings", "size", "kept"),
    [
        ({}, 0, True),
        ({"min": 1}, 0, False),
        ({"min": "1K"}, 1023, False),
        ({"min": "1K", "max": "2K"}, 2048, True),
        ({"max": "2K"}, 2049, False),
        ({"max": "none"}, 10000, True),
    ],
)
def test_size(staged: Any, settings: dict[str, Any], size: int, kept: bool) -> None:
    assert SizeFilter(settings).keep(staged("https://e.org/a", b"x" * size)) is kept


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({}, True),
        ({"include_url": ["/docs/"]}, True),
        ({"include_url": ["/other/", r"page=\d"]}, True),
        ({"include_url": ["/other/"]}, False),
        ({"exclude_url": [r"[?&]page="]}, False),
        ({"include_name": [r"^a b\.html$"]}, True),
        ({"include_name": [r"docs"]}, False),
        ({"exclude_name": [r"\.html$"]}, False),
        ({"include_url": ["/docs/"], "exclude_name": ["^a"]}, False),
    ],
)
def test_pattern(staged: Any, settings: dict[str, Any], kept: bool) -> None:
    path = staged("https://e.org/docs/a%20b.html?page=2")
    assert PatternFilter(settings).keep(path) is kept


def test_a_pattern_that_never_ends_is_ended_and_the_file_stays(staged: Any, tmp_path: Path) -> None:
    (tmp_path / "pattern.toml").write_text("exclude_url = ['(?:a|aa)+!$']\ntime_limit = '200ms'\n")
    chain = Chain.build(["pattern"], tmp_path)
    start = time.monotonic()
    assert chain.verdict(staged("https://e.org/" + "a" * 150)) is None
    assert time.monotonic() - start < 5
    assert len(chain.problems) == 1
    assert "TimeoutError" in chain.problems[0]


def test_duplicate(staged: Any) -> None:
    keeper = DuplicateFilter({"min": 1})
    first, second = staged("https://e.org/a", b"same"), staged("https://e.org/b", b"same")
    assert [keeper.keep(path) for path in (first, second, first, staged("https://e.org/c", b"other"))] == [
        True,
        False,
        True,
        True,
    ]
    assert keeper.keep(staged("https://e.org/d", b""))
    assert keeper.keep(staged("https://e.org/e", b""))


@pytest.mark.parametrize(
    ("filter_class", "settings", "said"),
    [
        (MimeFilter, {"include": ["x"]}, "no setting 'include'"),
        (MimeFilter, {"includes": "text/*"}, "list of texts for 'includes'"),
        (SizeFilter, {"max": "big"}, "size such as"),
        (SizeFilter, {"max": True}, "size such as"),
        (PatternFilter, {"include_url": ["("]}, "not a regular expression"),
        (PatternFilter, {"time_limit": "soon"}, "duration such as"),
        (DuplicateFilter, {"x": 1}, "no setting 'x'"),
    ],
)
def test_wrong_settings_of_a_filter_are_named(filter_class: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigProblem, match=re.escape(said)):
        filter_class(settings)


def test_the_first_filter_that_drops_is_named(staged: Any, tmp_path: Path) -> None:
    (tmp_path / "size.toml").write_text("max = 10\n")
    chain = Chain.build(["mime", "size"], tmp_path)
    assert chain.names == ["mime", "size"]
    assert chain.verdict(staged("https://e.org/a", b"short")) is None
    assert chain.verdict(staged("https://e.org/b", b"longer than ten")) == "size"
    assert chain.problems == []


def test_a_name_that_nothing_provides() -> None:
    with pytest.raises(UnknownFilter, match=r"'mimee', did you mean 'mime'\? there are duplicate, mime, pattern, size"):
        Chain.build(["mimee"])


def test_every_shipped_filter_has_settings_that_it_accepts() -> None:
    for source in known({}):
        assert settings_file(source.name, None) is not None
        source.make(None)


def test_ones_own_settings_come_first(tmp_path: Path) -> None:
    (tmp_path / "mime.toml").write_text("includes = []\n")
    assert settings_file("mime", tmp_path) == tmp_path / "mime.toml"
    assert settings_file("size", tmp_path) != tmp_path / "size.toml"
    (tmp_path / "mime.toml").write_text("includes = [\n")
    with pytest.raises(ConfigProblem, match=r"mime\.toml"):
        Chain.build(["mime"], tmp_path)


def test_ones_own_filter_may_replace_a_shipped_one(tmp_path: Path) -> None:
    modules = module(tmp_path, "def keep(path): return False\n", "mime")
    assert find("mime", modules).origin == "config"
    assert Chain.build(["mime"], None, modules).verdict(tmp_path) == "mime"


def test_filters_after_the_options() -> None:
    assert chosen(("mime", "size"), ("pattern", "mime"), ("size",)) == ["mime", "pattern"]
    assert chosen(("mime",), (), ("size", "own"), {"own": "x:y"}) == ["mime"]
    assert chosen(("mime", "broken"), (), ("broken",)) == ["mime"]


@pytest.mark.parametrize(("added", "removed"), [((), ("nope",)), (("nope",), ()), ((), ("mime", "nope"))])
def test_options_name_filters_that_there_are(added: tuple[str, ...], removed: tuple[str, ...]) -> None:
    with pytest.raises(UnknownFilter, match="'nope'"):
        chosen(("mime",), added, removed)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def keep(path): raise RuntimeError('no\\nway')", "RuntimeError: no way"),
        ("def keep(path): return None", "NoneType instead of true or false"),
        ("def keep(path): return 0", "int instead of true or false"),
        ("import time\ndef keep(path): time.sleep(60)", "longer than 0.2 s"),
        ("def keep(path):\n while True: pass", "longer than 0.2 s"),
        (
            "def keep(path):\n while True:\n  try:\n   while True: len('')\n  except Exception: pass",
            "longer than 0.2 s",
        ),
        (
            "import time\ndef keep(path):\n for _ in 1, 2:\n  try: time.sleep(9)\n  except BaseException: pass\n 1 / 0",
            "longer than 0.2 s",
        ),
        ("import sys\ndef keep(path): sys.exit(3)", "SystemExit: 3"),
        ("def keep(path): raise BaseException('odd')", "BaseException: odd"),
        ("class Odd(Exception):\n def __str__(self): 1 / 0\ndef keep(path): raise Odd", "failed (Odd)"),
        ("import time\ndef keep(path):\n try: time.sleep(9)\n except: return False", "longer than 0.2 s"),
        ("import time\ndef keep(path):\n while 1:\n  try: time.sleep(9)\n  except: pass", "longer than 0.2 s"),
        ("def keep(path):\n while 1:\n  try:\n   while 1: len('')\n  finally: continue", "longer than 0.2 s"),
    ],
)
def test_a_filter_that_fails_keeps_the_file_and_is_reported_once(tmp_path: Path, code: str, said: str) -> None:
    chain = Chain.build(["own"], None, module(tmp_path, code), time_limit=0.2)
    start = time.monotonic()
    assert [chain.verdict(files(tmp_path)[name]) for name in "ab"] == [None, None]
    assert time.monotonic() - start < 5
    assert len(chain.problems) == 1
    assert said in chain.problems[0]
    assert "'own'" in chain.problems[0]
    assert "2 files" in chain.problems[0]
    assert "those files were kept" in chain.problems[0]


def files(folder: Path) -> dict[str, Path]:
    for name in "ab":
        (folder / name).write_text(name)
    return {name: folder / name for name in "ab"}


@pytest.mark.parametrize(
    "code",
    [
        "def keep(path): path.unlink(); return True",
        "def keep(path): path.rename(path.with_name('other')); return True",
        "import shutil\ndef keep(path): shutil.rmtree(path.parent); return True",
        "def keep(path): path.unlink(); path.symlink_to('/etc/passwd'); return True",
    ],
)
def test_a_file_that_a_filter_takes_away_counts_as_dropped(tmp_path: Path, code: str) -> None:
    (tmp_path / "arc").mkdir()
    chain = Chain.build(["mime", "own", "size"], None, module(tmp_path, code))
    assert chain.verdict(files(tmp_path / "arc")["a"]) == "own"
    assert chain.problems == [
        f"the filter 'own' took {tmp_path / 'arc' / 'a'} away instead of answering false; it counts as dropped."
    ]


def test_only_the_user_stops_the_work_with_ctrl_c(tmp_path: Path) -> None:
    chain = Chain.build(["own"], None, module(tmp_path, "def keep(path): raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        chain.verdict(files(tmp_path)["a"])
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert chain.verdict(files(tmp_path)["a"]) is None
    finally:
        signal.signal(signal.SIGINT, before)
    assert "KeyboardInterrupt" in chain.problems[0]


@pytest.mark.parametrize("caught", ["Exception", "BaseException"])
def test_no_alarm_is_left_behind(tmp_path: Path, caught: str) -> None:
    code = f"import time\ndef keep(path):\n while 1:\n  try: time.sleep(9)\n  except {caught}: pass"
    chain = Chain.build(["own"], None, module(tmp_path, code), time_limit=0.1)
    handler, tracer = signal.getsignal(signal.SIGALRM), sys.gettrace()
    before = signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        chain.verdict(files(tmp_path)["a"])
        left, again = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)
    assert 0 < left <= 60
    assert again == 0
    assert signal.getsignal(signal.SIGALRM) is handler
    assert sys.gettrace() is tracer


def test_other_threads_may_ask_without_a_time_limit(tmp_path: Path) -> None:
    chain = Chain.build(["own"], None, module(tmp_path, "def keep(path): return False"))
    answers: list[str | None] = []
    worker = threading.Thread(target=lambda: answers.append(chain.verdict(tmp_path)))
    worker.start()
    worker.join()
    assert answers == ["own"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no_such_module_of_mine:keep", "ModuleNotFoundError"),
        ("{folder}/missing.py:keep", "there is no file"),
        ("{folder}/own.py:absent", "absent"),
        ("{folder}/broken.py:keep", "SyntaxError"),
        ("{folder}/own.py:number", "not callable"),
        ("{folder}/own.py:Picky", "KeyError"),
        ("{folder}/leaves.py:keep", "SystemExit"),
    ],
)
def test_a_filter_that_cannot_be_loaded(tmp_path: Path, target: str, said: str) -> None:
    module(tmp_path, "number = 3\nclass Picky:\n def __init__(self, settings): settings['x']\n")
    module(tmp_path, "def keep(path) return", "broken")
    module(tmp_path, "import sys\nsys.exit()", "leaves")
    with pytest.raises(ConfigProblem, match=said):
        Chain.build(["f"], None, {"f": target.format(folder=tmp_path)})


def test_a_class_gets_its_own_settings(tmp_path: Path) -> None:
    code = (
        "class keep:\n def __init__(self, s): self.no = s['no']\n def keep(self, path): return path.name != self.no\n"
    )
    (tmp_path / "own.toml").write_text('no = "b"\n')
    chain = Chain.build(["own"], tmp_path, module(tmp_path, code))
    assert [chain.verdict(path) for path in files(tmp_path).values()] == [None, "own"]


def test_an_installed_package_offers_filters(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text("def keep(path): return False\n")
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[webarc.filters]\nnothing = theirs:keep\n")
    code = (
        "from webarc.filters.chain import Chain; from webarc.filters.catalog import find; from pathlib import Path\n"
        "print(find('nothing', {}).origin, Chain.build(['nothing']).verdict(Path('x')))"
    )
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "package theirs nothing"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


def test_the_example_in_the_documentation_runs(staged: Any, tmp_path: Path) -> None:
    function = blocks("python")[0]
    assert len(function.strip().splitlines()) <= 10
    (tmp_path / "nodrafts.py").write_text(function)
    (tmp_path / "webarc.toml").write_text(next(text for text in blocks("toml") if "nodrafts" in text))
    settings = load(tmp_path / "webarc.toml", {}, {})
    assert settings.warnings == []
    chain = Chain.build(settings["filters.use"], settings.filters_dir, settings["filters.modules"])
    assert chain.verdict(staged("https://e.org/draft/a")) == "nodrafts"
    assert chain.verdict(staged("https://e.org/b", b" DRAFT of something")) == "nodrafts"
    assert chain.verdict(staged("https://e.org/c")) is None
    assert chain.problems == []


def test_the_class_in_the_documentation_runs(staged: Any, tmp_path: Path) -> None:
    modules = {"maxlines": f"{tmp_path}/maxlines.py:MaxLines"}
    (tmp_path / "maxlines.py").write_text(blocks("python")[1])
    (tmp_path / "maxlines.toml").write_text("lines = 2\n")
    chain = Chain.build(["maxlines"], tmp_path, modules)
    assert chain.verdict(staged("https://e.org/a", b"1\n2\n")) is None
    assert chain.verdict(staged("https://e.org/b", b"1\n2\n3\n")) == "maxlines"


def test_the_documentation_shows_settings_that_hold(tmp_path: Path) -> None:
    settings = next(text for text in blocks("toml") if "filters/mime.toml" in text)
    MimeFilter(tomllib.loads(settings))
    assert all(f"`{source.name}`" in DOCUMENT.read_text() for source in known({}))


def test_the_default_chain_costs_microseconds(tmp_path: Path) -> None:
    chain = Chain.build(["mime"])
    start = time.perf_counter()
    for _ in range(1000):
        chain.verdict(tmp_path)
    assert (time.perf_counter() - start) / 1000 < 0.00002
