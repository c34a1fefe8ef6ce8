"""Saving from a widget: asking where, writing, and telling how it went."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.commands.notices import Notices
from explorer.core.errors import ExplorerError

CSV = "Comma-separated values (*.csv)"


def ask_for_csv(parent: QWidget, title: str, name: str) -> Path | None:
    """Have the person name a CSV file; None where it is called off."""
    path, _ = QFileDialog.getSaveFileName(parent, title, name, CSV)
    return Path(path) if path else None


def with_ending(path: Path, ending: str, known: Collection[str], suggested: str = "") -> Path:
    """The file that is written for a name: with the ending of the form that was chosen, where it has none.

    Nobody was asked whether a file of that other name may be replaced: one that is there stays, and the
    new one gets a number.

    Parameters
    ----------
    path : Path
    ending : str
        Of the form that was chosen.
    known : collection of str
        The endings that say a form by themselves, whatever was chosen.
    suggested : str
        The ending that the dialog suggested: nobody may have meant it.
    """
    suffix = path.suffix.lower()
    if suffix == ending or (suffix in known and suffix != suggested):
        return path
    stem = path.name.removesuffix(path.suffix) if suffix in known else path.name
    names = (f"{stem}{ending}", *(f"{stem} {number}{ending}" for number in range(2, 1000)))
    return next((free for name in names if not (free := path.with_name(name)).exists()), path)


def save_and_tell(notices: Notices, path: Path, write: Callable[[], None]) -> None:
    """Write a file; say in the notice bar where it lies now, or why it could not be written."""
    try:
        write()
    except ExplorerError as error:
        notices.error(error)
    else:
        notices.tell(f"Saved {path.name} in {path.parent}.")
