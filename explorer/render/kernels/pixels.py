"""Points to pixels.

Pixels are 32-bit words ``0xAARRGGBB``, premultiplied; a data position becomes the pixel position
``(x * scale + left, top - y * scale)``. Tests written as ``not (inside)`` are false for NaN too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render._compile import compiled
from explorer.render.kernels.steps import step_of

RED_BLUE = np.uint32(0x00FF00FF)
ALPHA_GREEN = np.uint32(0xFF00FF00)
EIGHT = np.uint32(8)
TWENTY_FOUR = np.uint32(24)
WHOLE = np.uint32(256)


@compiled("uint32 uint32 -> uint32")
def over(source: np.uint32, below: np.uint32) -> np.uint32:
    """Source over destination, two channels at a time; exact where the source is opaque or empty."""
    rest = np.uint32(WHOLE - (source >> TWENTY_FOUR))
    red_blue = (((below & RED_BLUE) * rest) >> EIGHT) & RED_BLUE
    alpha_green = (((below >> EIGHT) & RED_BLUE) * rest) & ALPHA_GREEN
    return np.uint32(source + red_blue + alpha_green)


@compiled(
    "uint32[]! int32[]! int64 int64 float32[,] int32[] int64[,] int64 uint8[] uint32[,] "
    "int32[,] int32[,] uint8[,] int32[] int32[] int64 float64 float64 float64 boolean boolean"
)
def splat(
    pixels: NDArray[np.uint32],
    ids: NDArray[np.int32],
    width: int,
    height: int,
    xy: NDArray[np.float32],
    rows: NDArray[np.int32],
    spans: NDArray[np.int64],
    step: int,
    codes: NDArray[np.uint8],
    inks: NDArray[np.uint32],
    dx: NDArray[np.int32],
    dy: NDArray[np.int32],
    level: NDArray[np.uint8],
    taps: NDArray[np.int32],
    solid: NDArray[np.int32],
    reach: int,
    scale: float,
    left: float,
    top: float,
    painted: bool,
    hits: bool,
) -> None:
    """Blend a disc for each position in the spans, and note its row in ``ids``.

    Position ``at`` is that of row ``rows[at]``, or of row ``at`` itself where ``rows`` is empty.
    """
    phases = int(np.sqrt(len(taps)))
    named = len(rows) > 0
    away = dy * np.int32(width) + dx
    for span in range(len(spans)):
        for at in range(spans[span, 0], spans[span, 1], step):
            x = xy[at, 0] * scale + left
            y = top - xy[at, 1] * scale
            if not (x > -reach and x < width + reach and y > -reach and y < height + reach):
                continue
            code = codes[at]
            if inks[code, inks.shape[1] - 1] == 0:
                continue
            row = rows[at] if named else np.int32(at)
            column = np.int32(np.floor(x))
            line = np.int32(np.floor(y))
            phase = step_of((y - line) * phases, phases) * phases + step_of((x - column) * phases, phases)
            if column >= reach and column < width - reach and line >= reach and line < height - reach:
                base = line * width + column
                if painted:
                    for tap in range(taps[phase]):
                        place = base + away[phase, tap]
                        pixels[place] = over(inks[code, level[phase, tap]], pixels[place])
                if hits:
                    for tap in range(solid[phase]):
                        ids[base + away[phase, tap]] = row
            else:
                for tap in range(taps[phase]):
                    u = column + dx[phase, tap]
                    v = line + dy[phase, tap]
                    if u >= 0 and u < width and v >= 0 and v < height:
                        place = v * width + u
                        if painted:
                            pixels[place] = over(inks[code, level[phase, tap]], pixels[place])
                        if hits and tap < solid[phase]:
                            ids[place] = row


@compiled("uint32[]! uint32 uint32")
def fade(pixels: NDArray[np.uint32], ground: np.uint32, share: np.uint32) -> None:
    """Mix pixels with the ground; of 256 parts, ``share`` are left of them."""
    rest = np.uint32(WHOLE - share)
    for place in range(len(pixels)):
        pixel = pixels[place]
        red_blue = ((pixel & RED_BLUE) * share + (ground & RED_BLUE) * rest) >> EIGHT
        alpha_green = ((pixel >> EIGHT) & RED_BLUE) * share + ((ground >> EIGHT) & RED_BLUE) * rest
        pixels[place] = np.uint32((red_blue & RED_BLUE) | (alpha_green & ALPHA_GREEN))
