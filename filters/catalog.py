"""Where filters come from: webarc itself, the config file (`filters.modules`), or installed packages."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from webarc.errors import ConfigProblem, UnknownFilter, WebarcError
from webarc.filters.plugin import Keep, keep_all

GROUP = "webarc.filters"
SHIPPED = {
    "mime": "webarc.filters.mime:MimeFilter",
    "size": "webarc.filters.size:SizeFilter",
    "pattern": "webarc.filters.pattern:PatternFilter",
    "duplicate": "webarc.filters.duplicate:DuplicateFilter",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A filter that can be had: `target` is `module:callable` or `file.py:callable`."""

    name: str
    target: str
    origin: str

    def make(self, settings_dir: Path | None) -> Keep:
        """The filter itself, ready to be asked."""
        try:
            found = _attribute(self.target)
            if isinstance(found, type):
                made = found(read_settings(self.name, settings_dir))
                found = keep_all if getattr(made, "keeps_all", False) else made.keep
        except WebarcError:
            raise
        except (Exception, SystemExit) as error:
            raise ConfigProblem(
                f"the filter {self.name!r} cannot be loaded from {self.target!r} "
                f"({type(error).__name__}: {error}); mend it or do not use it."
            ) from error
        if not callable(found):
            raise ConfigProblem(f"the filter {self.name!r} is not callable; name a function or a class with `keep`.")
        return found  # type: ignore[no-any-return]


def find(name: str, modules: Mapping[str, str]) -> Source:
    """The filter of this name: the user's own first, then webarc's, then those of installed packages."""
    if name in modules:
        return Source(name, modules[name], "config")
    if name in SHIPPED:
        return Source(name, SHIPPED[name], "webarc")
    installed = _installed()
    if name in installed:
        return installed[name]
    names = sorted({*modules, *SHIPPED, *installed})
    close = get_close_matches(name, names, 1)
    guess = f", did you mean {close[0]!r}?" if close else ";"
    raise UnknownFilter(f"there is no filter {name!r}{guess} there are {', '.join(names)}.")


def known(modules: Mapping[str, str]) -> list[Source]:
    """Every filter that can be had, by name."""
    names = {*modules, *SHIPPED, *_installed()}
    return [find(name, modules) for name in sorted(names)]


def chosen(
    use: Iterable[str],
    added: Iterable[str] = (),
    removed: Iterable[str] = (),
    modules: Mapping[str, str] | None = None,
) -> list[str]:
    """The filters in use after `--filter` and `--no-filter`, each once, in order; raises UnknownFilter.

    What is removed must exist, but need not be in use; what is used and cannot be found may be removed, too.
    """
    without = set(removed)
    wanted = dict.fromkeys([*use, *added])
    for name in (*without.difference(wanted), *(name for name in wanted if name not in without)):
        find(name, modules or {})
    return [name for name in wanted if name not in without]


def settings_file(name: str, settings_dir: Path | None) -> Path | None:
    """The filter's own config file: beside the config file in use, else the one that ships with webarc."""
    from webarc.config import filters

    for folder in (settings_dir, Path(filters.__file__).parent):
        if folder and (folder / f"{name}.toml").is_file():
            return folder / f"{name}.toml"
    return None


def read_settings(name: str, settings_dir: Path | None) -> dict[str, Any]:
    """What the filter's own config file says; nothing if there is none."""
    path = settings_file(name, settings_dir)
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigProblem(f"{path}, the config file of the filter {name!r}, cannot be read ({error}).") from None


def _installed() -> dict[str, Source]:
    from importlib.metadata import entry_points  # 20 ms, and most filters are found without

    return {
        point.name: Source(point.name, point.value, f"package {point.dist.name}" if point.dist else "package")
        for point in entry_points(group=GROUP)
    }


def _attribute(target: str) -> Any:
    place, _, attribute = target.rpartition(":") if ":" in target else (target, "", "keep")
    found: Any = _file_module(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


def _file_module(path: Path) -> ModuleType:
    """A module in a file of the user's, which need not be on Python's path."""
    name = f"webarc_filter_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
