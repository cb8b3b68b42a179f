"""Parameters that are taken out of URLs: `--drop-query`, for those that say who asks and not what is asked for."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote_plus

from webarc.archive.urls import canonical

# What many sites use, by the names of the sets; upper and lower case do not matter in these.
SETS = {
    "tracking": (
        *("utm_*", "mtm_*", "hsa_*", "__hs*", "_hs*", "matomo_*", "piwik_*", "pk_campaign", "pk_kwd", "pk_keyword"),
        *("pk_source", "pk_medium", "pk_content", "pk_cid", "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid"),
        *("srsltid", "_ga", "_gl", "msclkid", "yclid", "ysclid", "_openstat", "twclid", "ttclid", "li_fat_id"),
        *("igsh", "igshid", "epik", "sccid", "mc_cid", "mc_eid", "mkt_tok", "oly_anon_id", "oly_enc_id", "rb_clickid"),
        *("vero_id", "vero_conv", "wickedid", "s_cid", "wt_mc", "wt_zmc", "at_campaign", "at_medium", "ns_campaign"),
        *("guce_referrer", "guce_referrer_sig", "hsctatracking", "cmpid", "irclickid"),
    ),
    "session": (
        *("jsessionid", "phpsessid", "phpsessionid", "sid", "sessid", "sessionid", "session_id", "aspsessionid*"),
        *("asp.net_sessionid", "cfid", "cftoken", "oscsid", "xtcsid", "modsid", "zenid", "bv_sessionid"),
        *("bv_engineid", "sesskey", "sessionkey"),
    ),
}
# HTML 4 let `;` stand for `&`; so it does only where another name follows, else it is part of a value.
_SEPARATOR = re.compile(r"(&|;(?=[^&;=]+=))")
_PATH_PARAMETER = re.compile(r";([^/;=]+)=[^/;]*")
_MOST_NAMES = 4_096


class DroppedParameters:
    """Takes parameters out of canonical URLs, from the query and, as `;name=value`, from the path; all else stays."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        wanted = list(names)
        known = [name for each in wanted for name in SETS.get(each, ())]
        given = [name for name in wanted if name not in SETS]
        parts = [fnmatch.translate(name) for name in given] + [f"(?i:{fnmatch.translate(name)})" for name in known]
        self._pattern = re.compile("|".join(parts)) if parts else None
        self._is_dropped = lru_cache(maxsize=_MOST_NAMES)(self._matches)

    def __bool__(self) -> bool:
        return self._pattern is not None

    def cleaned(self, url: str) -> str:
        """The URL without those parameters."""
        if self._pattern is None or ("?" not in url and ";" not in url):
            return url
        before, mark, query = url.partition("?")
        if mark:
            query, mark = self._query(query, mark)
        start = before.index("/", before.index("//") + 2)
        path = self._path(before[start:]) if ";" in before else before[start:]
        cleaned = before[:start] + path + mark + query
        # What is left of `..;sid=1` means another place.
        return canonical(cleaned) if path != before[start:] else cleaned

    def cleaned_all(self, urls: Sequence[str]) -> Sequence[str]:
        """The same for many, each once."""
        return list(dict.fromkeys(map(self.cleaned, urls))) if self else urls

    def _query(self, query: str, mark: str) -> tuple[str, str]:
        pieces = _SEPARATOR.split(query)
        kept: list[str] = []
        for separator, piece in zip(["", *pieces[1::2]], pieces[::2], strict=True):
            if not self._is_dropped(piece.partition("=")[0]):
                kept += (separator, piece) if kept else ("", piece)
        left = "".join(kept)
        return left, mark if left or left == query else ""

    def _path(self, path: str) -> str:
        return _PATH_PARAMETER.sub(lambda found: "" if self._is_dropped(found.group(1)) else found.group(), path)

    def _matches(self, name: str) -> bool:
        assert self._pattern is not None
        return bool(name) and self._pattern.match(unquote_plus(name)) is not None
