"""Which reader opens a file: by what the file holds, never by its name alone.

A reader is a module with two functions::

    sniff(path: Path, head: bytes) -> bool
    read(path: Path) -> OpenedFile

``head`` is the first ``HEAD`` bytes of the file, empty for a folder. ``sniff`` is cheap, and True only where
``read`` either succeeds or knows best what is wrong. ``read`` raises ExplorerError and nothing else; it
leaves ``labels`` None where the file itself does not name the rows. Readers are asked in the order of
``READERS``: from the surest mark (a magic number) to the vaguest (text).

Vocabularies are attached afterwards, by ``explorer.readers.vocabulary``.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Protocol

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers import (
    arrays,
    delimited,
    gensim_file,
    hf_folder,
    index_tables,
    json_file,
    json_lines,
    other_kinds,
    parquet_file,
    pickle_file,
    safetensors_file,
    tensorboard,
    torch_legacy,
    torch_zip,
    vocabulary,
    word2vec_binary,
    word_vectors,
)

HEAD = 4096
_MOST_ENTRIES = 2000  # of a folder that are looked at


class Reader(Protocol):
    """What the registry asks of a reader module."""

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether this reader should open the file."""

    def read(self, path: Path) -> OpenedFile:
        """Open the file and list its tables."""


READERS: tuple[Reader, ...] = (
    index_tables,
    other_kinds,
    torch_zip,
    torch_legacy,
    safetensors_file,
    arrays,
    parquet_file,
    hf_folder,
    gensim_file,
    pickle_file,
    json_file,
    json_lines,
    tensorboard,
    word_vectors,
    word2vec_binary,
    delimited,
)


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
    try:
        return vocabulary.attach(
            _read(path),
            labels=None if labels is None else Path(labels),
            target_labels=None if target_labels is None else Path(target_labels),
            header=header,
        )
    except OSError as error:
        raise ExplorerError(f"{path} cannot be read.", detail=str(error)) from error
    except (MemoryError, RecursionError) as error:
        raise ExplorerError(f"{path.name} takes more memory than there is.", detail=str(error)) from error


def _read(path: Path) -> OpenedFile:
    head = _head(path)
    reader = _reader_of(path, head)
    if reader is None and path.is_dir():
        path = _only_checkpoint(path)
        head = _head(path)
        reader = _reader_of(path, head)
    if reader is None:
        raise other_kinds.refuse_unknown(path, head)
    return reader.read(path)


def _reader_of(path: Path, head: bytes) -> Reader | None:
    return next((reader for reader in READERS if reader.sniff(path, head)), None)


def _only_checkpoint(folder: Path) -> Path:
    """The one file of the surest kind in a folder of no special form; the folder itself where there is none.

    Raises
    ------
    ExplorerError
        There are several; they are named.
    """
    found: dict[int, list[Path]] = {}
    for entry in sorted(folder.iterdir())[:_MOST_ENTRIES]:
        if entry.is_file() and not entry.name.startswith("."):
            reader = _reader_of(entry, _head(entry))
            if reader is not None and reader is not other_kinds:
                found.setdefault(READERS.index(reader), []).append(entry)
    if not found:
        return folder
    files = found[min(found)]
    if len(files) > 1:
        names = ", ".join(file.name for file in files[:5]) + (" …" if len(files) > 5 else "")
        name = folder.name or folder.resolve().name
        raise ExplorerError(
            f"The folder {name} holds {len(files)} files that can be opened: {names}.",
            "Open the one you mean, or several at once.",
        )
    return files[0]


def _head(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return b""
        if not stat.S_ISREG(mode):
            raise ExplorerError(f"{path} is neither a file nor a folder.")
        with path.open("rb") as file:
            return file.read(HEAD)
    except FileNotFoundError:
        raise ExplorerError(f"There is no file {path}.") from None
    except ValueError as error:  # a name that no file can have
        raise ExplorerError(f"There is no file {str(path)!r}.") from error
