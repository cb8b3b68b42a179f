"""Every setting with its value and where that came from: built-in < config file < environment < command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from webarc.config import database
from webarc.config.file import ConfigFile, find
from webarc.config.keys import KEYS, TABLES, Key
from webarc.config.kinds import Wrong
from webarc.errors import ConfigProblem, UsageProblem

BUILT_IN = "built-in"
_OWN_FILE = ".py:"


class Settings(Mapping[str, Any]):
    """Values by name, as in `settings["crawl.depth"]`; `warnings` says what was wrong with their sources.

    Asking for a vital value that is wrong raises ConfigProblem.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {name: key.default for name, key in KEYS.items()}
        self._origins: dict[str, str] = dict.fromkeys(KEYS, BUILT_IN)
        self._faults: list[str] = []
        self._refused: dict[str, str] = {}
        self.warnings: list[str] = []
        self.file: Path | None = None

    def __getitem__(self, name: str) -> Any:
        if name in self._refused:
            raise ConfigProblem(f"{self._refused[name]}; correct it.")
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
        self._refused.pop(name, None)

    def _warn(self, fault: str, then: str) -> None:
        self._faults.append(fault)
        self.warnings.append(f"{fault}; {then}.")

    def _wrong(self, place: str, key: Key, raw: object, error: ValueError) -> None:
        """A value that is not taken: the weaker one stays, unless it is vital that there is none."""
        fault = f"{place}: {key.name} {_complaint(key, raw, error)}"
        if key.kind.vital:
            self._refused[key.name] = fault
            self._warn(fault, "no crawl begins with it")
            return
        origin = self.origin(key.name)
        kept = "the built-in value" if origin == BUILT_IN else f"the value from {origin},"
        self._warn(fault, f"{kept} {self.shown(key.name) or '(none)'} is used")


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
    if strict and settings._faults:
        raise ConfigProblem(_together(settings._faults))
    _read_overrides(settings, overrides or {})
    return settings


def _read_file(settings: Settings, file: ConfigFile | None) -> None:
    if file is None:
        return
    if file.problem:
        settings._warn(file.problem.rstrip("."), "built-in values are used")
        return
    settings.file = file.path
    for name, raw in file.values.items():
        if name not in KEYS:
            settings._warn(f"{file.where(name)}: {_unknown(name)}", "it is ignored")
            continue
        try:
            value = _placed(name, KEYS[name].kind.read(raw), file.path.absolute().parent)
            KEYS[name].kind.check(value)
            settings._set(name, value, file.place(name))
        except ValueError as error:
            settings._wrong(file.where(name), KEYS[name], raw, error)


def _read_environment(settings: Settings, environ: Mapping[str, str]) -> None:
    by_variable = {key.variable: key for key in KEYS.values()}
    ours = tuple(f"WEBARC_{table.upper()}_" for table in TABLES)
    for variable, text in environ.items():
        key = by_variable.get(variable)
        if key is None:
            if variable.startswith(ours):
                settings._warn(f"${variable} sets nothing{_guess(variable, by_variable)}", "it is ignored")
        elif text:  # an empty variable counts as not set
            try:
                value = key.kind.parse(text)
                key.kind.check(value)
                settings._set(key.name, value, f"${variable}")
            except ValueError as error:
                settings._wrong(f"${variable}", key, text, error)


def _read_overrides(settings: Settings, overrides: Mapping[str, Any]) -> None:
    for name, value in overrides.items():
        if value is None or value == ():
            continue
        key = KEYS[name]
        try:
            parsed = key.kind.parse(value) if isinstance(value, str) else key.kind.read(value)
            key.kind.check(parsed)
        except ValueError as error:
            raise UsageProblem(f"{key.flag or name} {_complaint(key, value, error)}.") from None
        settings._set(name, parsed, key.given(parsed) or "command line")


def _placed(name: str, value: Any, folder: Path) -> Any:
    """Paths in a config file are relative to that file, wherever webarc is started."""
    if name == "database" and value:
        return database.absolute(value, folder)
    if isinstance(value, Path):
        return folder / value
    if isinstance(value, dict):
        return {name: str(folder / item) if _OWN_FILE in item else item for name, item in value.items()}
    return value


def _unknown(name: str) -> str:
    if name in TABLES:
        return f"{name} must be a table, written [{name}]"
    return f"unknown key {name}{_guess(name, KEYS)}"


def _guess(name: str, known: Mapping[str, Key]) -> str:
    """`, did you mean crawl.depth?`, also for a key that stands in the wrong table."""
    by_last = {candidate.rpartition(".")[2]: candidate for candidate in known}
    close = get_close_matches(name, known, 1, 0.75)
    if not close:
        close = [by_last[last] for last in get_close_matches(name.rpartition(".")[2], by_last, 1, 0.7)]
    return f", did you mean {'$' if close[0] not in KEYS else ''}{close[0]}?" if close else ""


def _complaint(key: Key, raw: object, error: ValueError) -> str:
    """What was found and what is wanted; a secret, also one inside a URL, is not repeated."""
    given = "" if key.secret or "@" in str(raw) else f" (not {_shortened(raw)})"
    reason = f": {error}" if isinstance(error, Wrong) else ""
    return f"must be {key.kind.wanted}{given}{reason}"


def _shortened(raw: object) -> str:
    text = {True: "true", False: "false"}.get(raw, repr(raw)) if isinstance(raw, bool) else repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _together(faults: list[str]) -> str:
    more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
    return f"{'; '.join(faults[:3])}{more}; correct this or leave out --strict-config."
