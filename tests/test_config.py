"""Settings: the order of their sources, and what happens to what is wrong (/Cr-1/, hostile-web 50)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

import webarc.config
from webarc.config import database
from webarc.config.example import example
from webarc.config.keys import KEYS
from webarc.config.settings import Settings, load
from webarc.errors import ConfigProblem, UsageProblem

SHIPPED = Path(webarc.config.__file__).parent / "webarc.toml"
DOCUMENT = Path(__file__).parent.parent / "docs" / "configuration.md"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path) -> Iterator[None]:
    with chdir(tmp_path):
        yield


def settings_of(text: str, folder: Path, strict: bool = False, **environ: str) -> Settings:
    file = folder / "my.toml"
    file.write_text(text)
    return load(file, environ, {}, strict)


def test_built_in_values_without_any_file() -> None:
    settings = load(None, {}, {})
    assert settings["crawl.depth"] == 5
    assert settings["crawl.max_size"] == 100 * 1024**2
    assert settings["filters.use"] == ("mime",)
    assert settings.warnings == []
    assert {settings.origin(name) for name in settings} == {"built-in"}


def test_each_source_is_stronger_than_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[crawl]\ndepth = 1\njobs = 1\nconnections = 1\n")
    environ = {"WEBARC_CRAWL_JOBS": "2", "WEBARC_CRAWL_CONNECTIONS": "2"}
    settings = load(file, environ, {"crawl.connections": "3", "crawl.robots": False})
    assert [settings[f"crawl.{name}"] for name in ("tries", "depth", "jobs", "connections")] == [3, 1, 2, 3]
    assert settings.origin("crawl.tries") == "built-in"
    assert settings.origin("crawl.depth") == f"{file}:2"
    assert settings.origin("crawl.jobs") == "$WEBARC_CRAWL_JOBS"
    assert settings.origin("crawl.connections") == "--connections"
    assert settings.origin("crawl.robots") == "--no-robots"


def test_where_the_file_is_looked_for(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path
    at_home = home / ".config" / "webarc" / "webarc.toml"
    at_home.parent.mkdir(parents=True)
    named, here, variable = tmp_path / "named.toml", work / "webarc.toml", tmp_path / "variable.toml"
    environ = {"HOME": str(home)}
    assert load(None, environ, {}).file is None
    found = []
    for file, explicit in ((at_home, None), (here, None), (variable, None), (named, named)):
        file.write_text("")
        if file is variable:
            environ["WEBARC_CONFIG"] = str(variable)
        settings = load(explicit, environ, {})
        assert settings.file is not None
        found.append(settings.file.absolute())
    assert found == [at_home, here, variable, named]


@pytest.mark.parametrize("source", ["option", "variable"])
def test_a_named_file_that_is_missing_is_a_warning_or_an_error(tmp_path: Path, source: str) -> None:
    missing = tmp_path / "no.toml"
    explicit, environ = (missing, {}) if source == "option" else (None, {"WEBARC_CONFIG": str(missing)})
    settings = load(explicit, environ, {})
    assert settings["crawl.depth"] == 5
    assert len(settings.warnings) == 1
    assert str(missing) in settings.warnings[0]
    with pytest.raises(ConfigProblem, match=r"no\.toml"):
        load(explicit, environ, {}, strict=True)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('depth = "three"', "crawl.depth"),
        ("depth = -1", "crawl.depth"),
        ("depth = true", "crawl.depth"),
        ("depth = 2.5", "crawl.depth"),
        ("jobs = 0", "crawl.jobs"),
        ('jobs = "inf"', "crawl.jobs"),
        ('robots = "yes"', "crawl.robots"),
        ("robots = 1", "crawl.robots"),
        ('scope = "planet"', "crawl.scope"),
        ("scope = []", "crawl.scope"),
        ('include = "a"', "crawl.include"),
        ("include = ['(']", "crawl.include"),
        ("include = [1]", "crawl.include"),
        ("user_agent = ''", "crawl.user_agent"),
        (r'user_agent = "a\r\nX: y"', "crawl.user_agent"),
        (r'headers = ["A: b\r\nC: d"]', "crawl.headers"),
        ('headers = ["no colon"]', "crawl.headers"),
        ('max_size = "big"', "crawl.max_size"),
        ("max_size = -1", "crawl.max_size"),
        ('max_size = "none"', "crawl.max_size"),
        ("timeout = nan", "crawl.timeout"),
        ("timeout = inf", "crawl.timeout"),
        ("allow_private = 3", "crawl.allow_private"),
        ('accept_type = ["html"]', "crawl.accept_type"),
        ('reject_type = ["text/*", "/png"]', "crawl.reject_type"),
        ('accept_type = ["text/html,text/css"]', "crawl.accept_type"),
        ("[filters]\nmodules = ['x']", "filters.modules"),
        ("[filters]\nmodules = {x = 1}", "filters.modules"),
    ],
)
def test_a_wrong_value_is_named_with_its_line_and_the_rest_holds(tmp_path: Path, line: str, key: str) -> None:
    settings = settings_of(f"# first\n[crawl]\ntries = 7\n{line}\n", tmp_path)
    number = 3 + len(line.splitlines())
    assert len(settings.warnings) == 1
    assert settings.warnings[0].startswith(f"{tmp_path / 'my.toml'}, line {number}: {key} must be ")
    assert "built-in value" in settings.warnings[0]
    assert settings[key] == KEYS[key].default
    assert settings.origin(key) == "built-in"
    assert settings["crawl.tries"] == 7
    with pytest.raises(ConfigProblem, match=key) as problem:
        settings_of(f"[crawl]\n{line}\n", tmp_path, strict=True)
    assert "is used" not in str(problem.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[crawl]\ndepht = 3", "line 2: unknown key crawl.depht, did you mean crawl.depth?"),
        ("depth = 3", "line 1: unknown key depth, did you mean crawl.depth?"),
        ("\n[filters]\nconnectons = 3", "line 3: unknown key filters.connectons, did you mean crawl.connections?"),
        ("[crwal]\ndepth = 3", "line 1: unknown key crwal"),
        ("zzz = 1", "line 1: unknown key zzz; it is ignored."),
        ("crawl = 5", "line 1: crawl must be a table, written [crawl]"),
        ('"crawl" = {depth = 3, x = 1}', "unknown key crawl.x"),
    ],
)
def test_an_unknown_key_is_named_and_the_nearest_offered(tmp_path: Path, text: str, said: str) -> None:
    settings = settings_of(text, tmp_path)
    assert len(settings.warnings) == 1
    assert said in settings.warnings[0]
    with pytest.raises(ConfigProblem) as problem:
        settings_of(text, tmp_path, strict=True)
    assert said.partition("; it is")[0] in str(problem.value)
    assert "ignored" not in str(problem.value)
    assert str(problem.value).endswith("; correct this or leave out --strict-config.")


VITAL = [
    ("load_cookies = 3", "crawl.load_cookies", "a file that can be read"),
    ('load_cookies = "nope.txt"', "crawl.load_cookies", "nope.txt cannot be read, No such file or directory"),
    ('load_cookies = "."', "crawl.load_cookies", "is a folder"),
    ('proxy = "foo"', "crawl.proxy", "an http, https or socks URL"),
    ('proxy = "ftp://h:1"', "crawl.proxy", "an http, https or socks URL"),
    ('proxy = "me:hunter2@h:1"', "crawl.proxy", "an http, https or socks URL"),
]


@pytest.mark.parametrize(("line", "key", "said"), VITAL)
def test_a_crawl_without_its_proxy_or_cookies_does_not_begin(tmp_path: Path, line: str, key: str, said: str) -> None:
    settings = settings_of(f"[crawl]\ndepth = 3\n{line}\n", tmp_path)
    assert settings["crawl.depth"] == 3
    assert [warning for warning in settings.warnings if said in warning and "line 3" in warning] == settings.warnings
    assert settings.shown(key) == ""
    with pytest.raises(ConfigProblem, match="line 3") as problem:
        settings[key]
    assert said in str(problem.value)
    assert "hunter2" not in str(problem.value) + str(settings.warnings)
    with pytest.raises(ConfigProblem, match="line 3"):
        settings_of(f"[crawl]\ndepth = 3\n{line}\n", tmp_path, strict=True)
    value = "http://h:1" if key == "crawl.proxy" else str(tmp_path / "my.toml")
    assert str(load(tmp_path / "my.toml", {}, {key: value})[key]) == value
    assert str(load(tmp_path / "my.toml", {KEYS[key].variable: value}, {})[key]) == value


def test_proxies_and_types_that_there_are() -> None:
    for proxy in ("http://h:3128", "https://u:p@h/", "socks4a://h", "socks5h://[::1]:1080"):
        assert load(None, {"WEBARC_CRAWL_PROXY": proxy}, {})["crawl.proxy"] == proxy
    types = ("*", "*/*", "text/*", "application/vnd.ms-excel", "image/svg+xml", "*/pdf")
    assert load(None, {}, {"crawl.accept_type": types})["crawl.accept_type"] == types


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[crawl]\ndepth = \n", ("line 2", "crawl.depth", "TOML")),
        (b"[crawl\n", ("line 1", "TOML")),
        (b"[crawl]\njobs = 3\nquota = [1,\n", ("crawl.quota", "TOML")),
        (b"\xff\xfe\x00", ("not UTF-8",)),
    ],
)
def test_a_broken_file_means_built_in_values(tmp_path: Path, content: bytes, said: tuple[str, ...]) -> None:
    file = tmp_path / "broken.toml"
    file.write_bytes(content)
    settings = load(file, {}, {})
    assert len(settings.warnings) == 1
    assert all(part in settings.warnings[0] for part in (str(file), *said, "built-in values"))
    assert settings["crawl.jobs"] == 4
    with pytest.raises(ConfigProblem):
        load(file, {}, {}, strict=True)


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "webarc.toml").mkdir()
    settings = load(None, {}, {})
    assert "webarc.toml cannot be read" in settings.warnings[0]


def test_bom_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(b"\xef\xbb\xbf[crawl]\r\ndepth = 2\r\njobs = 9\r\n")
    settings = load(file, {}, {})
    assert (settings["crawl.depth"], settings["crawl.jobs"], settings.warnings) == (2, 9, [])
    assert settings.origin("crawl.jobs").endswith(":3")


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("WEBARC_ARCHIVE", "/a", "archive", Path("/a")),
        ("WEBARC_DATABASE", "sqlite:////x", "database", "sqlite:////x"),
        ("WEBARC_CRAWL_DEPTH", "inf", "crawl.depth", None),
        ("WEBARC_CRAWL_ROBOTS", "no", "crawl.robots", False),
        ("WEBARC_CRAWL_INTERVAL", "6h", "crawl.interval", 21600.0),
        ("WEBARC_CRAWL_QUOTA", "1G", "crawl.quota", 1024**3),
        ("WEBARC_CRAWL_INCLUDE", "a{1,2}", "crawl.include", ("a{1,2}",)),
        ("WEBARC_CRAWL_INCLUDE", "['a', 'b']", "crawl.include", ("a", "b")),
        ("WEBARC_CRAWL_ACCEPT_TYPE", "text/*, image/*", "crawl.accept_type", ("text/*", "image/*")),
        ("WEBARC_CRAWL_ALLOW_PRIVATE", "true", "crawl.allow_private", True),
        ("WEBARC_CRAWL_ALLOW_PRIVATE", "10.0.0.0/8,wiki", "crawl.allow_private", ("10.0.0.0/8", "wiki")),
        ("WEBARC_FILTERS_USE", "[]", "filters.use", ()),
        ("WEBARC_FILTERS_MODULES", "x=a.b:c, y=d:e", "filters.modules", {"x": "a.b:c", "y": "d:e"}),
        ("WEBARC_FILTERS_TIME_LIMIT", "500ms", "filters.time_limit", 0.5),
    ],
)
def test_the_environment(variable: str, text: str, key: str, value: Any) -> None:
    settings = load(None, {variable: text}, {})
    assert settings.warnings == []
    assert settings[key] == value
    assert settings.origin(key) == f"${variable}"


def test_every_key_has_a_variable_of_its_own() -> None:
    assert len({key.variable for key in KEYS.values()}) == len(KEYS)


def test_a_wrong_variable_leaves_the_weaker_value(tmp_path: Path) -> None:
    settings = settings_of("[crawl]\ndepth = 2", tmp_path, WEBARC_CRAWL_DEPTH="x", WEBARC_CRAWL_DEPHT="1", WEBARC_X="y")
    assert settings["crawl.depth"] == 2
    assert len(settings.warnings) == 2
    assert settings.warnings[0].startswith("$WEBARC_CRAWL_DEPTH: crawl.depth must be ")
    assert "did you mean $WEBARC_CRAWL_DEPTH?" in settings.warnings[1]


def test_an_empty_variable_is_not_set() -> None:
    assert load(None, {"WEBARC_ARCHIVE": "", "WEBARC_CONFIG": ""}, {}).origin("archive") == "built-in"


def test_options_that_were_not_given_change_nothing() -> None:
    settings = load(None, {}, {"crawl.depth": None, "crawl.include": (), "filters.use": []})
    assert settings["crawl.depth"] == 5
    assert settings.origin("crawl.include") == "built-in"
    assert settings["filters.use"] == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("crawl.depth", "x"),
        ("crawl.include", ("(",)),
        ("crawl.max_size", "1Q"),
        ("crawl.accept_type", ("html",)),
        ("crawl.load_cookies", "/nope"),
        ("crawl.proxy", "foo"),
    ],
)
def test_a_wrong_option_is_a_mistake_in_usage(key: str, value: Any) -> None:
    with pytest.raises(UsageProblem, match=KEYS[key].flag):
        load(None, {}, {key: value})


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "c").write_text("")
    text = 'archive = "a"\n[crawl]\nload_cookies = "c"\n[filters.modules]\nown = "own.py:keep"\nmod = "a.b:c"\n'
    settings = settings_of(text, folder)
    assert settings.warnings == []
    assert settings["archive"] == folder / "a"
    assert settings["crawl.load_cookies"] == folder / "c"
    assert settings_of('archive = "~/a"', folder)["archive"] == Path("~/a").expanduser()
    assert settings["filters.modules"] == {"own": f"{folder}/own.py:keep", "mod": "a.b:c"}
    assert settings.origin("filters.modules").endswith(":4")
    assert settings.filters_dir == folder / "filters"


def test_secrets_are_neither_shown_nor_repeated(tmp_path: Path) -> None:
    text = (
        'database = "postgresql+psycopg://u:hunter2@h/d"\n[crawl]\nhttp_password = "hunter2"\nproxy = "http://u:hunter2@p:1"'
        '\nheaders = ["Authorization: hunter2", "X-Api-Key: hunter2", "Accept: x"]\n'
    )
    settings = settings_of(text, tmp_path)
    shown = " ".join(settings.shown(name) for name in settings)
    assert "hunter2" not in shown
    assert "Accept: x" in shown
    assert settings["crawl.http_password"] == "hunter2"
    wrong = settings_of('[crawl]\nhttp_password = ["hunter2"]', tmp_path)
    assert "hunter2" not in "".join(wrong.warnings)
    assert "crawl.http_password" in wrong.warnings[0]


def test_the_shipped_file_has_every_key_with_its_built_in_value() -> None:
    assert SHIPPED.read_text() == example()
    settings = load(SHIPPED, {}, {})
    assert settings.warnings == []
    for name, key in KEYS.items():
        expected = SHIPPED.parent / key.default if name == "archive" else key.default
        assert settings[name] == expected, name
        assert settings.origin(name) != "built-in", name
        assert key.help in SHIPPED.read_text()


def test_the_commented_file_sets_only_what_was_chosen() -> None:
    assert tomllib.loads(example({"archive": Path()}, of_archive=True)) == {
        "archive": ".",
        "crawl": {},
        "compact": {},
        "filters": {},
        "schedule": {},
        "times": {},
    }


def test_the_documentation_names_every_key() -> None:
    text = DOCUMENT.read_text()
    for key in KEYS.values():
        assert f"`{key.name}`" in text, key.name
        assert key.variable in text or "WEBARC_<TABLE>_<KEY>" in text


@pytest.mark.parametrize(
    ("url", "placed", "password"),
    [
        ("sqlite:///x.db", "sqlite:////f/x.db", False),
        ("sqlite:////a:b@c/x.db", "sqlite:////a:b@c/x.db", False),
        ("postgresql+psycopg://u@h:5432/d", None, False),
        ("postgresql+psycopg://u:hunter2@h/d", None, True),
        ("postgresql+psycopg://:a/b@h/d", None, True),
        ("postgresql+psycopg://h/d?user=u&password=x", None, True),
    ],
)
def test_the_database(tmp_path: Path, url: str, placed: str | None, password: bool) -> None:
    assert database.absolute(url, Path("/f")) == (placed or url)
    assert database.has_password(url) is password
    expected = (placed or url).replace("/f/", f"{tmp_path}/")
    assert settings_of(f'database = "{url}"', tmp_path)["database"] == expected
