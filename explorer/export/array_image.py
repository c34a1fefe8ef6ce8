"""Pixels in an array as an image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

_FORMATS = {3: QImage.Format.Format_RGB888, 4: QImage.Format.Format_RGBA8888}


def array_image(pixels: NDArray[np.uint8]) -> QImage:
    """An image that owns its pixels.

    Parameters
    ----------
    pixels : uint8 array, shape (height, width, 3) or (height, width, 4)
        Red, green and blue, and opacity.
    """
    data = np.ascontiguousarray(pixels)
    height, width, channels = data.shape
    return QImage(data.data, width, height, channels * width, _FORMATS[channels]).copy()
