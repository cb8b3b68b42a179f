"""The config file in an archive: it holds wherever the archive is used from, and it is not trusted blindly."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.crawls import Webarc
from webarc.config.example import example
from webarc.config.keys import KEYS
from webarc.config.settings import Settings, load
from webarc.errors import ConfigProblem

GUARDED = """
database = "sqlite:///stolen.db"
[crawl]
headers = ["X-A: b"]
load_cookies = "cookies.txt"
http_user = "me"
http_password = "hunter2"
proxy = "http://evil:3128"
allow_private = true
[filters]
modules = {mime = "evil.py:keep"}
"""
NAMES = [
    *("database", "crawl.headers", "crawl.load_cookies", "crawl.http_user", "crawl.http_password", "crawl.proxy"),
    *("crawl.allow_private", "filters.modules"),
]


class Place:
    """A user's home, a folder to work in, and an archive elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.archive = folder / "home", folder / "work", folder / "archive"
        for place in (self.home / ".config" / "webarc", self.work, self.archive / ".webarc"):
            place.mkdir(parents=True)
        self.own = self.home / ".config" / "webarc" / "webarc.toml"
        self.inside = self.archive / "webarc.toml"

    def load(self, explicit: Path | None = None, *, strict: bool = False, **environ: str) -> Settings:
        """The settings of a user who names the archive."""
        return load(explicit, {"HOME": str(self.home), **environ}, {"archive": str(self.archive)}, strict)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    with chdir(place.work):
        yield place


def test_it_holds_from_anywhere_above_the_users_file_and_below_the_one_at_hand(place: Place) -> None:
    place.own.write_text("[crawl]\ndepth = 1\njobs = 1\ntries = 1\n")
    place.inside.write_text("[crawl]\ndepth = 2\njobs = 2\n")
    settings = place.load()
    assert [settings[f"crawl.{name}"] for name in ("depth", "jobs", "tries")] == [2, 2, 1]
    assert settings.origin("crawl.depth") == f"{place.inside}:2"
    assert settings.files == [place.inside, place.own]
    Path("webarc.toml").write_text("[crawl]\ndepth = 3\n")
    settings = place.load()
    # The one at hand takes the place of the user's own, as ever.
    assert [settings[f"crawl.{name}"] for name in ("depth", "jobs", "tries")] == [3, 2, 3]
    named = place.work / "named.toml"
    named.write_text("[crawl]\ndepth = 4\n")
    for settings in (place.load(named), place.load(WEBARC_CONFIG=str(named))):
        assert [settings[f"crawl.{name}"] for name in ("depth", "jobs", "tries")] == [4, 2, 3]
        assert settings.files == [named, place.inside]
    assert place.load(WEBARC_CRAWL_JOBS="5")["crawl.jobs"] == 5
    assert place.load().warnings == []


@pytest.mark.parametrize("how", ["option", "variable", "own file", "file at hand", "built in", "from within"])
def test_the_archive_is_found_first(place: Place, how: str) -> None:
    place.inside.write_text('archive = "."\n[crawl]\ndepth = 2\n')
    environ, overrides, folder = {"HOME": str(place.home)}, {}, place.work
    if how == "option":
        overrides["archive"] = "../archive"
    elif how == "variable":
        environ["WEBARC_ARCHIVE"] = "../archive"
    elif how == "own file":
        place.own.write_text(f'archive = "{place.archive}"\n')
    elif how == "file at hand":
        Path("webarc.toml").write_text('archive = "../archive"\n')
    else:
        folder = place.archive if how == "from within" else place.archive.parent
    with chdir(folder):
        settings = load(None, environ, overrides)
        assert settings["crawl.depth"] == 2
        assert settings["archive"].resolve() == place.archive
    assert settings.warnings == []


@pytest.mark.parametrize("within", [False, True])
def test_it_cannot_lead_to_another_archive(place: Place, within: bool) -> None:
    other = place.archive.parent / "other"
    (other / ".webarc").mkdir(parents=True)
    (other / "webarc.toml").write_text("[crawl]\ndepth = 9\n")
    place.inside.write_text(f'archive = "{other}"\ntrusted_archives = ["{place.archive}", "{other}"]\n')
    with chdir(place.archive if within else place.work):
        settings = load(None, {}, {} if within else {"archive": str(place.archive)})
        assert settings["archive"].absolute() != other
    assert settings["crawl.depth"] == 5
    assert settings["trusted_archives"] == ()
    redirects, trusts = settings.warnings
    assert "cannot name another archive" in redirects and "trusted_archives holds" in trusts


@pytest.mark.parametrize("within", [False, True, "a domain's folder"])
def test_what_could_do_harm_is_not_taken(place: Place, within: bool | str) -> None:
    (place.archive / "cookies.txt").write_text("")
    (place.archive / "filters").mkdir()
    (place.archive / "filters" / "mime.toml").write_text("includes = []\n")
    place.own.write_text('[crawl]\nproxy = "http://mine:1"\n')
    place.inside.write_text(f"{GUARDED}use = []\n")
    folder = place.archive if within else place.work
    if within == "a domain's folder":
        folder = place.archive / "e.org"
        (folder / ".webarc").mkdir(parents=True)
        place.inside.rename(folder / "webarc.toml")
        (place.archive / "filters").rename(folder / "filters")
    with chdir(folder):
        settings = place.load()
    # It is at hand there, so the user's own file does not count, as ever.
    assert settings["crawl.proxy"] == (None if within else "http://mine:1")
    for name in NAMES:
        assert name == "crawl.proxy" or settings[name] == KEYS[name].default, name
    assert settings["filters.use"] == ()
    assert settings.filters_dir != folder / "filters"
    (warning,) = settings.warnings
    assert all(name in warning for name in (*NAMES, "filters/*.toml", "trusted_archives = ["))
    assert "hunter2" not in warning
    with chdir(folder), pytest.raises(ConfigProblem, match="not trusted"):
        place.load(strict=True)


@pytest.mark.parametrize("how", ["own file", "named file", "variable", "own file beside one at hand"])
@pytest.mark.parametrize("within", [False, True])
def test_it_is_taken_from_an_archive_that_the_user_trusts(place: Place, how: str, within: bool) -> None:
    (place.archive / "cookies.txt").write_text("")
    (place.archive / "filters").mkdir()
    place.inside.write_text(GUARDED)
    explicit, environ = None, {}
    trust = 'trusted_archives = ["/nowhere", "~/link"]\n'
    (place.home / "link").symlink_to(place.archive)
    trust = trust.replace("~", str(place.home))
    if how == "named file":
        explicit = place.home / "named.toml"
        explicit.write_text(trust)
    elif how == "variable":
        environ["WEBARC_TRUSTED_ARCHIVES"] = f"/nowhere,{place.archive}"
    else:
        place.own.write_text(trust)
        if how != "own file":
            Path("webarc.toml").write_text("")
    with chdir(place.archive if within else place.work):
        settings = place.load(explicit, **environ)
    assert settings.warnings == []
    assert settings["crawl.proxy"] == "http://evil:3128"
    assert settings["filters.modules"] == {"mime": f"{place.archive}/evil.py:keep"}
    assert settings["database"] == f"sqlite:///{place.archive}/stolen.db"
    assert settings.filters_dir == place.archive / "filters"


@pytest.mark.parametrize("how", ["everybody may write", "somebody else's"])
def test_a_file_that_others_may_have_written_is_not_taken_even_then(place: Place, how: str) -> None:
    place.inside.write_text(GUARDED)
    place.own.write_text(f'trusted_archives = ["{place.archive}"]\n')
    if how == "everybody may write":
        place.inside.chmod(0o666)
    elif os.geteuid():
        pytest.skip("only root can give a file to somebody else")
    else:
        os.chown(place.inside, 12345, 12345)
    settings = place.load()
    assert settings["filters.modules"] == {} and settings["crawl.proxy"] is None
    assert "not yours alone" in settings.warnings[0]


def test_the_file_at_hand_is_no_place_to_trust_an_archive(place: Place) -> None:
    place.inside.write_text(GUARDED)
    Path("webarc.toml").write_text(f'trusted_archives = ["{place.archive}"]\n')
    settings = place.load()
    assert settings["filters.modules"] == {}
    assert len(settings.warnings) == 2


def test_naming_the_file_is_trusting_it(place: Place) -> None:
    place.inside.write_text('[crawl]\nproxy = "http://p:1"\n')
    settings = place.load(place.inside)
    assert settings["crawl.proxy"] == "http://p:1" and settings.warnings == []


HOSTILE = {
    "no TOML": b"[crawl\n",
    "not UTF-8": b"\xff\xfe",
    "brackets without end": b"x = " + b"[" * 60_000,
    "a huge number": b"[crawl]\ndepth = " + b"9" * 60_000,
    "a name of many parts": b".".join([b"a"] * 30_000) + b" = 1",
    "a header of many parts": b"[" + b".".join([b"a"] * 2_000) + b"]\n" + b"k.x = 1\n" * 5_000,
    "too large": b"#" * 100_000,
    "unknown keys": b"".join(b"key%d = 1\n" % number for number in range(4_000)),
    "names with line ends": b'"a\\nb\\u001b[2J" = 1\n',
    "an expression of many brackets": b"[crawl]\ninclude = ['" + b"(" * 30_000 + b"']\n",
    "wrong types": b"crawl = 5\nfilters = [1]\narchive = 7\ndatabase = []\n",
    "dates": b"[crawl]\nquota = 2026-02-30\n",
    "NUL": b'archive = "a\\u0000b"\n',
}


OTHERS = ("a pipe", "a link to itself", "a link to nothing", "not readable", "endless")


@pytest.mark.parametrize("what", [*HOSTILE, *OTHERS])
def test_a_hostile_or_broken_file_costs_a_sentence(place: Place, what: str) -> None:
    if what in HOSTILE:
        place.inside.write_bytes(HOSTILE[what])
    elif what == "a pipe":
        os.mkfifo(place.inside)
    elif what == "not readable":
        place.inside.write_text("")
        place.inside.chmod(0)
        if os.access(place.inside, os.R_OK):
            pytest.skip("root reads everything")
    else:
        targets = {"a link to itself": place.inside, "a link to nothing": place.work / "no"}
        place.inside.symlink_to(targets.get(what, "/dev/zero"))
    for folder in (place.work, place.archive):
        with chdir(folder):
            settings = place.load()
        assert settings["crawl.depth"] == 5 and settings["filters.modules"] == {}
        most = {"unknown keys": 11, "wrong types": 4}.get(what, 1)
        assert 1 <= len(settings.warnings) <= most
        assert all("webarc.toml" in each and len(each) < 400 for each in settings.warnings), settings.warnings


def test_a_domain_of_that_name_is_no_config_file(place: Place) -> None:
    (place.inside / ".git").mkdir(parents=True)
    for folder in (place.work, place.archive):
        with chdir(folder):
            assert place.load().warnings == []


# -- the commands -------------------------------------------------------------------------------------------------


def test_init_says_what_is_read_and_the_commands_read_it(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    assert webarc.run("init").code == 0
    file = webarc.archive / "webarc.toml"
    text = file.read_text()
    assert "# trusted\n# proxy = " in text and "trusted_archives = " not in text
    file.write_text(text.replace("# depth = 5", "depth = 0").replace('# proxy = ""', 'proxy = "http://p:1"'))
    shown = webarc.run("config", "show", "--json")
    values: dict[str, Any] = {each["key"]: each for each in shown.objects()}
    assert (values["crawl.depth"]["value"], values["crawl.depth"]["origin"][: len(str(file))]) == (0, str(file))
    assert values["crawl.proxy"]["origin"] == "built-in"
    assert shown.err.count("\n") == 1 and "crawl.proxy may not come from an archive" in shown.err
    used = webarc.run("config", "path")
    assert used.out.splitlines() == [str(file)]
    named = tmp_path / "named.toml"
    named.write_text(f'trusted_archives = ["{webarc.archive}"]\n')
    used = webarc.run("--config", named, "config", "path", "--json")
    assert used.err == "" and used.result()["files"] == [str(named), str(file)]
    assert "proxy  " in webarc.run("--config", named, "config", "show").out
    assert json.loads(webarc.run("--config", named, "config", "show", "--json").out.splitlines()[0])["key"] == "archive"


def test_code_from_an_archive_is_not_run(tmp_path: Path) -> None:
    webarc = Webarc(tmp_path / "archive")
    assert webarc.run("init").code == 0
    trace = tmp_path / "trace"
    (webarc.archive / "evil.py").write_text(f"open({str(trace)!r}, 'w')\ndef keep(path): return True\n")
    (webarc.archive / "webarc.toml").write_text('[filters]\nmodules = {mime = "evil.py:keep"}\n')
    start = "http://127.0.0.1:1/"
    ran = webarc.run("crawl", "--tries", "1", start)
    assert ran.code and not trace.exists() and "filters.modules" in ran.err
    webarc.run("crawl", "--tries", "1", start, WEBARC_TRUSTED_ARCHIVES=str(webarc.archive))
    assert trace.exists()


def test_a_full_copy_of_the_settings_is_fine_in_an_archive(place: Place) -> None:
    place.inside.write_text(example({"archive": Path()}))
    settings = place.load()
    assert settings.warnings == [] and stat.S_IMODE(place.inside.stat().st_mode) & 0o002 == 0
