"""Making sure, before hours of work, that its result can be written."""

from __future__ import annotations

import os
from pathlib import Path

from explorer.core.errors import ExplorerError


def require_writable(path: Path) -> None:
    """Make sure that a file can be written here.

    Raises
    ------
    ExplorerError
        Its folder is not there or not to be written to, or the path is a folder itself.
    """
    folder = path.parent
    if not folder.is_dir():
        raise ExplorerError(f"There is no folder {folder} to write {path.name} to.")
    if path.is_dir():
        raise ExplorerError(f"{path} is a folder.", "Name a file.")
    target = path if path.exists() else folder
    if not os.access(target, os.W_OK):
        raise ExplorerError(f"{target} cannot be written to.", "Choose another place.")
