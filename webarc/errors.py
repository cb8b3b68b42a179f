"""Every error that webarc raises on purpose, and the exit code each one leads to.

    WebarcError                 1   anything else that went wrong
      UsageProblem              2   the command line asks for something impossible
        BadURL                      a URL that no browser would load, or that is not http(s)
        NotAnArchive                the folder holds no webarc archive
        UnknownFilter               a filter name that nothing provides
        UnknownDomain               a domain that the archive does not have
        UnknownURL                  a URL that the archive does not have
        NoSuchVersion               a page that has no version of that number, time or commitTag
        BadTime                     a time that cannot be read
        BadExpression               a condition that cannot be read or is not allowed
      ConfigProblem             2   the config file is wrong (with --strict-config)
      StorageProblem            3   reading or writing files failed
        NoSpace                     the disk is full
        GitProblem                  git refused or failed
        RsyncProblem                rsync failed
        DatabaseProblem             the index could not be read or written
      NetworkProblem            4   no usable answer came over the network
        AddressRefused              the address is private and nobody allowed it
      AuthenticationProblem     6   the server wants (other) credentials
      ServerAnswer              8   the server answered with an error
      Damaged                  11   stored data is not what it must be
        BadDocument                 a data.xml or a report cannot be read or is not valid
      Locked                   12   another living process holds the lock
      Stopped                  13   a limit or the user ended the work early

The message is one sentence: what happened and what to do next. Codes 10 (repaired)
and 20 (something is new or changed, if somebody asked to be told so) are results, not errors.
"""

from __future__ import annotations

from typing import ClassVar

# What a command ends with that found something new or changed, if it was asked to say so.
CHANGED = 20
MEANINGS = {
    0: "fine",
    1: "something else went wrong",
    2: "usage or configuration",
    3: "file input or output",
    4: "network",
    6: "authentication",
    8: "the server answered with an error",
    10: "repaired",
    11: "damaged",
    12: "locked",
    13: "stopped early",
    CHANGED: "something is new or changed",
}


class WebarcError(Exception):
    """Anything that went wrong; the root of the tree above."""

    exit_code: ClassVar[int] = 1


class UsageProblem(WebarcError):
    """The command line asks for something impossible."""

    exit_code = 2


class BadURL(UsageProblem):
    """A URL that no browser would load, or that is not http or https."""


class NotAnArchive(UsageProblem):
    """The folder holds no webarc archive."""


class UnknownFilter(UsageProblem):
    """A filter name that nothing provides."""


class UnknownDomain(UsageProblem):
    """A domain that the archive does not have."""


class UnknownURL(UsageProblem):
    """A URL that the archive does not have."""


class NoSuchVersion(UsageProblem):
    """A page that has no version of that number, time or commitTag."""


class BadTime(UsageProblem):
    """A time that cannot be read."""


class BadExpression(UsageProblem):
    """A condition that cannot be read or is not allowed."""


class ConfigProblem(WebarcError):
    """The config file is wrong."""

    exit_code = 2


class StorageProblem(WebarcError):
    """Reading or writing files failed."""

    exit_code = 3


class NoSpace(StorageProblem):
    """The disk is full."""


class GitProblem(StorageProblem):
    """git refused or failed."""


class RsyncProblem(StorageProblem):
    """rsync failed."""


class DatabaseProblem(StorageProblem):
    """The index could not be read or written."""


class NetworkProblem(WebarcError):
    """No usable answer came over the network."""

    exit_code = 4


class AddressRefused(NetworkProblem):
    """The address is private and nobody allowed it."""


class AuthenticationProblem(WebarcError):
    """The server wants credentials, or other ones."""

    exit_code = 6


class ServerAnswer(WebarcError):
    """The server answered with an error."""

    exit_code = 8


class Damaged(WebarcError):
    """Stored data is not what it must be."""

    exit_code = 11


class BadDocument(Damaged):
    """A data.xml or a report cannot be read or is not valid."""


class Locked(WebarcError):
    """Another living process holds the lock."""

    exit_code = 12


class Stopped(WebarcError):
    """A limit or the user ended the work early."""

    exit_code = 13


class Stalled(WebarcError):
    """A crawl came to a standstill and was ended."""


def worst(codes: list[int]) -> int:
    """The exit code of a run: the lowest one that is not zero."""
    return min((code for code in codes if code), default=0)
