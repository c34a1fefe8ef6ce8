"""What the stages of a layout cost beside each other, so that progress and time left follow the clock.

Seconds of two cores as measured at 20,000 × 300, 100,000 × 300 and 1,000,000 × 64
(``benchmarks/layout_scale.py``); what matters is how they compare, for the time left follows the pace.
"""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.layout import LayoutSettings

_MOST_EXACT_WORK = 4e11
MOST_WITHOUT_GROUPS = 200_000
"""Of more points, groups are laid out first (``umap_groups``)."""
GROUP_EPOCHS = 500
"""Those of the groups."""
# How long the fuzzy graph takes, grouping, and the epochs of groups of 16: in epochs of all points, measured.
FUZZY_GRAPH, GROUPING, GROUPS = 6.0, 8.0, GROUP_EPOCHS / 16


@dataclass(frozen=True)
class Costs:
    """Seconds that each stage takes: the first picture, the neighbour graph, fuzzy graph and epochs."""

    projection: float
    graph: float
    layout: float


def layout_costs(rows: int, dim: int, settings: LayoutSettings, *, on_cpu: bool = True) -> Costs:
    """Estimate the stages of a layout.

    Parameters
    ----------
    rows : int
        Those that take part.
    dim : int
    settings : LayoutSettings
    on_cpu : bool
        No graphics card computes.

    Returns
    -------
    Costs
    """
    rows = max(rows, 1)
    landmarks = min(rows, settings.most_rows)
    epochs = settings.epochs or default_epochs(landmarks)
    pairs = float(rows) * landmarks
    projection = 1e-3 + rows * dim * 6e-9
    exact = pairs * (dim * 1.2e-11 + 5e-10)
    nearly = rows * (12e-6 + dim * 0.33e-6)
    # The more points, the seldomer is one at hand in the processor's cache.
    besides = FUZZY_GRAPH + (GROUPING + GROUPS if landmarks > MOST_WITHOUT_GROUPS else 0.0)
    moves = landmarks * settings.neighbours * (epochs + besides) * (8e-9 + landmarks * 1e-14)
    placing = (rows - landmarks) * settings.neighbours * 180e-9
    if on_cpu:
        return Costs(projection, exact if pairs * dim <= _MOST_EXACT_WORK else nearly, moves + placing)
    # By the rates of graphics cards, not measured.
    return Costs(projection / 10, pairs * (dim * 1e-13 + 2e-11), moves / 20 + placing)


def default_epochs(points: int) -> int:
    """Fewer for large tables, whose points start where their groups lie.

    At 100,000 × 300, 500 epochs gave a trustworthiness of 0.965, 200 of 0.936.
    """
    return 500 if points <= MOST_WITHOUT_GROUPS else 100
