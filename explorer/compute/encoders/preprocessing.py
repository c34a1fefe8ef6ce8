"""How a picture becomes the pixels that an encoder was trained on. Needs no torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Resize = Literal["shortest", "squash", "longest", "none"]

CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
HALF = (0.5, 0.5, 0.5)
_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
    "box": Image.Resampling.BOX,
    "hamming": Image.Resampling.HAMMING,
}
_LARGEST = 8192  # pixels a side


@dataclass(frozen=True)
class Preprocessing:
    """The way from a picture to an encoder's input; plain values, so that it can be stored and sent.

    Attributes
    ----------
    size : tuple of int
        Height and width of what the encoder sees, in pixels.
    resize : {"shortest", "squash", "longest", "none"}
        ``shortest``: the shorter side is made to fit and the middle cut out; ``squash``: both sides are made
        to fit; ``longest``: the longer side is made to fit and the rest filled; ``none``: only cut.
    interpolation : str
        Pillow's filter: nearest, bilinear, bicubic, lanczos, box or hamming.
    mean, std : tuple of float
        Of each channel, after scaling.
    scale : float
        By which a pixel's 0 to 255 is multiplied first.
    edge : int or None
        Length of the shorter side after resizing, where it is not that of ``size``.
    antialias : bool
        Whether the filter widens when it shrinks, as Pillow's do and OpenCV's do not. Without, the filter is
        bilinear.
    crop_half : {"down", "even"}
        Where the middle lies between two pixels: Hugging Face rounds down, torchvision to the even one.
    fill : int
        Grey value, 0 to 255, where the picture does not reach.
    """

    size: tuple[int, int]
    resize: Resize = "shortest"
    interpolation: str = "bicubic"
    mean: tuple[float, float, float] = CLIP_MEAN
    std: tuple[float, float, float] = CLIP_STD
    scale: float = 1 / 255
    edge: int | None = None
    antialias: bool = True
    crop_half: Literal["down", "even"] = "down"
    fill: int = 0

    def __post_init__(self) -> None:
        sides = (*self.size, *(() if self.edge is None else (self.edge,)))
        if not all(type(side) is int and 0 < side <= _LARGEST for side in sides):
            raise ValueError(f"a picture of {sides} pixels")
        if self.interpolation not in _FILTERS:
            raise ValueError(f"an unknown filter {self.interpolation!r}")
        if not all(len(three) == 3 and all(map(math.isfinite, three)) for three in (self.mean, self.std)):
            raise ValueError("mean and std are no three numbers")
        if not math.isfinite(self.scale) or not all(self.std):
            raise ValueError("scale or std is of no use")

    def prepare(self, image: Image.Image) -> NDArray[np.uint8]:
        """Bring a picture to the encoder's size and cut.

        Parameters
        ----------
        image : PIL.Image.Image
            Upright, of any size; modes other than RGB are converted as Pillow does.

        Returns
        -------
        uint8 array, shape (3, height, width)
            Not yet normalised: a quarter of the bytes to hand over; the encoder does the rest on its device.
        """
        image = image if image.mode == "RGB" else image.convert("RGB")
        image = self._cut(self._resized(image))
        return np.ascontiguousarray(np.asarray(image, np.uint8).transpose(2, 0, 1))

    def normalise(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What the encoder computes from ``prepare``'s pixels before its first layer, shape kept."""
        factor, shift = self.coefficients
        column = (-1, 1, 1)
        scaled = pixels.astype(np.float32) * np.array(factor, np.float32).reshape(column)
        return scaled + np.array(shift, np.float32).reshape(column)

    @property
    def coefficients(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Factor and shift of each channel: ``pixel * factor + shift`` is normalised."""
        factor = tuple(self.scale / std for std in self.std)
        return factor, tuple(-mean / std for mean, std in zip(self.mean, self.std, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a manifest."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Preprocessing:
        """What ``to_json`` gave.

        Raises
        ------
        ValueError
            The values are not of that form.
        """
        try:
            known = {field.name: values[field.name] for field in fields(cls) if field.name in values}
            for name in ("size", "mean", "std"):
                if name in known:
                    known[name] = tuple(known[name])
            return cls(**known)
        except (TypeError, KeyError) as error:
            raise ValueError(f"no preprocessing: {error}") from error

    def _resized(self, image: Image.Image) -> Image.Image:
        size = self._new_size(*image.size)
        if size == image.size:
            return image
        if self.antialias:
            return image.resize(size, _FILTERS[self.interpolation])
        return _sampled(image, size)

    def _new_size(self, width: int, height: int) -> tuple[int, int]:
        if self.resize == "none":
            return width, height
        high, wide = self.size
        if self.resize == "squash":
            return wide, high
        if self.resize == "longest":
            shrink = max(height / high, width / wide)
            return max(1, round(width / shrink)), max(1, round(height / shrink))
        if high != wide and self.edge is None:
            shrink = min(height / high, width / wide)
            return max(wide, round(width / shrink)), max(high, round(height / shrink))
        edge = high if self.edge is None else self.edge
        # Rounded down, as Hugging Face and torchvision do.
        return (edge, int(edge * height / width)) if width <= height else (int(edge * width / height), edge)

    def _cut(self, image: Image.Image) -> Image.Image:
        high, wide = self.size
        width, height = image.size
        if (width, height) == (wide, high):
            return image
        left, top = self._half(width - wide), self._half(height - high)
        if left >= 0 and top >= 0:
            return image.crop((left, top, left + wide, top + high))
        canvas = Image.new("RGB", (wide, high), (self.fill, self.fill, self.fill))
        canvas.paste(image, (-left, -top))
        return canvas

    def _half(self, spare: int) -> int:
        return round(spare / 2) if self.crop_half == "even" else spare // 2


def _sampled(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Bilinear sampling of the four pixels around each place, whatever the scale, as OpenCV resizes."""
    wide, high = size
    pixels = np.asarray(image)
    first, second, weight = _around(pixels.shape[0], high)
    rows = pixels[first] * (1 - weight)[:, None, None] + pixels[second] * weight[:, None, None]
    first, second, weight = _around(pixels.shape[1], wide)
    sampled = rows[:, first] * (1 - weight)[:, None] + rows[:, second] * weight[:, None]
    return Image.fromarray(np.rint(sampled).astype(np.uint8))


def _around(old: int, new: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """For each new place along an axis, the two old ones beside it and the second one's weight."""
    place = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
    first = np.floor(place).astype(np.intp)
    return first, np.minimum(first + 1, old - 1), (place - first).astype(np.float32)


def from_hugging_face(config: Mapping[str, Any], default: Preprocessing) -> Preprocessing:
    """What a ``preprocessor_config.json`` says.

    Parameters
    ----------
    config : mapping
        The file's values; empty where there is none.
    default : Preprocessing
        Of the model's family, for what the file leaves out.

    Raises
    ------
    ValueError
        A value is of no use.
    """
    wished, crop = config.get("size"), config.get("crop_size")
    edge, cut = _edge(wished), _sides(crop)
    crops = bool(config.get("do_center_crop", default.resize == "shortest"))
    resize: Resize = default.resize
    size = default.size
    if not config.get("do_resize", True):
        resize, size, edge = "none", cut or _sides(wished) or default.size, None
    elif edge is not None and crops:
        resize, size = "shortest", cut or (edge, edge)
    elif (both := _sides(wished)) is not None:
        resize, size = "squash", both
        if crops and cut is not None and cut != both:
            raise ValueError("resized to one size and then cut to another")
    elif cut is not None:
        size = cut
    filters = {int(value): name for name, value in _FILTERS.items()}
    scale = float(config.get("rescale_factor", default.scale)) if config.get("do_rescale", True) else 1.0
    normalises = config.get("do_normalize", True)
    return Preprocessing(
        size=size,
        resize=resize,
        interpolation=filters[int(config["resample"])] if "resample" in config else default.interpolation,
        mean=_three(config.get("image_mean", default.mean)) if normalises else (0.0, 0.0, 0.0),
        std=_three(config.get("image_std", default.std)) if normalises else (1.0, 1.0, 1.0),
        scale=scale,
        edge=edge if resize == "shortest" and size != (edge, edge) else None,
    )


def from_open_clip(config: Mapping[str, Any], size: tuple[int, int]) -> Preprocessing:
    """What the ``preprocess_cfg`` of an ``open_clip_config.json`` says.

    Parameters
    ----------
    config : mapping
    size : tuple of int
        Height and width that the vision tower was made for.

    Raises
    ------
    ValueError
        A value is of no use.
    """
    modes: dict[str, Resize] = {"shortest": "shortest", "squash": "squash", "longest": "longest"}
    mode = modes.get(str(config.get("resize_mode") or "shortest"))
    if mode is None:
        raise ValueError("an unknown way of resizing")
    chosen = config.get("size")
    return Preprocessing(
        size=size if chosen is None else _pair(chosen),
        resize=mode,
        interpolation="bilinear" if config.get("interpolation") == "bilinear" else "bicubic",
        mean=_three(config.get("mean") or CLIP_MEAN),
        std=_three(config.get("std") or CLIP_STD),
        crop_half="even",
        fill=int(config.get("fill_color") or 0),
    )


def _edge(size: Any) -> int | None:
    if type(size) is int:
        return size
    edge = size.get("shortest_edge") if isinstance(size, Mapping) else None
    return edge if type(edge) is int else None


def _sides(size: Any) -> tuple[int, int] | None:
    if type(size) is int:
        return size, size
    if isinstance(size, Mapping) and {"height", "width"} <= size.keys():
        return size["height"], size["width"]
    return None


def _pair(value: Any) -> tuple[int, int]:
    if type(value) is int:
        return value, value
    high, wide = value[-2:]
    return high, wide


def _three(values: Any) -> tuple[float, float, float]:
    if isinstance(values, int | float):
        return float(values), float(values), float(values)
    try:
        red, green, blue = (float(value) for value in values)
    except (TypeError, ValueError) as error:
        raise ValueError("mean and std are no three numbers") from error
    return red, green, blue
