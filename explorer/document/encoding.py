"""What encoders have made in a session: an index that grows, classes that were typed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.index import IndexProgress


@dataclass(frozen=True)
class IndexRun:
    """A folder that is being indexed.

    Attributes
    ----------
    folder, index : str
        Paths.
    encoder : str
        Its name.
    progress : IndexProgress
    paused : bool
    """

    folder: str
    index: str
    encoder: str
    progress: IndexProgress
    paused: bool = False


@dataclass(frozen=True, eq=False)
class ZeroShot:
    """The typed class that each row is nearest to.

    Attributes
    ----------
    classes : tuple of str
    codes : int16 array, shape (rows,)
        Numbers of classes; -1 for quarantined rows.
    probability : float32 array, shape (rows,)
        Of that class; where ``trained`` is False the cosine.
    trained : bool
        The encoder has a trained temperature.
    """

    classes: tuple[str, ...]
    codes: NDArray[np.int16]
    probability: NDArray[np.float32]
    trained: bool = True
