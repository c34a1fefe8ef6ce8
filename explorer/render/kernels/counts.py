"""How many rows lie in each pixel, and of which colours; positions become pixels as in ``kernels.pixels``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render._compile import compiled
from explorer.render.kernels.steps import step_of


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


@compiled(
    "float32[,] int32[] int64[,] int64 uint8[] float32[,] float64 float64 float64 float32 "
    "float32[,,]! int32[,]!"
)
def count_colours(
    xy: NDArray[np.float32],
    rows: NDArray[np.int32],
    spans: NDArray[np.int64],
    step: int,
    codes: NDArray[np.uint8],
    inks: NDArray[np.float32],
    scale: float,
    left: float,
    top: float,
    weight: np.float32,
    sums: NDArray[np.float32],
    ids: NDArray[np.int32],
) -> None:
    """As ``count_rows``, of red, green and blue as well; an ink's last is 0 for hidden codes, else 1."""
    height, width = ids.shape
    named = len(rows) > 0
    for span in range(len(spans)):
        for at in range(spans[span, 0], spans[span, 1], step):
            x = xy[at, 0] * scale + left
            y = top - xy[at, 1] * scale
            code = codes[at]
            if not (x >= 0 and x < width and y >= 0 and y < height) or inks[code, 3] == 0:
                continue
            line, column = int(y), int(x)
            for channel in range(4):
                sums[line, column, channel] += weight * inks[code, channel]
            ids[line, column] = rows[at] if named else np.int32(at)


@compiled("float32[,,]!")
def spread_colours(sums: NDArray[np.float32]) -> None:
    """As ``spread``, each channel for itself."""
    height, width, channels = sums.shape
    half, quarter = np.float32(0.5), np.float32(0.25)
    before = np.zeros(channels, np.float32)
    for line in range(height):
        before[:] = 0
        for column in range(width):
            for channel in range(channels):
                here = sums[line, column, channel]
                after = sums[line, column + 1, channel] if column + 1 < width else np.float32(0)
                sums[line, column, channel] = quarter * (before[channel] + after) + half * here
                before[channel] = here
    above = np.zeros((width, channels), np.float32)
    for line in range(height):
        for column in range(width):
            for channel in range(channels):
                here = sums[line, column, channel]
                below = sums[line + 1, column, channel] if line + 1 < height else np.float32(0)
                sums[line, column, channel] = quarter * (above[column, channel] + below) + half * here
                above[column, channel] = here


@compiled("uint32 -> float32[]!")
def channels_of(word: np.uint32) -> NDArray[np.float32]:
    """Red, green and blue of a pixel."""
    found = np.empty(3, np.float32)
    for channel in range(3):
        found[channel] = (word >> np.uint32(16 - 8 * channel)) & np.uint32(255)
    return found


@compiled("float32[]! float32 float32[] float32 -> uint32")
def blended(
    below: NDArray[np.float32], opacity: np.float32, sums: NDArray[np.float32], per_count: np.float32
) -> np.uint32:
    """An opaque pixel: a mean colour over the ground."""
    word = np.uint32(0xFF000000)
    for channel in range(3):
        mixed = below[channel] + (sums[channel] * per_count - below[channel]) * opacity
        whole = np.uint32(min(max(mixed + np.float32(0.5), np.float32(0)), np.float32(255)))
        word |= whole << np.uint32(16 - 8 * channel)
    return word


@compiled("float32[,] float32[,,] float64 float64 float64 float64 float32[] uint32 uint32 uint32[,]!")
def tint(
    counts: NDArray[np.float32],
    cells: NDArray[np.float32],
    left: float,
    bottom: float,
    per_column: float,
    per_line: float,
    opacities: NDArray[np.float32],
    first: np.uint32,
    ground: np.uint32,
    pixels: NDArray[np.uint32],
) -> None:
    """Draw counts in the colours of the cells they lie in; a cell's last is the share that is shown."""
    height, width = counts.shape
    lines, columns = cells.shape[0], cells.shape[1]
    across = np.empty(width, np.int64)
    for column in range(width):
        across[column] = step_of(left + (column + 0.5) * per_column, columns)
    one = np.zeros(1, np.float32)
    bits = one.view(np.uint32)
    below = channels_of(ground)
    last = len(opacities) - 1
    for line in range(height):
        cell_line = step_of(bottom + (height - line - 0.5) * per_line, lines)
        for column in range(width):
            cell = cells[cell_line, across[column]]
            one[0] = counts[line, column] * cell[3]
            step = np.int64(bits[0] >> np.uint32(16)) - np.int64(first)
            opacity = opacities[min(max(int(step), 0), last)]
            if opacity == 0:
                pixels[line, column] = ground
            else:
                pixels[line, column] = blended(below, opacity, cell, np.float32(1))


@compiled("float32[,,] float32[] uint32 uint32 uint32[,]!")
def shade(
    sums: NDArray[np.float32],
    opacities: NDArray[np.float32],
    first: np.uint32,
    ground: np.uint32,
    pixels: NDArray[np.uint32],
) -> None:
    """Mean colours over an opaque ground; the opacity of a count is looked up as in ``colour_counts``."""
    height, width, _ = sums.shape
    one = np.zeros(1, np.float32)
    bits = one.view(np.uint32)
    below = channels_of(ground)
    last = len(opacities) - 1
    for line in range(height):
        for column in range(width):
            one[0] = sums[line, column, 3]
            step = np.int64(bits[0] >> np.uint32(16)) - np.int64(first)
            opacity = opacities[min(max(int(step), 0), last)]
            if opacity == 0:
                pixels[line, column] = ground
            else:
                pixels[line, column] = blended(below, opacity, sums[line, column], np.float32(1) / one[0])


@compiled("uint8[] int64[] float32[,] float32[,]!")
def colours_of_cells(
    codes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    inks: NDArray[np.float32],
    cells: NDArray[np.float32],
) -> None:
    """Sums of inks of the rows in each cell, and in the fifth place their number."""
    for cell in range(len(cells)):
        for at in range(starts[cell], starts[cell + 1]):
            for channel in range(4):
                cells[cell, channel] += inks[codes[at], channel]
            cells[cell, 4] += 1
