"""Why a URL is not asked for: of several reasons the report names one, whichever page came first."""

from __future__ import annotations

_FIRST_COME_THE_LASTING_ONES = (
    *("owned-elsewhere", "excluded", "scope", "parent", "not-included"),
    *("depth", "requisite", "nofollow"),
)
# More than any rank.
UNKNOWN = 1 << 10


def rank(url: str, reason: str) -> int:
    """The lowest rank is the one to name; a page over https comes before the same over http."""
    known = reason in _FIRST_COME_THE_LASTING_ONES
    place = _FIRST_COME_THE_LASTING_ONES.index(reason) if known else len(_FIRST_COME_THE_LASTING_ONES)
    return 2 * place + url.startswith("http:")
