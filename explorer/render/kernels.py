"""The compiled inner loops. Importing this module compiles them, or loads them from numba's cache.

Pixels are 32-bit words ``0xAARRGGBB``, premultiplied; a data position becomes the pixel position
``(x * scale + left, top - y * scale)``. Tests written as ``not (inside)`` are false for NaN too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render._compile import compiled

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


@compiled("float64 int64 -> int64")
def step_of(value: float, steps: int) -> int:
    """A value's whole part, kept within ``steps`` whatever the value is: it indexes an array."""
    return max(0, int(min(value, steps - 1.0)))


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


@compiled("float32[,] float64 float64 float64 float64 int64 int64 int64[]! int32[]! float32[,]!")
def sort_into_cells(
    xy: NDArray[np.float32],
    left: float,
    bottom: float,
    per_width: float,
    per_height: float,
    side: int,
    seed: int,
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    places: NDArray[np.float32],
) -> None:
    """Counting sort into side × side cells; then each cell is shuffled (Fisher and Yates, xorshift)."""
    cells = side * side
    at = np.zeros(cells + 1, np.int64)
    for fill in range(2):
        for row in range(len(xy)):
            x, y = xy[row, 0], xy[row, 1]
            if not (np.isfinite(x) and np.isfinite(y)):
                continue
            column = step_of((x - left) * per_width, side)
            cell = step_of((y - bottom) * per_height, side) * side + column
            if fill == 0:
                starts[cell + 1] += 1
            else:
                rows[at[cell]] = row
                at[cell] += 1
        if fill == 0:
            for cell in range(cells):
                starts[cell + 1] += starts[cell]
            at[:] = starts
    state = np.uint64(seed) * np.uint64(2) + np.uint64(0x9E3779B97F4A7C15)
    for cell in range(cells):
        for last in range(starts[cell + 1] - 1, starts[cell], -1):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            room = np.uint64(last - starts[cell] + 1)
            other = starts[cell] + np.int64((state >> np.uint64(11)) % room)
            rows[last], rows[other] = rows[other], rows[last]
    for place in range(starts[cells]):
        places[place, 0], places[place, 1] = xy[rows[place], 0], xy[rows[place], 1]


@compiled("float32[] int64[] int64 int32[]! int64[]!")
def sort_by_depth(
    depth: NDArray[np.float32],
    chosen: NDArray[np.int64],
    bands: int,
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
) -> None:
    """Counting sort of the chosen rows into bands from the least depth to the greatest."""
    low, high = np.inf, -np.inf
    for row in chosen:
        if np.isfinite(depth[row]):
            low, high = min(low, depth[row]), max(high, depth[row])
    per_depth = bands / (high - low) if high > low else 0.0
    at = np.zeros(bands + 1, np.int64)
    for fill in range(2):
        for row in chosen:
            if not np.isfinite(depth[row]):
                continue
            band = step_of((depth[row] - low) * per_depth, bands)
            if fill == 0:
                starts[band + 1] += 1
            else:
                order[at[band]] = row
                at[band] += 1
        if fill == 0:
            for band in range(bands):
                starts[band + 1] += starts[band]
            at[:] = starts


@compiled(
    "float32[,] uint8[] boolean[] int64[] float64 float64 float64 int64 int64 "
    "float64 float64 int64 int64[]! -> int64"
)
def first_in_cells(
    xy: NDArray[np.float32],
    codes: NDArray[np.uint8],
    shown: NDArray[np.bool_],
    order: NDArray[np.int64],
    scale: float,
    left: float,
    top: float,
    width: int,
    height: int,
    cell_width: float,
    cell_height: float,
    per_cell: int,
    found: NDArray[np.int64],
) -> int:
    """Walk the rows in order and keep the first few that fall into each cell; their number."""
    columns = int(width / cell_width) + 2
    lines = int(height / cell_height) + 2
    held = np.zeros(columns * lines, np.int64)
    shift_x, shift_y = left % cell_width, top % cell_height
    some = len(order) > 0
    count = 0
    for at in range(len(order) if some else len(xy)):
        row = order[at] if some else at
        x = xy[row, 0] * scale + left
        y = top - xy[row, 1] * scale
        if not (x >= 0 and x < width and y >= 0 and y < height) or not shown[codes[row]]:
            continue
        line = step_of((y - shift_y) / cell_height + 1, lines)
        cell = line * columns + step_of((x - shift_x) / cell_width + 1, columns)
        if held[cell] < per_cell:
            held[cell] += 1
            found[count] = row
            count += 1
            if count == len(found):
                break
    return count


@compiled(
    "float32[,] int32[] int64[,] uint8[] boolean[] int32[] float64 float64 float64 int64 int64 "
    "float64 float64 int32[,]! int32[,]!"
)
def best_in_cells(
    xy: NDArray[np.float32],
    rows: NDArray[np.int32],
    spans: NDArray[np.int64],
    codes: NDArray[np.uint8],
    shown: NDArray[np.bool_],
    ranks: NDArray[np.int32],
    scale: float,
    left: float,
    top: float,
    width: int,
    height: int,
    cell_width: float,
    cell_height: float,
    found: NDArray[np.int32],
    their_ranks: NDArray[np.int32],
) -> None:
    """Of the rows in each cell keep those of the lowest ranks, the lowest first; -1 where there are fewer.

    A row's rank is the row itself where ``ranks`` is empty; rows of negative rank are left out.
    """
    columns = int(width / cell_width) + 2
    shift_x, shift_y = left % cell_width, top % cell_height
    ranked = len(ranks) > 0
    last = found.shape[1] - 1
    for span in range(len(spans)):
        for at in range(spans[span, 0], spans[span, 1]):
            x = xy[at, 0] * scale + left
            y = top - xy[at, 1] * scale
            if not (x >= 0 and x < width and y >= 0 and y < height) or not shown[codes[at]]:
                continue
            row = rows[at]
            rank = ranks[row] if ranked else row
            if rank < 0:
                continue
            line = step_of((y - shift_y) / cell_height + 1, len(found) // columns)
            cell = line * columns + step_of((x - shift_x) / cell_width + 1, columns)
            if found[cell, last] >= 0 and their_ranks[cell, last] <= rank:
                continue
            place = last
            while place > 0 and (found[cell, place - 1] < 0 or their_ranks[cell, place - 1] > rank):
                found[cell, place] = found[cell, place - 1]
                their_ranks[cell, place] = their_ranks[cell, place - 1]
                place -= 1
            found[cell, place] = row
            their_ranks[cell, place] = rank


@compiled(
    "float64[,] float64[,] float64[] float64[,] int8[] float64[,] float64 float64 "
    "boolean[]! int8[]! float64[,]!"
)
def place_boxes(
    anchors: NDArray[np.float64],
    sizes: NDArray[np.float64],
    gaps: NDArray[np.float64],
    spacing: NDArray[np.float64],
    wanted: NDArray[np.int8],
    obstacles: NDArray[np.float64],
    width: float,
    height: float,
    placed: NDArray[np.bool_],
    sides: NDArray[np.int8],
    boxes: NDArray[np.float64],
) -> None:
    """Give each box in turn the first side of its anchor where it is free for good.

    A box with a wanted side (0 to 3, else -1) has that one or waits until all others had theirs.
    Two boxes are apart for good where they are apart in a direction in which their anchors are
    not the other way round: magnifying the picture then only moves them further apart.
    """
    taken = np.empty(len(anchors), np.int64)
    count = 0
    for late in range(2):
        for i in range(len(anchors)):
            if placed[i] or (late == 1 and wanted[i] < 0):
                continue
            x, y, wide, high = anchors[i, 0], anchors[i, 1], sizes[i, 0], sizes[i, 1]
            first = max(wanted[i], 0)
            for side in range(first, first + (4 if late == 1 or wanted[i] < 0 else 1)):
                side %= 4
                if side == 0:
                    left, top = x + gaps[i], y - high / 2
                elif side == 1:
                    left, top = x - gaps[i] - wide, y - high / 2
                elif side == 2:
                    left, top = x - wide / 2, y - gaps[i] - high
                else:
                    left, top = x - wide / 2, y + gaps[i]
                right, bottom = left + wide, top + high
                free = left >= 1 and top >= 1 and right <= width - 1 and bottom <= height - 1
                for j in range(len(obstacles)):
                    if not free:
                        break
                    free = (
                        right <= obstacles[j, 0]
                        or left >= obstacles[j, 0] + obstacles[j, 2]
                        or bottom <= obstacles[j, 1]
                        or top >= obstacles[j, 1] + obstacles[j, 3]
                    )
                for k in range(count):
                    if not free:
                        break
                    j = taken[k]
                    free = (
                        (right + spacing[i, 0] <= boxes[j, 0] and x <= anchors[j, 0])
                        or (left >= boxes[j, 0] + boxes[j, 2] + spacing[i, 0] and x >= anchors[j, 0])
                        or (bottom + spacing[i, 1] <= boxes[j, 1] and y <= anchors[j, 1])
                        or (top >= boxes[j, 1] + boxes[j, 3] + spacing[i, 1] and y >= anchors[j, 1])
                    )
                if free:
                    boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3] = left, top, wide, high
                    sides[i] = side
                    placed[i] = True
                    taken[count] = i
                    count += 1
                    break


@compiled("float32[,] float64[,] boolean[]!")
def inside_polygon(xy: NDArray[np.float32], corners: NDArray[np.float64], inside: NDArray[np.bool_]) -> None:
    """Even-odd rule: a ray to the right crosses the outline an odd number of times.

    An edge counts for the heights from its lower end up to, not with, its upper end, so that a
    ray through a corner counts once. Edges are sorted into bands of height, so that a row meets
    only the few near its own.
    """
    low_x, high_x = corners[:, 0].min(), corners[:, 0].max()
    low_y, high_y = corners[:, 1].min(), corners[:, 1].max()
    edges = len(corners)
    bands = max(edges // 2, 1)
    per_height = bands / (high_y - low_y) if high_y > low_y else 0.0
    starts = np.zeros(bands + 2, np.int64)
    for fill in range(2):
        if fill == 1:
            for band in range(bands + 1):
                starts[band + 1] += starts[band]
            held = np.empty(starts[bands + 1], np.int64)
            at = starts.copy()
        for edge in range(edges):
            y0, y1 = corners[edge, 1], corners[(edge + 1) % edges, 1]
            first = step_of((min(y0, y1) - low_y) * per_height, bands)
            last = step_of((max(y0, y1) - low_y) * per_height, bands)
            for band in range(first, last + 1):
                if fill == 0:
                    starts[band + 1] += 1
                else:
                    held[at[band]] = edge
                    at[band] += 1
    for row in range(len(xy)):
        x, y = xy[row, 0], xy[row, 1]
        if not (x >= low_x and x <= high_x and y >= low_y and y <= high_y):
            continue
        band = step_of((y - low_y) * per_height, bands)
        odd = False
        for place in range(starts[band], starts[band + 1]):
            edge = held[place]
            x0, y0 = corners[edge, 0], corners[edge, 1]
            x1, y1 = corners[(edge + 1) % edges, 0], corners[(edge + 1) % edges, 1]
            if (y0 <= y) != (y1 <= y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
                odd = not odd
        inside[row] = odd


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


@compiled("float32[,] float64[,] float64[] float32[,]! float32[]!")
def turn(
    xyz: NDArray[np.float32],
    axes: NDArray[np.float64],
    centre: NDArray[np.float64],
    xy: NDArray[np.float32],
    depth: NDArray[np.float32],
) -> None:
    """Rotate about a centre, which keeps its place."""
    a, b, c = axes[0, 0], axes[0, 1], axes[0, 2]
    d, e, f = axes[1, 0], axes[1, 1], axes[1, 2]
    g, h, i = axes[2, 0], axes[2, 1], axes[2, 2]
    x0, y0, z0 = centre[0], centre[1], centre[2]
    for row in range(len(xyz)):
        x, y, z = xyz[row, 0] - x0, xyz[row, 1] - y0, xyz[row, 2] - z0
        xy[row, 0] = a * x + b * y + c * z + x0
        xy[row, 1] = d * x + e * y + f * z + y0
        depth[row] = g * x + h * y + i * z


@compiled(
    "float32[,] int64[] float32[] float64 float64 float64 float64 float64 float64 float64 float64 "
    "float64[,] int64[]! float64[,]! -> int64"
)
def place_pictures(
    xy: NDArray[np.float32],
    order: NDArray[np.int64],
    aspects: NDArray[np.float32],
    scale: float,
    left: float,
    top: float,
    width: float,
    height: float,
    side: float,
    longest: float,
    spacing: float,
    obstacles: NDArray[np.float64],
    found: NDArray[np.int64],
    boxes: NDArray[np.float64],
) -> int:
    """Place boxes of equal area around their rows, in order, where none is yet; their number.

    Boxes are held in cells as large as the largest of them, so that only those of nine cells can be
    in the way.
    """
    cell = side * np.sqrt(longest) + spacing
    columns, lines = int(width / cell) + 4, int(height / cell) + 4
    newest = np.full(columns * lines, -1, np.int64)
    older = np.full(len(found), -1, np.int64)
    count = 0
    for row in order:
        if count == len(found):
            break
        aspect = aspects[row]
        if not (aspect > 0 and aspect < np.inf):
            continue
        stretch = np.sqrt(min(max(aspect, 1 / longest), longest))
        wide, high = side * stretch, side / stretch
        x, y = xy[row, 0] * scale + left, top - xy[row, 1] * scale
        if not (x > -wide / 2 and x < width + wide / 2 and y > -high / 2 and y < height + high / 2):
            continue
        column, line = step_of(x / cell + 1, columns - 2) + 1, step_of(y / cell + 1, lines - 2) + 1
        free = True
        for near in range(9):
            # The row's own cell first: that is where most are refused.
            place = (near + 4) % 9
            other = newest[(line + place // 3 - 1) * columns + column + place % 3 - 1]
            while free and other >= 0:
                apart_x = abs(boxes[other, 0] + boxes[other, 2] / 2 - x) - (boxes[other, 2] + wide) / 2
                apart_y = abs(boxes[other, 1] + boxes[other, 3] / 2 - y) - (boxes[other, 3] + high) / 2
                free = apart_x >= spacing or apart_y >= spacing
                other = older[other]
            if not free:
                break
        for j in range(len(obstacles)):
            if not free:
                break
            free = (
                x + wide / 2 <= obstacles[j, 0]
                or x - wide / 2 >= obstacles[j, 0] + obstacles[j, 2]
                or y + high / 2 <= obstacles[j, 1]
                or y - high / 2 >= obstacles[j, 1] + obstacles[j, 3]
            )
        if free:
            boxes[count, 0], boxes[count, 1] = x - wide / 2, y - high / 2
            boxes[count, 2], boxes[count, 3] = wide, high
            found[count] = row
            older[count] = newest[line * columns + column]
            newest[line * columns + column] = count
            count += 1
    return count
