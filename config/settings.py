"""Every setting with its value and where that came from: built-in < config file < environment < command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from webarc.config.file import ConfigFile, find
from webarc.config.keys import KEYS, TABLES, Key
from webarc.errors import ConfigProblem, UsageProblem

BUILT_IN = "built-in"
_OWN_FILE = ".py:"


class Settings(Mapping[str, Any]):
    """Values by name, as in `settings["crawl.depth"]`; `warnings` says what was wrong with their sources."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {name: key.default for name, key in KEYS.items()}
        self._origins: dict[str, str] = dict.fromkeys(KEYS, BUILT_IN)
        self.warnings: list[str] = []
        self.file: Path | None = None

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def origin(self, name: str) -> str:
        """`built-in`, `FILE:line`, `$WEBARC_X` or `--flag`."""
        return self._origins[name]

    def shown(self, name: str) -> str:
        """The value as people may see it, secrets masked."""
        return KEYS[name].shown(self._values[name])

    @property
    def filters_dir(self) -> Path | None:
        """The folder with the filters' own config files, beside the config file in use."""
        return self.file.absolute().parent / "filters" if self.file else None

    def _set(self, name: str, value: Any, origin: str) -> None:
        self._values[name] = value
        self._origins[name] = origin


def load(
    explicit: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> Settings:
    """All settings; what is wrong in a file or in the environment is a warning, or ConfigProblem if strict.

    An override of None or of an empty tuple counts as not given, since that is what click hands over.
    """
    settings = Settings()
    _read_file(settings, find(explicit, environ or {}))
    _read_environment(settings, environ or {})
    if strict and settings.warnings:
        raise ConfigProblem(_together(settings.warnings))
    _read_overrides(settings, overrides or {})
    return settings


def _read_file(settings: Settings, file: ConfigFile | None) -> None:
    if file is None:
        return
    if file.problem:
        settings.warnings.append(f"{file.problem.rstrip('.')}; built-in values are used.")
        return
    settings.file = file.path
    for name, raw in file.values.items():
        if name not in KEYS:
            settings.warnings.append(f"{file.where(name)}: {_unknown(name)}")
            continue
        try:
            settings._set(name, _placed(KEYS[name].kind.read(raw), file.path.absolute().parent), file.place(name))
        except ValueError as error:
            settings.warnings.append(f"{file.where(name)}: {_wrong(KEYS[name], raw, error, settings)}")


def _read_environment(settings: Settings, environ: Mapping[str, str]) -> None:
    by_variable = {key.variable: key for key in KEYS.values()}
    ours = tuple(f"WEBARC_{table.upper()}_" for table in TABLES)
    for variable, text in environ.items():
        key = by_variable.get(variable)
        if key is None:
            if variable.startswith(ours):
                settings.warnings.append(f"${variable} sets nothing{_guess(variable, by_variable)}; it is ignored.")
        elif text:  # an empty variable counts as not set
            try:
                settings._set(key.name, key.kind.parse(text), f"${variable}")
            except ValueError as error:
                settings.warnings.append(f"${variable}: {_wrong(key, text, error, settings)}")


def _read_overrides(settings: Settings, overrides: Mapping[str, Any]) -> None:
    for name, value in overrides.items():
        if value is None or value == ():
            continue
        key = KEYS[name]
        try:
            parsed = key.kind.parse(value) if isinstance(value, str) else key.kind.read(value)
        except ValueError as error:
            raise UsageProblem(f"{key.flag or name} {_complaint(key, value, error)}.") from None
        settings._set(name, parsed, key.given(parsed) or "command line")


def _placed(value: Any, folder: Path) -> Any:
    """Paths in a config file are relative to that file, wherever webarc is started."""
    if isinstance(value, Path):
        return folder / value
    if isinstance(value, dict):
        return {name: str(folder / item) if _OWN_FILE in item else item for name, item in value.items()}
    return value


def _unknown(name: str) -> str:
    if name in TABLES:
        return f"{name} must be a table, written [{name}]; it is ignored."
    return f"unknown key {name}{_guess(name, KEYS)}; it is ignored."


def _guess(name: str, known: Mapping[str, Key]) -> str:
    """`, did you mean crawl.depth?`, also for a key that stands in the wrong table."""
    by_last = {candidate.rpartition(".")[2]: candidate for candidate in known}
    close = get_close_matches(name, known, 1, 0.75)
    if not close:
        close = [by_last[last] for last in get_close_matches(name.rpartition(".")[2], by_last, 1, 0.7)]
    return f", did you mean {'$' if close[0] not in KEYS else ''}{close[0]}?" if close else ""


def _wrong(key: Key, raw: object, error: ValueError, settings: Settings) -> str:
    origin = settings.origin(key.name)
    kept = "the built-in value" if origin == BUILT_IN else f"the value from {origin},"
    value = settings.shown(key.name) or "(none)"
    return f"{key.name} {_complaint(key, raw, error)}; {kept} {value} is used."


def _complaint(key: Key, raw: object, error: ValueError) -> str:
    """What was found and what is wanted; a secret is not repeated."""
    given = "" if key.secret else f" (not {_shortened(raw)})"
    reason = f": {error}" if "not a regular expression" in str(error) else ""
    return f"must be {key.kind.wanted}{given}{reason}"


def _shortened(raw: object) -> str:
    text = {True: "true", False: "false"}.get(raw, repr(raw)) if isinstance(raw, bool) else repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _together(warnings: list[str]) -> str:
    return " ".join(warnings) if len(warnings) <= 3 else f"{' '.join(warnings[:3])} ({len(warnings) - 3} more.)"
