"""What a filter is: a callable or an object with `keep`, given a path, that answers whether the file stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

from webarc.errors import ConfigProblem

Keep = Callable[[Path], bool]


class Filter(Protocol):
    """A filter with settings of its own: constructed once per crawl with what `filters/NAME.toml` says."""

    def __init__(self, settings: Mapping[str, Any]) -> None: ...

    def keep(self, path: Path) -> bool:
        """Whether the file at this path stays; `layout.url_of(path)` is its URL."""
        ...


def keep_all(path: Path) -> bool:
    """Keeps everything; stands in for a filter whose `keeps_all` is true, so that it need not be asked."""
    return True


class FilterSettings:
    """A filter's own settings, read with types; what is wrong is named together with the filter."""

    def __init__(self, name: str, settings: Mapping[str, Any], known: tuple[str, ...]) -> None:
        self._name = name
        self._settings = settings
        for key in settings:
            if key not in known:
                self._refuse(f"has no setting {key!r}; it knows {', '.join(known)}")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; missing means none."""
        value = self._settings.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._refuse(f"wants a list of texts for {key!r}")
        return tuple(value)

    def size(self, key: str) -> int | None:
        """A size such as 100M; missing or "none" means None."""
        from webarc.config import kinds

        kind = kinds.size(optional=True)
        try:
            return kind.read(self._settings.get(key, "none"))  # type: ignore[no-any-return]
        except ValueError:
            self._refuse(f"wants {kind.wanted} for {key!r}")

    def duration(self, key: str, default: float) -> float:
        """A duration such as 500ms."""
        from webarc.config import kinds

        kind = kinds.duration()
        try:
            return kind.read(self._settings.get(key, default))  # type: ignore[no-any-return]
        except ValueError:
            self._refuse(f"wants {kind.wanted} for {key!r}")

    def _refuse(self, what: str) -> NoReturn:
        raise ConfigProblem(f"the filter {self._name!r} {what}; mend filters/{self._name}.toml.")
