"""The files of a picture index: their names and keys. Their columns are ``index_columns``'s.

::

    manifest.json          the encoder, its preprocessing, the pictures' folder
    rows.parquet           row i: picture i's path, size, time, hash, verdict, captions
    vectors.safetensors    image_vectors (row i: picture i; NaN without one), image_digests (its content),
                           caption_vectors, caption_digests; a copy of the manifest
    thumbnails/*.bin       JPEGs one after the other; rows.parquet says where each lies
    journal/*.parquet      what a run has done since the files above were written; later ones count

A row's vector counts only where the row's verdict is "ok" and its digest is the row's hash: no vector comes
to another picture, whatever becomes of one of the files. Whatever moment a run is killed at, the files and
the journal over them are the truth.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from explorer.core.errors import ExplorerError
from explorer.core.index import FORMAT, VERSION, Manifest
from explorer.core.pictures import digest

MANIFEST, ROWS, VECTORS = "manifest.json", "rows.parquet", "vectors.safetensors"
JOURNAL, THUMBNAILS, LOCK = "journal", "thumbnails", "lock"
IMAGE_VECTORS, IMAGE_DIGESTS = "image_vectors", "image_digests"
CAPTION_VECTORS, CAPTION_DIGESTS = "caption_vectors", "caption_digests"
PICTURES, CAPTIONS = "pictures", "captions"  # kinds of journal files


class IndexDamaged(ExplorerError):  # noqa: N818 - named for what happened
    """A file of an index cannot be what a run has written: the next run makes anew what is lost.

    Parameters
    ----------
    path : Path
        The index.
    what : str
        What is wrong, as the rest of the sentence.
    detail : str
    """

    def __init__(self, path: Path, what: str, detail: str = "") -> None:
        hint = "Index its folder again to mend it."
        super().__init__(f"The index {path.name} is damaged: {what}.", hint, detail)


def caption_digest(text: str) -> bytes:
    """A caption's key among the caption vectors."""
    return digest(text.encode("utf-8", "surrogatepass"))


def is_index(path: Path) -> bool:
    """Whether a folder is a picture index, be it a damaged one."""
    return path.is_dir() and (_manifest_values(path).get("format") == FORMAT or _has_its_files(path))


def is_whole(path: Path) -> bool:
    """Whether a folder is an index that a run has ended."""
    values = _manifest_values(path)
    return values.get("format") == FORMAT and bool(values.get("complete"))


def read_manifest(path: Path) -> Manifest:
    """An index's manifest.

    Raises
    ------
    ExplorerError
        It is none, of a newer version, or (``IndexDamaged``) damaged.
    """
    values = _manifest_values(path)
    if values.get("format") != FORMAT:
        if _has_its_files(path):
            raise IndexDamaged(path, f"{MANIFEST} cannot be read")
        raise ExplorerError(
            f"{path} is no index of pictures.", "Make one with: embedding-explorer index FOLDER -o INDEX."
        )
    if values.get("version") != VERSION:
        raise ExplorerError(f"{path.name} was made by another version of this program.", "Index anew.")
    try:
        return Manifest.from_json(values)
    except ValueError as error:
        raise IndexDamaged(path, f"{MANIFEST} cannot be read", str(error)) from error


def recovered_manifest(path: Path) -> Manifest | None:
    """An index's manifest, or the copy of it that its vectors carry; None without either.

    Raises
    ------
    ExplorerError
        It is no index, or of a newer version.
    """
    try:
        return read_manifest(path)
    except IndexDamaged:
        return manifest_of_vectors(path)


def manifest_of_vectors(path: Path) -> Manifest | None:
    """The manifest that an index's file of vectors was written with; None where it carries none."""
    # Seldom needed, and this module is imported when the program starts.
    from explorer.readers import safetensors_file

    with suppress(ExplorerError, OSError, ValueError, KeyError, TypeError):
        header, _ = safetensors_file.read_header(path / VECTORS)
        return Manifest.from_json(json.loads(header["__metadata__"][MANIFEST]))
    return None


def pictures_folder(path: Path, manifest: Manifest) -> Path:
    """Where the pictures lie: where they lay, or else beside the index as they did."""
    recorded, beside = Path(manifest.folder), path / manifest.folder_beside
    return beside.resolve() if not recorded.is_dir() and beside.is_dir() else recorded


def journal_files(path: Path, kind: str) -> list[Path]:
    """An index's journal files of one kind, in the order in which they were written."""
    return sorted((path / JOURNAL).glob(f"{kind}-*.parquet"))


def shown_path(stored: bytes) -> str:
    """A stored path as text, with lone surrogates where bytes are none."""
    return os.fsdecode(stored)


def _has_its_files(path: Path) -> bool:
    """Whether a folder holds what every index holds beside its manifest."""
    folders = (path / JOURNAL).is_dir() and (path / THUMBNAILS).is_dir()
    return folders and (path / LOCK).exists() and ((path / ROWS).exists() or (path / VECTORS).exists())


def _manifest_values(path: Path) -> dict[str, Any]:
    try:
        with (path / MANIFEST).open("rb") as file:
            values = json.loads(file.read(64 << 20))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
