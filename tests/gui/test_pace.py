"""The time that a job of several steps has left."""

from __future__ import annotations

import pytest

from explorer.compute.costs import layout_costs
from explorer.core.layout import LayoutSettings
from explorer.jobs.pace import Pace


def test_that_the_time_left_is_that_of_all_steps() -> None:
    pace = Pace()
    assert pace.left(0.0, 0.2, -1.0, -1.0) == (-1.0, -1.0)
    assert pace.left(0.0, 0.2, 0.1, -1.0) == (pytest.approx(0.02), -1.0)
    # Half of the first fifth is done, the other half will take ten seconds: a hundred for the whole.
    assert pace.left(0.0, 0.2, 0.5, 10.0) == (pytest.approx(0.1), pytest.approx(90.0))
    # The next step has not shown its pace yet.
    assert pace.left(0.2, 1.0, 0.0, -1.0) == (pytest.approx(0.2), pytest.approx(80.0))
    # It goes twice as fast.
    assert pace.left(0.2, 1.0, 0.5, 20.0) == (pytest.approx(0.6), pytest.approx(20.0))
    assert pace.left(0.2, 1.0, 1.0, 0.0) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("rows", "dim", "graph_share"),
    # As measured: the exact graph, and the two found by descent.
    [(20_000, 300, 0.5), (100_000, 300, 0.54), (1_000_000, 64, 0.35)],
)
def test_that_the_graph_takes_its_measured_share_of_a_layout(rows: int, dim: int, graph_share: float) -> None:
    costs = layout_costs(rows, dim, LayoutSettings())
    whole = costs.projection + costs.graph + costs.layout
    assert costs.graph / whole == pytest.approx(graph_share, abs=0.15)
    longer = layout_costs(rows, dim, LayoutSettings(epochs=2000))
    assert longer.layout > 3 * costs.layout
    assert longer.graph == costs.graph


def test_that_a_sampled_layout_costs_what_its_landmarks_do() -> None:
    whole = layout_costs(1_000_000, 64, LayoutSettings())
    sampled = layout_costs(4_000_000, 64, LayoutSettings())
    assert whole.layout < sampled.layout < 2 * whole.layout
    assert sampled.graph > 3 * whole.graph
    assert layout_costs(0, 64, LayoutSettings()).layout > 0
