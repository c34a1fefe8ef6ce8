"""Rows sorted into cells, and the best of each; positions become pixels as in ``kernels.pixels``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render._compile import compiled
from explorer.render.kernels.steps import step_of


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


@compiled("float32[] int64[] float64 float64 int64 int32[]! int64[]!")
def sort_by_depth(
    depth: NDArray[np.float32],
    chosen: NDArray[np.int64],
    low: float,
    high: float,
    bands: int,
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
) -> None:
    """Counting sort of the chosen rows into bands from one depth to another; first and last take the rest."""
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

    Codes and ranks are by row; where ``ranks`` is empty, a row's rank is the row itself. Rows of
    negative rank are left out.
    """
    columns = int(width / cell_width) + 2
    shift_x, shift_y = left % cell_width, top % cell_height
    ranked = len(ranks) > 0
    last = found.shape[1] - 1
    for span in range(len(spans)):
        for at in range(spans[span, 0], spans[span, 1]):
            x = xy[at, 0] * scale + left
            y = top - xy[at, 1] * scale
            if not (x >= 0 and x < width and y >= 0 and y < height):
                continue
            row = rows[at]
            if not shown[codes[row]]:
                continue
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
