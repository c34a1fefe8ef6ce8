"""One picture file decoded: upright, eight bits a channel, nothing transparent. Needs no torch.

Only formats that are data through and through are opened, never one that runs code (such as PostScript).
How many pixels there are is asked before any is decoded.
"""

from __future__ import annotations

import io
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms

from explorer.core.pictures import PictureError, Verdict
from explorer.readers.picture_ends import is_cut_off, kind_of

SUFFIXES = frozenset(
    (
        *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".webp", ".gif", ".bmp", ".dib"),
        *(".tif", ".tiff", ".heic", ".heif", ".avif"),
    )
)
BACKGROUND = (255, 255, 255)  # that transparent pixels are laid over
THUMBNAIL_SIDE = 256
MOST_BYTES = 1 << 30  # of a file
MOST_PIXELS = 1 << 27  # that are decoded
_MOST_JPEG_PIXELS = 1 << 29  # JPEG alone can be decoded at half or a quarter of its size
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "DIB", "TIFF", "AVIF", "HEIF")
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# Pillow's own limit, which it checks where frames or tiles are larger than the header says.
Image.MAX_IMAGE_PIXELS = _MOST_JPEG_PIXELS


@dataclass(frozen=True, eq=False)
class Picture:
    """A decoded picture.

    Attributes
    ----------
    image : PIL.Image.Image
        RGB, upright; of less than the file's size where that is a very large JPEG.
    width, height : int
        Of the file's picture, upright, in pixels.
    format : str
        E.g. "JPEG".
    animated : bool
        It is an animation's first frame.
    """

    image: Image.Image
    width: int
    height: int
    format: str
    animated: bool


def read_picture(path: Path, side: int | None = None) -> Picture:
    """Decode a file.

    Parameters
    ----------
    path : Path
    side : int, optional
        As for ``decode_picture``.

    Raises
    ------
    PictureError
        With the verdict and its reason.
    """
    return decode_picture(read_bytes(path), path.name, side)


def read_bytes(path: str | Path) -> bytes:
    """A picture file's bytes, of a believable number.

    Raises
    ------
    PictureError
        It is gone, empty, too large, or can't be read.
    """
    path = Path(path)
    try:
        # A pipe would be waited for without end.
        if not stat.S_ISREG(path.stat().st_mode):
            kind = "a folder" if path.is_dir() else "a pipe or a device"
            raise PictureError(path.absolute().name or str(path), Verdict.UNREADABLE, f"it is {kind}")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise PictureError(path.name, Verdict.GONE, "the file is no longer there") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise PictureError(path.name, Verdict.UNREADABLE, f"the file cannot be read: {why}") from error
    if not data:
        raise PictureError(path.name, Verdict.EMPTY, "the file is empty")
    if len(data) > MOST_BYTES:
        raise PictureError(path.name, Verdict.TOO_LARGE, "the file is larger than 1 GiB")
    return data


def decode_picture(data: bytes, name: str, side: int | None = None) -> Picture:
    """Decode a file's bytes.

    Turned upright as EXIF says; 16 bits and floating-point values scaled to eight bits; transparent pixels
    over ``BACKGROUND``; CMYK and Lab by their colour profile; the first frame of an animation.

    Parameters
    ----------
    data : bytes
    name : str
        The file's, for messages.
    side : int, optional
        No more pixels than this are needed along the longer side: a JPEG may be decoded at a half,
        quarter or eighth of its size, which is much quicker.

    Raises
    ------
    PictureError
        With the verdict and its reason.
    """
    with _told(data, name), warnings.catch_warnings():
        # Pillow warns of oddities in metadata that do not touch the pixels.
        warnings.simplefilter("ignore")
        _register_heif()
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            width, height = image.size
            file_format = "JPEG" if image.format == "MPO" else str(image.format)
            _check_size(image, name)
            if side is not None and image.size == (width, height):
                _decode_smaller(image, side)
            animated = file_format in ("GIF", "PNG", "WEBP", "AVIF") and _is_animated(image)
            image.load()
            # Asked afterwards: it can stand behind the pixels, and TIFF has been turned by Pillow itself.
            turn = _TURNS.get(_orientation(image))
            upright = _as_rgb(image) if turn is None else _as_rgb(image).transpose(turn)
            if (upright.width > upright.height) != (width > height):
                width, height = height, width
            return Picture(upright, width, height, file_format, animated)


def thumbnail(image: Image.Image, side: int = THUMBNAIL_SIDE) -> bytes:
    """A JPEG whose longer side has at most ``side`` pixels."""
    small = image.copy() if max(image.size) <= 2 * side else image.reduce(max(image.size) // (2 * side))
    small.thumbnail((side, side), Image.Resampling.BICUBIC)
    stream = io.BytesIO()
    small.save(stream, "JPEG", quality=85)
    return stream.getvalue()


def is_picture_file(path: Path) -> bool:
    """Whether a file is meant to be a picture: by its name, or else by its first bytes."""
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return True
    if suffix in _OTHER_SUFFIXES:
        return False
    with suppress(OSError), path.open("rb") as file:
        return kind_of(file.read(32)) is not None
    return False


# Files that lie beside pictures by the thousand, and need not be opened to know that they are none.
_OTHER_SUFFIXES = frozenset((".txt", ".json", ".jsonl", ".csv", ".tsv", ".xml", ".md", ".npy", ".pt", ".py"))


def _check_size(image: Image.Image, name: str) -> None:
    """Refuse a picture of too many pixels; have a large JPEG decoded at half its size or less."""
    width, height = image.size
    if image.format in ("JPEG", "MPO") and MOST_PIXELS < width * height <= _MOST_JPEG_PIXELS:
        image.draft(image.mode, (width // 2, height // 2))
    if image.width * image.height > MOST_PIXELS:
        reason = f"{width:,} × {height:,} pixels are more than are decoded"
        raise PictureError(name, Verdict.TOO_LARGE, reason)


def _decode_smaller(image: Image.Image, side: int) -> None:
    """Have a JPEG decoded at the least of its sizes that has as many pixels along its longer side."""
    share = side / max(image.size)
    if share < 1 and image.format in ("JPEG", "MPO"):
        image.draft(None, (ceil(image.width * share), ceil(image.height * share)))


def _is_animated(image: Image.Image) -> bool:
    # Looking for a second frame can fail where the first is well.
    with suppress(Exception):
        return bool(getattr(image, "is_animated", False))
    return False


def _orientation(image: Image.Image) -> int:
    with suppress(Exception):  # whatever broken EXIF makes Pillow raise
        return int(image.getexif().get(_ORIENTATION, 1))
    return 1


def _as_rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        image = _from_16_bits(image)
    elif image.mode in ("I", "F"):
        image = _from_numbers(image)
    elif image.mode in ("CMYK", "LAB"):
        image = _from_profile(image)
    if image.has_transparency_data:
        if image.mode in ("La", "PA"):
            image = image.convert("LA" if image.mode == "La" else "RGBA")
        image = image if image.mode == "RGBA" else image.convert("RGBA")
        below = Image.new("RGB", image.size, BACKGROUND)
        below.paste(image, mask=image.getchannel("A"))
        return below
    return image.copy() if image.mode == "RGB" else image.convert("RGB")


def _from_16_bits(image: Image.Image) -> Image.Image:
    scaled = ((np.arange(1 << 16) * 255 + 32767) // 65535).astype(np.uint8)
    return Image.fromarray(scaled[np.asarray(image)])


def _from_numbers(image: Image.Image) -> Image.Image:
    """Whole or floating-point numbers as greys: from their type's usual range, else from their own."""
    values = np.asarray(image).astype(np.float32)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    usual = (65535.0,) if image.mode == "I" else (1.0, 255.0, 65535.0)
    top = next((top for top in usual if high <= top), None) if low >= 0 else None
    low, high = (low, high) if top is None else (0.0, top)
    values = np.nan_to_num(values, nan=low, posinf=high, neginf=low)
    return Image.fromarray(np.rint((values - low) * (255 / ((high - low) or 1.0))).astype(np.uint8))


def _from_profile(image: Image.Image) -> Image.Image:
    """CMYK or Lab in sRGB, by the profile in the file where there is one that can be used."""
    profile = image.info.get("icc_profile")
    with suppress(ImageCms.PyCMSError, OSError, ValueError):
        if image.mode == "LAB":
            source = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
        elif profile:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        else:
            return image.convert("RGB")
        converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
        if converted is not None:
            return converted
    return image.convert("RGB")


@contextmanager
def _told(data: bytes, name: str) -> Iterator[None]:
    """Whatever Pillow and its libraries raise, as one verdict."""
    try:
        yield
    except PictureError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        count = re.search(r"\d+(?= pixels)", str(error))
        many = f"{int(count[0]):,} pixels" if count else "its pixels"
        raise PictureError(name, Verdict.TOO_LARGE, f"{many} are more than are decoded") from error
    except MemoryError as error:
        raise PictureError(name, Verdict.TOO_LARGE, "there is not enough memory to decode it") from error
    except Exception as error:
        kind = kind_of(data)
        if is_cut_off(data) or (kind and isinstance(error, OSError) and "truncated" in str(error)):
            raise PictureError(name, Verdict.CUT_OFF, "the file ends before the picture does") from error
        if kind is None:
            raise PictureError(name, Verdict.NOT_A_PICTURE, "it is no picture of a known kind") from error
        if kind == "HEIC" and not _register_heif():
            reason = "HEIC is decoded where the package pillow-heif is installed"
            raise PictureError(name, Verdict.UNREADABLE, reason) from error
        reason = f"it is a damaged {kind}, or one of a rare form"
        raise PictureError(name, Verdict.UNREADABLE, reason) from error


@cache
def _register_heif() -> bool:
    """Teach Pillow HEIC, where the library for it is installed."""
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        return False
    register_heif_opener(thumbnails=False)
    return True
