"""Making files outlive a power cut."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folders(*folders: Path) -> None:
    """Make the names in folders durable; those that do not exist are passed over."""
    for folder in folders:
        if folder.is_dir():
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
