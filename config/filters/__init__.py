"""The settings that ship with the filters, one `NAME.toml` each."""
