"""The wheel is complete: all rooms behind their links, SQL, schemas, config files and the sample site, and it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from webarc import __version__

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("archive", "config", "crawler", "diff", "filters", "schema", "sql")
BUILT_FROM = ("webarc", *ROOMS, "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
# Kinds of files that are read when webarc runs; code is looked for by itself.
READ_AT_RUN_TIME = (".sql", ".toml", ".xsd", ".html", ".css", ".svg", ".png", ".txt", ".typed")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that no build folder of an earlier one lends it files and none is left behind."""
    work = tmp_path_factory.mktemp("wheel")
    tree = work / "tree"
    tree.mkdir()
    for name in BUILT_FROM:
        copy_into(tree, ROOT / name)
    subprocess.run([*PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", work, tree], check=True)
    [built] = work.glob("*.whl")
    return built


def copy_into(tree: Path, source: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, tree / source.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    elif source.exists():
        shutil.copy2(source, tree)


def names_in(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def expected(suffixes: tuple[str, ...]) -> set[str]:
    """The files of the tree under the names that they have in the package."""
    found = set()
    for folder in (ROOT / "webarc", *(ROOT / room for room in ROOMS)):
        for file in folder.rglob("*"):
            if file.is_file() and file.suffix in suffixes and "__pycache__" not in file.parts:
                inside = file.relative_to(ROOT).as_posix()
                found.add(inside if inside.startswith("webarc/") else f"webarc/{inside}")
    return found


def test_rooms_are_links() -> None:
    for room in ROOMS:
        link = ROOT / "webarc" / room
        assert link.is_symlink()
        assert link.readlink() == Path("..", room)


def test_wheel_holds_all_code(wheel: Path) -> None:
    assert expected((".py",)) - names_in(wheel) == set()
    for room in ROOMS:
        assert f"webarc/{room}/__init__.py" in names_in(wheel)


def test_wheel_holds_all_that_is_read_at_run_time(wheel: Path) -> None:
    wanted = expected(READ_AT_RUN_TIME)
    assert wanted - names_in(wheel) == set()
    assert any(name.startswith("webarc/sql/statements/") for name in wanted)
    assert any(name.startswith("webarc/schema/") for name in wanted)
    assert "webarc/demo/site/index.html" in wanted


def test_wheel_holds_nothing_else(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names_in(wheel)}
    assert tops == {"webarc", f"webarc-{__version__}.dist-info"}


def test_installed_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    """In a venv of its own; the libraries are lent by this one, whose editable webarc is not (its .pth is not read)."""
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([*PIP, "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": sysconfig.get_path("purelib")}
    webarc = python.with_name("webarc")
    version = subprocess.run([webarc, "--version"], env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert version.stdout.strip() == f"webarc {__version__}"
    code = "import webarc.archive as room; print(room.__file__)"
    room = subprocess.run([python, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert room.stdout.startswith(str(tmp_path / "venv"))
