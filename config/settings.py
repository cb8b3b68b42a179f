"""Every setting with its value and where that came from: built-in < config files < environment < command line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from webarc.config import database
from webarc.config.file import ConfigFile
from webarc.config.keys import KEYS, TABLES, Key
from webarc.config.kinds import Wrong
from webarc.config.layers import FINDING, Layer, own_layers, with_archive
from webarc.errors import ConfigProblem, UsageProblem

BUILT_IN = "built-in"
_FINDING_VARIABLES = frozenset(KEYS[name].variable for name in FINDING)
_OWN_FILE = ".py:"
_MOST_UNKNOWN = 10
_LONGEST_NAME = 60


class Settings(Mapping[str, Any]):
    """Values by name, as in `settings["crawl.depth"]`; `warnings` says what was wrong with their sources.

    Asking for a vital value that is wrong raises ConfigProblem.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {name: key.default for name, key in KEYS.items()}
        self._origins: dict[str, str] = dict.fromkeys(KEYS, BUILT_IN)
        self._faults: list[str] = []
        self._refused: dict[str, str] = {}
        self._filters_dirs: list[Path] = []
        self.warnings: list[str] = []
        self.files: list[Path] = []

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
    def file(self) -> Path | None:
        """The strongest config file in use; `files` has all of them, the strongest first."""
        return self.files[0] if self.files else None

    @property
    def filters_dir(self) -> Path | None:
        """The folder with the filters' own config files: beside the strongest config file that has one."""
        return next((folder for folder in self._filters_dirs if folder.is_dir()), next(iter(self._filters_dirs), None))

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
    environ, overrides = environ or {}, overrides or {}
    own = list(own_layers(explicit, environ))
    # Where the archive is comes first, and whether the user trusts it; then what its own file says.
    first = Settings()
    for layer in own:
        _read_layer(first, replace(layer, only=layer.only or FINDING), ())
    _read_environment(first, {name: text for name, text in environ.items() if name in _FINDING_VARIABLES})
    _read_overrides(first, {name: value for name, value in overrides.items() if name in FINDING})
    settings = Settings()
    for layer in with_archive(own, first["archive"]):
        _read_layer(settings, layer, first["trusted_archives"])
    _read_environment(settings, environ)
    if strict and settings._faults:
        raise ConfigProblem(_together(settings._faults))
    _read_overrides(settings, overrides)
    return settings


def _read_layer(settings: Settings, layer: Layer, trusted: Collection[Path]) -> None:
    file, is_trusted = layer.file, layer.is_trusted(trusted)
    if file.problem:
        settings._warn(file.problem.rstrip("."), "it is ignored" if layer.homes else "built-in values are used")
        return
    if layer.only is None:
        settings.files.insert(0, file.path)
        settings._filters_dirs[:0] = [layer.filters()] if is_trusted else []
    taken = {name: raw for name, raw in file.values.items() if layer.only is None or name in layer.only}
    _tell_unknown(settings, file, [name for name in taken if name not in KEYS])
    withheld = []
    for key, raw in ((KEYS[name], raw) for name, raw in taken.items() if name in KEYS):
        if is_trusted or not key.guarded:
            _read_value(settings, layer, key, raw)
        elif _would_change(settings, layer, key, raw):
            withheld.append(key.name)
    if layer.only is None and not is_trusted and layer.has_filters():
        withheld.append("filters/*.toml")
    if withheld:
        fault = f"{file.path}: {', '.join(withheld)} may not come from an archive that is not trusted"
        settings._warn(fault, layer.cure())


def _tell_unknown(settings: Settings, file: ConfigFile, unknown: list[str]) -> None:
    for name in unknown[:_MOST_UNKNOWN]:
        settings._warn(f"{file.where(name)}: {_unknown(name)}", "it is ignored")
    if len(unknown) > _MOST_UNKNOWN:
        settings._warn(f"{file.path}: {len(unknown) - _MOST_UNKNOWN} more unknown keys", "they are ignored")


def _read_value(settings: Settings, layer: Layer, key: Key, raw: object) -> None:
    file = layer.file
    try:
        value = _placed(key.name, key.kind.read(raw), file.path.absolute().parent)
        if refusal := layer.refusal(key.name, value):
            if value != settings._values[key.name]:
                settings._warn(f"{file.where(key.name)}: {refusal}", "it is ignored")
            return
        key.kind.check(value)
        settings._set(key.name, value, file.place(key.name))
    except ValueError as error:
        settings._wrong(file.where(key.name), key, raw, error)


def _would_change(settings: Settings, layer: Layer, key: Key, raw: object) -> bool:
    try:
        return bool(_placed(key.name, key.kind.read(raw), layer.file.path.parent) != settings._values[key.name])
    except ValueError:
        return True


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
    if isinstance(value, tuple):
        return tuple(folder / item if isinstance(item, Path) else item for item in value)
    if isinstance(value, dict):
        return {name: str(folder / item) if _OWN_FILE in item else item for name, item in value.items()}
    return value


def _unknown(name: str) -> str:
    if name in TABLES:
        return f"{name} must be a table, written [{name}]"
    if len(name) > _LONGEST_NAME:
        return f"unknown key {name[:_LONGEST_NAME]}..."
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
