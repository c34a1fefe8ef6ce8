"""One pixel in place of the points' picture, while Qt writes an SVG or a PDF; the picture follows.

Qt packs an embedded picture while it keeps the interpreter to itself, and everything else would wait for it.
It is given a single pixel, and what packs the picture beside it takes the pixel's place in the finished file.
Qt's PDFs would hold the picture as a JPEG besides, which smears dots; this one loses nothing.
"""

from __future__ import annotations

import base64
import re
import zlib

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

_IN_SVG = re.compile(rb'"data:image/png;base64,[^"]*"')
_IN_PDF = re.compile(rb"(\d+) 0 obj\s*<<\s*/Type /XObject\s*/Subtype /Image\s*/Width 1\s*/Height 1\s")
_TRAILER = re.compile(rb"trailer\s*<<(.*?)>>\s*startxref\s*(\d+)", re.DOTALL)


def stand_in() -> QImage:
    """The pixel; to be painted before any other picture."""
    pixel = QImage(1, 1, QImage.Format.Format_RGB32)
    pixel.fill(0)
    return pixel


def svg_with(drawing: bytes, picture: bytes) -> bytes:
    """An SVG with a picture in place of its pixel.

    Parameters
    ----------
    drawing : bytes
        As ``QSvgGenerator`` wrote it.
    picture : bytes
        A PNG.
    """
    href = b'"data:image/png;base64,' + base64.b64encode(picture) + b'"'
    return _IN_SVG.sub(lambda _pixel: href, drawing, count=1)


def pdf_with(page: bytes, pixels: NDArray[np.uint32]) -> bytes:
    """A PDF with a picture in place of its pixel: a later version of that object, added at the end.

    That is how PDF itself lets a file be changed (an incremental update: ISO 32000-1, 7.5.6).

    Parameters
    ----------
    page : bytes
        As ``QPdfWriter`` wrote it.
    pixels : uint32 array, shape (height, width)
        ``0xAARRGGBB``; opacity is left out.
    """
    found, trailer = _IN_PDF.search(page), _TRAILER.search(page)
    if found is None or trailer is None:
        raise ValueError("no pixel stands in for a picture here")
    number, (entries, before) = int(found[1]), trailer.groups()
    height, width = pixels.shape
    packed = _packed(pixels)
    picture = (
        f"{number} 0 obj\n<</Type /XObject /Subtype /Image /Width {width} /Height {height}"
        f" /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /FlateDecode /Length {len(packed)}>>\nstream\n"
    )
    body = page + picture.encode() + packed + b"\nendstream\nendobj\n"
    table = f"xref\n{number} 1\n{len(page):010} 00000 n \ntrailer\n<<".encode()
    end = b"/Prev " + before + b"\n>>\nstartxref\n" + str(len(body)).encode() + b"\n%%EOF\n"
    return body + table + entries.rstrip() + b"\n" + end


def _packed(pixels: NDArray[np.uint32]) -> bytes:
    """Red, green and blue of each pixel, deflated some lines at a time."""
    packer, parts = zlib.compressobj(6), []
    for lines in np.array_split(pixels, max(len(pixels) // 64, 1)):
        colours = np.stack([(lines >> shift).astype(np.uint8) for shift in (16, 8, 0)], axis=-1)
        parts.append(packer.compress(colours.tobytes()))
    return b"".join([*parts, packer.flush()])
