"""Settings: one table of keys, one order of sources, and units as people write them."""

from webarc.config.settings import Settings, load

__all__ = ["Settings", "load"]
