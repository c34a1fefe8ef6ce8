"""Saving from a widget: asking where, writing, and telling how it went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.commands.notices import Notices
from explorer.core.errors import ExplorerError

CSV = "Comma-separated values (*.csv)"


def ask_for_csv(parent: QWidget, title: str, name: str) -> Path | None:
    """Have the person name a CSV file; None where it is called off."""
    path, _ = QFileDialog.getSaveFileName(parent, title, name, CSV)
    return Path(path) if path else None


def save_and_tell(notices: Notices, path: Path, write: Callable[[], None]) -> None:
    """Write a file; say in the notice bar where it lies now, or why it could not be written."""
    try:
        write()
    except ExplorerError as error:
        notices.error(error)
    else:
        notices.tell(f"Saved {path.name} in {path.parent}.")
