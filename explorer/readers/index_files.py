"""The files of a picture index: their names and keys. Their columns are ``index_columns``'s.

::

    manifest.json          the encoder, its preprocessing, the pictures' folder
    rows.parquet           row i: picture i's path, size, time, hash, verdict, captions
    vectors.safetensors    image_vectors (row i: picture i; NaN without one), caption_vectors, caption_digests
    thumbnails/*.bin       JPEGs one after the other; rows.parquet says where each lies
    journal/*.parquet      what a run has done since the files above were written; later ones count

A row's vector counts only where the row's verdict is "ok". Whatever moment a run is killed at, the files and
the journal over them are the truth.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from explorer.core.errors import ExplorerError
from explorer.core.index import FORMAT, VERSION, Manifest
from explorer.core.pictures import digest

MANIFEST, ROWS, VECTORS = "manifest.json", "rows.parquet", "vectors.safetensors"
JOURNAL, THUMBNAILS, LOCK = "journal", "thumbnails", "lock"
IMAGE_VECTORS, CAPTION_VECTORS, CAPTION_DIGESTS = "image_vectors", "caption_vectors", "caption_digests"
PICTURES, CAPTIONS = "pictures", "captions"  # kinds of journal files


def caption_digest(text: str) -> bytes:
    """A caption's key among the caption vectors."""
    return digest(text.encode("utf-8", "surrogatepass"))


def is_index(path: Path) -> bool:
    """Whether a folder is a picture index."""
    return path.is_dir() and _manifest_values(path).get("format") == FORMAT


def is_whole(path: Path) -> bool:
    """Whether a folder is an index that a run has ended."""
    return is_index(path) and bool(_manifest_values(path).get("complete"))


def read_manifest(path: Path) -> Manifest:
    """An index's manifest.

    Raises
    ------
    ExplorerError
        It is none, of a newer version, or damaged.
    """
    values = _manifest_values(path)
    if values.get("format") != FORMAT:
        raise ExplorerError(
            f"{path} is no index of pictures.", "Make one with: embedding-explorer index FOLDER -o INDEX."
        )
    if values.get("version") != VERSION:
        raise ExplorerError(f"{path.name} was made by another version of this program.", "Index anew.")
    try:
        return Manifest.from_json(values)
    except ValueError as error:
        raise ExplorerError(
            f"{path.name} is damaged: its manifest cannot be read.", detail=str(error)
        ) from error


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


def _manifest_values(path: Path) -> dict[str, Any]:
    try:
        with (path / MANIFEST).open("rb") as file:
            values = json.loads(file.read(64 << 20))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
