"""What can be typed next: files, domains and URLs of the archive, names of schedules, filters and settings.

What an argument or option takes is told by its metavar, such as DOMAIN or FILE, or by its own name. Nothing here
changes anything, and where something cannot be read there is nothing to offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from webarc.cli.beginnings import Beginning, SortedList, beginnings
from webarc.cli.context import Context

if TYPE_CHECKING:
    from webarc.archive.store import Archive

Items = list[CompletionItem]
Completer = Callable[[click.Context, str], Items]
_SCHEMES = ("https://", "http://")
_RULES = ("last=", "hourly=", "daily=", "weekly=", "monthly=", "yearly=")


def prepare(command: click.Command) -> None:
    """Let the arguments and options of a command, and of all below it, complete what they take."""
    for child in command.commands.values() if isinstance(command, click.Group) else ():
        prepare(child)
    for parameter in command.params:
        completer = _completer(command, parameter)
        if completer:
            parameter.shell_complete = partial(completer)  # type: ignore[method-assign]


def _completer(command: click.Command, parameter: click.Parameter) -> Completer | None:
    metavar = (parameter.metavar or str(parameter.name)).upper().strip("[].")
    own = _BY_NAME.get(f"{command.name} {parameter.name}") or _BY_NAME.get(str(parameter.name))
    argument = _ARGUMENTS.get(metavar) if isinstance(parameter, click.Argument) else None
    return own or argument or _BY_METAVAR.get(metavar) or _choices(parameter.metavar or "")


def _choices(metavar: str) -> Completer | None:
    """`page|host` is a choice; in `N|inf` N stands for something else."""
    words = [word for word in metavar.split("|") if word.islower()] if "|" in metavar else []
    return partial(_words, words) if words else None


def _words(words: Iterable[str], _ctx: click.Context, incomplete: str) -> Items:
    return [CompletionItem(word, partial=word.endswith("=")) for word in words if word.startswith(incomplete)]


# -- files --------------------------------------------------------------------------------------------------------


def _files(_ctx: click.Context, incomplete: str) -> Items:
    return [CompletionItem(incomplete, type="file")]


def _folders(_ctx: click.Context, incomplete: str) -> Items:
    return [CompletionItem(incomplete, type="dir")]


# -- the archive --------------------------------------------------------------------------------------------------


def _archive(ctx: click.Context) -> Archive:
    from webarc.archive.store import Archive

    return Archive(ctx.ensure_object(Context).archive_path())


def _domains(ctx: click.Context, incomplete: str) -> Items:
    return _items(_domains_from(ctx, incomplete))


def _urls(ctx: click.Context, incomplete: str) -> Items:
    """URLs as they are typed: with a scheme or without; before the first slash behind the host, domains."""
    scheme, mark, rest = incomplete.partition("://")
    before = f"{scheme}{mark}" if mark else ""
    if mark and before.lower() not in _SCHEMES:
        return []
    if "/" not in (rest if mark else incomplete):
        found = _domains_from(ctx, rest if mark else incomplete)
        offered = [Beginning(f"{before}{each.text}{'/' * each.is_whole}", False) for each in found]
        if incomplete and not mark:
            offered += [Beginning(each, False) for each in _SCHEMES if each.startswith(incomplete)]
        return _items(offered)
    if mark:
        return _items(_urls_from(ctx, incomplete))
    return _items(
        Beginning(each.text.removeprefix(known), each.is_whole)
        for known in _SCHEMES
        for each in _urls_from(ctx, known + incomplete)
    )


def _places(ctx: click.Context, incomplete: str) -> Items:
    """A domain or a URL."""
    return [*_domains(ctx, incomplete), *_urls(ctx, incomplete)]


def _sources(ctx: click.Context, incomplete: str) -> Items:
    return [*_urls(ctx, incomplete), *([] if "://" in incomplete else _files(ctx, incomplete))]


def _items(found: Iterable[Beginning]) -> Items:
    """Each once; what a terminal cannot show is not offered."""
    return [
        CompletionItem(each.text, partial=not each.is_whole) for each in dict.fromkeys(found) if each.text.isprintable()
    ]


def _domains_from(ctx: click.Context, start: str) -> list[Beginning]:
    with suppress(Exception):
        return beginnings(SortedList(_archive(ctx).domains()), start)
    return []


def _urls_from(ctx: click.Context, start: str) -> list[Beginning]:
    from webarc.archive.layout import arc_of
    from webarc.sql.completion import known_urls

    with suppress(Exception):
        domain = start.partition("://")[2].partition("/")[0]
        with known_urls(_index_file(ctx), domain, arc_of) as urls:
            return beginnings(urls, start)
    return []


def _index_file(ctx: click.Context) -> Path:
    """The file of the index; the URLs of an index on a server are not offered, as it may be slow to answer."""
    named: str | None = ctx.ensure_object(Context).settings()["database"]
    return Path(named.removeprefix("sqlite:///")) if named else _archive(ctx).index_file


def _schedules(ctx: click.Context, incomplete: str) -> Items:
    from webarc.sql.completion import schedule_names

    with suppress(Exception):
        return _words(schedule_names(_archive(ctx).state_file), ctx, incomplete)
    return []


# -- settings and commands ----------------------------------------------------------------------------------------


def _filters(ctx: click.Context, incomplete: str) -> Items:
    from webarc.filters.catalog import known

    with suppress(Exception):
        modules = ctx.ensure_object(Context).settings()["filters.modules"]
        return _words([source.name for source in known(modules)], ctx, incomplete)
    return []


def _rules(_ctx: click.Context, incomplete: str) -> Items:
    """The next of the rules of `retain --keep`, which commas part."""
    before, comma, _ = incomplete.rpartition(",")
    return _words([f"{before}{comma}{each}" for each in _RULES if each not in before], _ctx, incomplete)


def _zones(_ctx: click.Context, incomplete: str) -> Items:
    """The two names that are no place, and the places, of which there are some hundreds."""
    from zoneinfo import available_timezones

    return _items(beginnings(SortedList(["CET", "local", *available_timezones() - {"CET", "localtime"}]), incomplete))


def _sets_of_parameters(ctx: click.Context, incomplete: str) -> Items:
    from webarc.archive.query_parameters import SETS

    return _words(SETS, ctx, incomplete)


def _versions(ctx: click.Context, incomplete: str) -> Items:
    """The numbers of the page that is named already, newest first."""
    from webarc.archive.layout import arc_of
    from webarc.archive.urls import canonical, host_of
    from webarc.sql.completion import version_numbers

    with suppress(Exception):
        # Behind an option that still lacks its value click has read no argument.
        text = ctx.params.get("url") or ctx.args[0]
        url = canonical(text if "://" in text else f"{_SCHEMES[0]}{text}")
        return _words(map(str, version_numbers(_index_file(ctx), host_of(url), arc_of(url))), ctx, incomplete)
    return []


def _commands(ctx: click.Context, incomplete: str) -> Items:
    """The commands below those that are named already."""
    place = ctx.find_root().command
    for name in ctx.params.get("names") or ():
        found = place.get_command(ctx, name) if isinstance(place, click.Group) else None
        if found is None:
            return []
        place = found
    return _words(place.list_commands(ctx), ctx, incomplete) if isinstance(place, click.Group) else []


def _config_keys(ctx: click.Context, incomplete: str) -> Items:
    from webarc.config.keys import KEYS

    return [CompletionItem(name, help=key.help) for name, key in KEYS.items() if name.startswith(incomplete)]


_BY_NAME: dict[str, Completer] = {
    "add_filters": _filters,
    "drop_filters": _filters,
    "keep": _rules,
    "zone": _zones,
    "crawl_drop_query": _sets_of_parameters,
    "get number": _versions,
    "show keys": _config_keys,
    "help names": _commands,
    "remove name": _schedules,
    "run names": _schedules,
}
_BY_METAVAR: dict[str, Completer] = {
    "FILE": _files,
    "DIR": _folders,
}
_ARGUMENTS: dict[str, Completer] = {
    "DOMAIN": _domains,
    "URL": _urls,
    "URL|DOMAIN": _places,
    "DOMAIN|URL": _places,
    "SOURCE": _sources,
    "CRAWL OPTIONS] SOURCE": _sources,
}
