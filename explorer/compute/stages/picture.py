"""A picture as a vision model sees it: brought to its size, cut into patches, normalised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image

from explorer.compute.decoding import within_reason
from explorer.compute.encoders.preprocessing import Preprocessing
from explorer.core.stages import Patches


@dataclass(frozen=True, eq=False)
class Seen:
    """A prepared picture.

    Attributes
    ----------
    pixels : float32 tensor, shape (1, 3, height, width)
        Normalised.
    patches : Patches
        The same before normalising, and its grid.
    """

    pixels: torch.Tensor
    patches: Patches


def see(image: Image.Image, preprocessing: Preprocessing, patch: int, *, class_token: bool) -> Seen:
    """Prepare a picture for a model that cuts it into square patches.

    Parameters
    ----------
    image : PIL.Image.Image
        Upright.
    preprocessing : Preprocessing
    patch : int
        A patch's side in pixels.
    class_token : bool
        Whether the model puts a class token before the patches.
    """
    pixels = preprocessing.prepare(within_reason(image, preprocessing))
    height, width = preprocessing.size
    shown = np.ascontiguousarray(pixels.transpose(1, 2, 0))
    patches = Patches(shown, height // patch, width // patch, class_token)
    return Seen(torch.from_numpy(preprocessing.normalise(pixels))[None], patches)
