"""The pictures that a table's rows carry: an index's own, or files that its names or a column speak of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.labels import Labels
from explorer.core.pictures import Pictures
from explorer.readers.pictures import SUFFIXES

_COLUMNS = re.compile(r"(image|img|picture|photo|file)s?([_ ]?(name|file|path))?|path", re.IGNORECASE)
_SAMPLE = 40  # names that are looked at
_MOSTLY = 0.8  # of which have to look like a picture's
_MOST_FOLDERS = 20  # beside the table that are looked into


def pictures_of(
    path: Path, labels: Labels | None, metadata: Mapping[str, NDArray], rows: int
) -> Pictures | None:
    """The picture files that a table's rows are named by, where they lie beside the table's file.

    Parameters
    ----------
    path : Path
        The table's file or folder.
    labels : Labels or None
    metadata : mapping of str to array
        Columns such as ``path``, ``file_name`` or ``image`` can name them, too.
    rows : int

    Returns
    -------
    Pictures or None
        None where nothing names any file that is there.
    """
    columns = [labels] if labels is not None else []
    columns += [
        _labels_of(values, name)
        for name, values in metadata.items()
        if _COLUMNS.fullmatch(name) and values.dtype.kind in "OU" and _look_like_pictures(values)
    ]
    for names in columns:
        sample = [names[row] for row in _sampled(rows) if not names.missing[row]]
        if not _look_like_pictures(sample):
            continue
        folder = _folder_of(sample, path)
        if folder is not None:
            return Pictures(folder, names)
    return None


def _sampled(rows: int) -> list[int]:
    return np.unique(np.linspace(0, rows - 1, _SAMPLE).astype(int)).tolist() if rows else []


def _look_like_pictures(names: Sequence[str] | NDArray) -> bool:
    """Whether most of some names end as picture files do."""
    step = max(1, len(names) // _SAMPLE)
    texts = [str(name) for name in names[::step] if isinstance(name, str) and name]
    fitting = sum(name[name.rfind(".") :].lower() in SUFFIXES for name in texts)
    return bool(texts) and fitting >= _MOSTLY * len(texts)


def _folder_of(names: list[str], path: Path) -> Path | None:
    """The folder that most names are seen from: where the table lies, or a folder beside it."""
    home = path.absolute().parent
    try:
        beside = sorted(entry for entry in home.iterdir() if entry.is_dir())[:_MOST_FOLDERS]
    except OSError:
        beside = []
    for folder in (home, *beside):
        if any(_is_file(folder / name) for name in names[:_MOST_FOLDERS]):
            return folder
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _labels_of(values: NDArray, name: str) -> Labels:
    return Labels.from_texts((text if isinstance(text, str) and text else None for text in values), name)
