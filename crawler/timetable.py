"""Schedules as crontab lines and as a systemd unit, for people who have those anyway."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from webarc.config import units
from webarc.crawler.schedule import CRON
from webarc.sql.state import Schedule

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86400, 604800
_ASK_EVERY = "*/10 * * * *"


def crontab(schedules: Sequence[Schedule], program: Sequence[str], archive: Path) -> str:
    """Lines for `crontab -e` that crawl without webarc's own scheduler; quiet ones, as cron mails what is printed."""
    lines = [f"# Crawls of the archive {archive}; add these lines with `crontab -e`."]
    for schedule in schedules:
        when = schedule.spec if schedule.kind == CRON else _cron_fields(units.duration(schedule.spec))
        if when:
            lines.append(f"# {schedule.name}")
            lines.append(f"{when} {_shell([*program, 'crawl', '-q', *schedule.argv])}")
        else:
            lines.append(f"# {schedule.name}: every {schedule.spec} does not fit cron, so this asks whether it is due.")
            lines.append(f"{_ASK_EVERY} {_shell([*program, 'schedule', 'run', '-q', '--once', schedule.name])}")
    return "\n".join(lines) + "\n"


def systemd(program: Sequence[str], archive: Path) -> str:
    """A user unit that runs webarc's own scheduler."""
    return f"""\
# Save as ~/.config/systemd/user/webarc.service, then: systemctl --user enable --now webarc
[Unit]
Description=Scheduled crawls of the archive {_unit_text(str(archive))}
Wants=network-online.target
After=network-online.target

[Service]
ExecStart={" ".join(_unit_word(word) for word in [*program, "schedule", "run"])}
Restart=on-failure
RestartSec=30
# The scheduler tells its crawls to stop, which commit what is whole and end with 13.
KillMode=mixed
TimeoutStopSec=10min
SuccessExitStatus=13 20

[Install]
WantedBy=default.target
"""


def _cron_fields(seconds: float) -> str:
    """The fields that mean the same as every so many seconds; empty if cron cannot say it."""
    minutes, rest = divmod(seconds, _MINUTE)
    if rest:
        return ""
    if seconds < _HOUR and 60 % minutes == 0:
        return f"*/{minutes:.0f} * * * *"
    if seconds % _HOUR == 0 and seconds < _DAY and 24 % (seconds / _HOUR) == 0:
        return f"0 */{seconds / _HOUR:.0f} * * *"
    return {_DAY: "0 0 * * *", _WEEK: "0 0 * * 0"}.get(int(seconds), "")


def _shell(words: Sequence[str]) -> str:
    """A command for crontab, in which % would end the line."""
    return shlex.join(words).replace("%", r"\%")


def _unit_word(word: str) -> str:
    """One word of a systemd command line, whose quoting is not the shell's."""
    text = _unit_text(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{text}"' if set(text) & set(" '\"\\;") else text


def _unit_text(text: str) -> str:
    return text.replace("%", "%%")
