"""The options of a crawl, made from the one table of settings, so that neither can say what the other does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from webarc.config.keys import KEYS, Key

Command = TypeVar("Command", bound=Callable[..., Any])

_SHORT = {
    "crawl.depth": "-l",
    "crawl.page_requisites": "-p",
    "crawl.no_parent": "-np",
    "crawl.wait": "-w",
    "crawl.user_agent": "-U",
    "crawl.quota": "-Q",
    "crawl.timeout": "-T",
    "crawl.tries": "-t",
    "crawl.jobs": "-j",
}
# Other names of wget's for the same.
_ALIASES = {
    "crawl.depth": "--level",
    "crawl.include": "--accept-regex",
    "crawl.exclude": "--reject-regex",
    "crawl.http_user": "--user",
    "crawl.http_password": "--password",
}
_METAVAR = {
    "crawl.depth": "N|inf",
    "crawl.headers": "LINE",
    "crawl.include": "RE",
    "crawl.exclude": "RE",
    "crawl.drop_query": "NAME",
    "crawl.accept_type": "TYPE",
    "crawl.reject_type": "TYPE",
    "crawl.load_cookies": "FILE",
    "crawl.scope": "page|prefix|host|domain|any",
    "crawl.prune": "gone|unreached|never",
    "crawl.engine": "webarc|wget",
    "crawl.proxy": "URL",
    "crawl.user_agent": "NAME",
    "crawl.http_user": "NAME",
    "crawl.http_password": "TEXT",
    "crawl.interval": "TIME",
    "crawl.wait": "TIME",
    "crawl.max_time": "TIME",
    "crawl.lock_wait": "TIME",
    "crawl.stall_timeout": "TIME",
    "crawl.timeout": "TIME",
    "crawl.deadline": "TIME",
    "crawl.limit_rate": "SIZE",
    "crawl.max_size": "SIZE",
    "crawl.quota": "SIZE",
}
# How the help shows them together; what is in none of these is among the last.
_SECTIONS = {
    "What is followed": "depth scope no_parent include exclude page_requisites requisites_from_anywhere sitemaps",
    "Manners": "robots wait random_wait connections limit_rate user_agent headers load_cookies http_user http_password "
    "proxy",
    "Limits": "max_pages max_size quota max_time stall_timeout timeout deadline tries max_redirect allow_private",
    "What is kept": "accept_type reject_type add_filters drop_filters prune allow_removals",
    "Output": "report changed_exit_code as_json archive_option quiet help",
}


class CrawlCommand(click.Command):
    """A command whose many options are shown in sections."""

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The records of the options by the title of their section, in the order in which they are shown."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        left = {_section_name(each): each.get_help_record(ctx) for each in options}
        found = {title: [left.pop(name, None) for name in names.split()] for title, names in _SECTIONS.items()}
        last, records = found.popitem()
        found |= {"The run": [*left.values()], last: records}
        return {title: [record for record in records if record] for title, records in found.items()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, section by section."""
        for title, records in self.sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)


def _section_name(option: click.Option) -> str:
    """How an option is called in the table of sections."""
    return "help" if "--help" in option.opts else str(option.name).removeprefix("crawl_")


def crawl_options(command: Command) -> Command:
    """Give a command every option of a crawl."""
    for key in reversed(_keys()):
        command = _option(key)(command)
    return command


def overrides(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were given on the command line."""
    return {key.name: values[_parameter(key)] for key in _keys() if _parameter(key) in values}


def _keys() -> list[Key]:
    return [key for key in KEYS.values() if key.table == "crawl" and key.flag]


def _parameter(key: Key) -> str:
    return key.name.replace(".", "_")


def _option(key: Key) -> Callable[[Command], Command]:
    names = [name for name in (_SHORT.get(key.name), _ALIASES.get(key.name), _parameter(key)) if name]
    if isinstance(key.default, bool) and key.name != "crawl.allow_private":
        spelling = f"{key.flag}/--no-{key.flag[2:]}" if not key.flag.startswith("--no-") else key.flag
        return click.option(spelling, *names, default=None, is_flag=True, help=_help(key))
    if key.name == "crawl.allow_private":
        return click.option(key.flag, *names, default=None, is_flag=True, help=_help(key))
    many = isinstance(key.default, tuple)
    return click.option(
        key.flag, *names, default=None, multiple=many, metavar=_METAVAR.get(key.name, "N"), help=_help(key)
    )


def _help(key: Key) -> str:
    if key.name == "crawl.allow_private":
        return "Let links and redirects lead to private addresses, too; the config file can name single ones."
    shown = key.shown(key.default)
    return f"{key.help} [{shown}]" if shown and not isinstance(key.default, tuple) else key.help
