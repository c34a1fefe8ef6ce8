"""Reads a picture index: a table of its pictures and, with captions, one of theirs and one of both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.table import MODALITY, EmbeddingTable, OpenedFile, Role
from explorer.readers.arrow_labels import joined
from explorer.readers.index_files import CAPTION_VECTORS, IMAGE_VECTORS, is_index
from explorer.readers.picture_index import PictureIndex, open_index, state_notes

BOTH_VECTORS = "pictures_and_captions"
PICTURE, CAPTION = "picture", "caption"
FILE_NAMES = "file names"
"""Where the labels of pictures come from."""


def sniff(path: Path, head: bytes) -> bool:
    """Whether a folder is an index."""
    return not head and is_index(path)


def read(path: Path) -> OpenedFile:
    """Open an index as a table of image vectors and, with captions, one of theirs and one of both.

    Raises
    ------
    ExplorerError
    """
    index = open_index(path)
    if not len(index):
        raise ExplorerError(f"The index {path.name} holds no pictures yet.")
    made_by = index.manifest.encoder
    tables = [_image_table(index)]
    if len(index.caption_labels):
        tables += [_caption_table(index), _joint_table(index)]
    return OpenedFile(path, f"picture index made by {made_by.name}", tuple(tables), manifest=index.manifest)


def _image_table(index: PictureIndex) -> EmbeddingTable:
    return EmbeddingTable(
        IMAGE_VECTORS,
        len(index),
        index.dim,
        "float32",
        Role.IMAGES,
        index.vectors,
        labels=index.labels(),
        metadata={"verdict": _texts(index.rows["verdict"]), "caption": _first_captions(index)},
        notes=tuple(state_notes(index)),
        encoder=index.manifest.encoder,
        first_twin=index.first_twin,
        pictures=index.pictures,
    )


def _caption_table(index: PictureIndex) -> EmbeddingTable:
    owners = index.owners
    return EmbeddingTable(
        CAPTION_VECTORS,
        len(owners),
        index.dim,
        "float32",
        Role.OTHER,
        lambda: index.caption_vectors()[0],
        labels=index.caption_labels,
        metadata={"picture": owners},
        encoder=index.manifest.encoder,
        pictures=lambda: index.pictures(owners),
    )


def _joint_table(index: PictureIndex) -> EmbeddingTable:
    """Pictures, then captions: two clouds of one space."""
    owners = np.concatenate([np.arange(len(index)), index.owners])
    modality = np.repeat(np.array([PICTURE, CAPTION], object), (len(index), len(index.owners)))
    return EmbeddingTable(
        BOTH_VECTORS,
        len(owners),
        index.dim,
        "float32",
        Role.JOINT,
        lambda: np.concatenate([index.vectors(), index.caption_vectors()[0]]),
        labels=joined(index.labels(), index.caption_labels, "file names and captions"),
        metadata={MODALITY: modality, "picture": owners},
        notes=tuple(state_notes(index)),
        encoder=index.manifest.encoder,
        first_twin=np.concatenate([index.first_twin, np.arange(len(index), len(owners))]),
        pictures=lambda: index.pictures(owners),
    )


def _texts(column: pa.ChunkedArray) -> NDArray:
    """A column of few different texts as an object array."""
    codes = column.combine_chunks().dictionary_encode()
    texts: NDArray = np.array(codes.dictionary.to_pylist(), object)[codes.indices.to_numpy()]
    return texts


def _first_captions(index: PictureIndex) -> NDArray:
    """Each row's first caption; empty where it has none."""
    starts, found = index.caption_starts, np.full(len(index), "", object)
    with_any = np.flatnonzero(starts[1:] > starts[:-1])
    texts = index.rows["captions"].combine_chunks().flatten().take(pa.array(starts[with_any]))
    found[with_any] = texts.to_pylist()
    return found
