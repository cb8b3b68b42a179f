"""What every command shares: the common options, the settings, the archive, and how it speaks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from webarc.cli.output import one_line, print_rich

if TYPE_CHECKING:
    from webarc.archive.store import Archive
    from webarc.config.settings import Settings


@dataclass(slots=True)
class Context:
    """The options that every command has; `as_json` is set by the command that has `--json`."""

    archive_option: Path | None = None
    config_option: Path | None = None
    strict: bool = False
    database: str | None = None
    zone: str | None = None
    verbosity: int = 0
    quiet: bool = False
    as_json: bool = False
    _warned: set[str] = field(default_factory=set)
    _settings: Settings | None = None

    def settings(self, overrides: Mapping[str, Any] | None = None) -> Settings:
        """All settings, with what the command line gave; every warning is said once."""
        from webarc.config.settings import load

        if overrides is None and self._settings is not None:
            return self._settings

        given = {"archive": self.archive_option, "database": self.database, "times.zone": self.zone}
        given.update(overrides or {})
        settings = load(self.config_option, os.environ, given, self.strict)
        for warning in settings.warnings:
            if warning not in self._warned:
                self.warn(warning)
        self._warned.update(settings.warnings)
        self._settings = settings if overrides is None else self._settings
        return settings

    def zone_name(self) -> str:
        """The zone that times are shown in, and read in where they name none."""
        return str(self.settings()["times.zone"])

    def archive_path(self) -> Path:
        """The archive folder, absolute, whether it exists or not."""
        path: Path = self.settings()["archive"]
        return path.absolute()

    def archive(self, create: bool = False) -> Archive:
        """The archive, made first if it may be; raises NotAnArchive."""
        from webarc.archive.store import Archive

        path = self.archive_path()
        return Archive.create(path) if create else Archive.open(path)

    def database_url(self) -> str:
        """The index: as the settings name it, else SQLite in the archive."""
        given: str | None = self.settings()["database"]
        return given or f"sqlite:///{self.archive().index_file}"

    def recover_database(self) -> int:
        """Rebuild the index; the exit code says whether anything was unreadable."""
        from webarc.cli.db_recover import recover_with_progress

        return recover_with_progress(self)

    def echo(self, text: str) -> None:
        """A line of what was asked for."""
        click.echo(text)

    def tell(self, text: str) -> None:
        """A line about what was done and went well, unless quiet."""
        if not self.quiet:
            click.echo(text)

    def note(self, text: str) -> None:
        """A remark on standard error, unless quiet."""
        if not self.quiet:
            click.echo(one_line(text), err=True)

    def warn(self, text: str) -> None:
        """A warning on standard error, quiet or not; what is no warning is a note."""
        from webarc.archive.remark import Remark

        if isinstance(text, Remark):
            self.note(text)
            return
        click.echo(f"webarc: warning: {one_line(text)}", err=True)

    def print_table(self, table: Any) -> None:
        """A rich table on standard output."""
        print_rich(table)


def command(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command the Context as its first argument; the number it returns is the exit code."""

    @wraps(function)
    def run(*args: Any, **values: Any) -> int | None:
        from webarc import waiting
        from webarc.archive import zones

        context = click.get_current_context().ensure_object(Context)
        context.as_json = bool(values.get("as_json"))
        given = values.get("lock_wait")
        with zones.using(context.zone_name), waiting.using(given if isinstance(given, float) else None, context.note):
            return function(context, *args, **values)

    return run
