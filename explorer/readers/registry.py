"""Which reader opens a file: by what the file holds, never by its name alone.

A reader is a module with two functions::

    sniff(path: Path, head: bytes) -> bool
    read(path: Path) -> OpenedFile

``head`` is the first ``HEAD`` bytes of the file, empty for a folder. ``sniff`` is cheap, and True only where
``read`` either succeeds or knows best what is wrong. ``read`` raises ExplorerError and nothing else; it
leaves ``labels`` None where the file itself does not name the rows. Readers are asked in the order of
``READERS``: from the surest mark (a magic number) to the vaguest (text).

Vocabularies are attached afterwards, by two functions of ``explorer.readers.vocabulary``::

    find_beside(path, tables) -> (tables, notes)
    attach_chosen(tables, labels=..., target_labels=..., header=...) -> (tables, notes)

Both give back the tables in the same order, with labels where a vocabulary fits (token tables and output
layers; ``roles.side_of(name)`` says "source", "target" or None), and leave alone tables that have labels
(``find_beside``) or that the chosen file does not fit in kind. ``attach_chosen`` raises ExplorerError where
the counts do not match.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile

HEAD = 4096


class Reader(Protocol):
    """What the registry asks of a reader module."""

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether this reader should open the file."""

    def read(self, path: Path) -> OpenedFile:
        """Open the file and list its tables."""


READERS: tuple[Reader, ...] = ()


def open_file(
    path: str | Path,
    *,
    labels: str | Path | None = None,
    target_labels: str | Path | None = None,
    header: bool | None = None,
) -> OpenedFile:
    """Recognise a file or folder by its content and list the embedding tables inside.

    Parameters
    ----------
    path : str or Path
    labels : str or Path, optional
        A vocabulary or label file chosen by hand, for the token table (a translator's source side).
    target_labels : str or Path, optional
        The same for a translator's target side.
    header : bool, optional
        Whether a label file's first line is a header; None where nobody has said.

    Returns
    -------
    OpenedFile
        Tables with the likeliest first; vectors are not read yet.

    Raises
    ------
    ExplorerError
        The file is missing, damaged, of no kind known here, or holds no table.
    """
    path = Path(path)
    head = _head(path)
    for reader in READERS:
        if reader.sniff(path, head):
            return reader.read(path)
    raise ExplorerError(f"{path.name} is of no kind that can be opened here.")


def _head(path: Path) -> bytes:
    if path.is_dir():
        return b""
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except FileNotFoundError:
        raise ExplorerError(f"There is no file {path}.") from None
    except OSError as error:
        raise ExplorerError(f"{path} cannot be read.", detail=str(error)) from error
