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


@compiled(
    "float32[,] int32[] int64[,] int64 uint8[] boolean[] float64 float64 float64 float32 "
    "float32[,]! int32[,]!"
)
def count_rows(
    xy: NDArray[np.float32],
    rows: NDArray[np.int32],
    spans: NDArray[np.int64],
    step: int,
    codes: NDArray[np.uint8],
    shown: NDArray[np.bool_],
    scale: float,
    left: float,
    top: float,
    weight: np.float32,
    counts: NDArray[np.float32],
    ids: NDArray[np.int32],
) -> None:
    """Add a weight to the pixel of each shown row (as in ``splat``), and note the last such row there."""
    height, width = counts.shape
    named = len(rows) > 0
    for span in range(len(spans)):
        for at in range(spans[span, 0], spans[span, 1], step):
            x = xy[at, 0] * scale + left
            y = top - xy[at, 1] * scale
            if not (x >= 0 and x < width and y >= 0 and y < height) or not shown[codes[at]]:
                continue
            counts[int(y), int(x)] += weight
            ids[int(y), int(x)] = rows[at] if named else np.int32(at)


@compiled("float32[,]!")
def spread(counts: NDArray[np.float32]) -> None:
    """Convolve in place with [1, 2, 1] / 4 in both directions; nothing lies outside."""
    height, width = counts.shape
    half, quarter = np.float32(0.5), np.float32(0.25)
    for line in range(height):
        before = np.float32(0)
        for column in range(width):
            here = counts[line, column]
            after = counts[line, column + 1] if column + 1 < width else np.float32(0)
            counts[line, column] = quarter * (before + after) + half * here
            before = here
    above = np.zeros(width, np.float32)
    for line in range(height):
        for column in range(width):
            here = counts[line, column]
            below = counts[line + 1, column] if line + 1 < height else np.float32(0)
            counts[line, column] = quarter * (above[column] + below) + half * here
            above[column] = here


@compiled("uint32[,] uint32[] uint32 uint32[,]!")
def colour_counts(
    bits: NDArray[np.uint32], words: NDArray[np.uint32], first: np.uint32, pixels: NDArray[np.uint32]
) -> None:
    """Look each count's colour up by the upper half of its float's bits, less ``first``."""
    height, width = bits.shape
    last = len(words) - 1
    for line in range(height):
        for column in range(width):
            step = np.int64(bits[line, column] >> np.uint32(16)) - np.int64(first)
            pixels[line, column] = words[min(max(int(step), 0), last)]


@compiled("float32[,] float64 float64 float64 float64 float64 float32[,]!")
def magnify(
    grid: NDArray[np.float32],
    left: float,
    bottom: float,
    per_column: float,
    per_line: float,
    weight: float,
    counts: NDArray[np.float32],
) -> None:
    """Fill a picture from a coarser grid, bilinear; ``left`` and ``bottom`` are in cells of the grid."""
    height, width = counts.shape
    lines, columns = grid.shape
    first = np.empty(width, np.int64)
    part = np.empty(width, np.float32)
    for column in range(width):
        place = left + (column + 0.5) * per_column - 0.5
        inside = place > -1 and place < columns
        first[column] = int(np.floor(place)) if inside else -9
        part[column] = place - np.floor(place) if inside else 0.0
    for line in range(height):
        place = bottom + (height - line - 0.5) * per_line - 0.5
        if not (place > -1 and place < lines):
            counts[line] = 0
            continue
        low = int(np.floor(place))
        up = np.float32(place - low)
        for column in range(width):
            begin = first[column]
            found = np.float32(0)
            if begin != -9:
                along = part[column]
                if low >= 0:
                    share = (np.float32(1) - up) * np.float32(weight)
                    if begin >= 0:
                        found += grid[low, begin] * (np.float32(1) - along) * share
                    if begin + 1 < columns:
                        found += grid[low, begin + 1] * along * share
                if low + 1 < lines:
                    share = up * np.float32(weight)
                    if begin >= 0:
                        found += grid[low + 1, begin] * (np.float32(1) - along) * share
                    if begin + 1 < columns:
                        found += grid[low + 1, begin + 1] * along * share
            counts[line, column] = found
