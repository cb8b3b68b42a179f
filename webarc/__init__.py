"""webarc crawls web sites and keeps every version of every file in plain folders under git."""

__version__ = "0.1.0"
