"""A stage's patches as a table of their own, each with its crop of the picture beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.stages import Patches, Stage
from explorer.export.array_image import array_image
from explorer.export.rows import RowsToSave, write_rows

_LEAST = 32
"""Pixels a side that a crop is enlarged to, so that it can be looked at."""


def write_patches(path: Path, stage: Stage, patches: Patches) -> None:
    """Write a stage's rows, without a class token's, and each patch's pixels as a picture.

    Parameters
    ----------
    path : Path
        A Parquet file; the crops go into a folder of its name beside it.
    stage : Stage
        Of patches, with values of shape (n, dim).
    patches : Patches

    Raises
    ------
    ExplorerError
        The stage has no row for each patch, or the files cannot be written.
    """
    count = patches.rows * patches.columns
    values = stage.values
    if values is None or values.ndim != 2 or len(values) < count:
        raise ExplorerError(f"The stage “{stage.name}” has no row for each patch.", "Choose another stage.")
    folder = path.with_suffix("")
    names = []
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ExplorerError(f"{folder} cannot be written.", detail=str(error)) from error
    for patch in range(count):
        row, column = divmod(patch, patches.columns)
        name = folder / f"patch {row + 1:02},{column + 1:02}.png"
        if not _image(patches.crop(patch)).save(str(name)):
            raise ExplorerError(f"{name} cannot be written.", "Is the disk full?")
        names.append(str(name.relative_to(path.parent)))
    labels = Labels.from_texts([token.label for token in patches.tokens[-count:]], "patches")
    write_rows(
        path,
        RowsToSave(
            np.arange(count), labels, metadata={"image": np.array(names, np.str_)}, vectors=values[-count:]
        ),
    )


def _image(pixels: np.ndarray) -> QImage:
    height, width = pixels.shape[:2]
    times = max(1, -(-_LEAST // max(min(height, width), 1)))
    return array_image(pixels.repeat(times, axis=0).repeat(times, axis=1))
