"""UMAP's graph and layout."""

from __future__ import annotations

import numpy as np
import pytest
from made_vectors import grouped, vectors_of
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import brentq

from explorer.compute import umap_layout
from explorer.compute.graph import neighbour_graph
from explorer.compute.projection import positions_of
from explorer.compute.trust import measure_trust
from explorer.compute.umap_forces import Forces, cell, curve
from explorer.compute.umap_graph import fuzzy_graph
from explorer.compute.umap_layout import lay_out
from explorer.compute.vectors import Vectors
from explorer.core.errors import Cancelled
from explorer.core.layout import LayoutSettings
from explorer.core.results import Metric


def laid_out(vectors: Vectors, settings: LayoutSettings, **options: object) -> NDArray[np.float32]:
    """A table's layout, by the steps of the window."""
    graph = neighbour_graph(vectors, settings.neighbours - 1, settings.metric, distinct=True)
    start = positions_of(vectors, settings.dimensions)
    return lay_out(graph.rows, graph.distances, vectors.health.first_twin, start, settings, **options)


@pytest.mark.parametrize("metric", [Metric.COSINE, Metric.EUCLIDEAN])
def test_that_memberships_are_as_the_paper_has_them(metric: Metric) -> None:
    graph = neighbour_graph(vectors_of(grouped(300, 12)), 14, metric)
    found = fuzzy_graph(graph.rows, graph.distances)
    weights = sparse.csr_array((found.weights, found.ends, found.starts), (300, 300)).toarray()
    assert (weights == weights.T).all()
    assert (np.diag(weights) == 0).all()
    for row in range(300):
        beyond = graph.distances[row] - graph.distances[row, 0]
        # The width at which the memberships add up to log2 of the neighbours, the row included.
        width = brentq(lambda width, b=beyond: np.exp(-b / width).sum() - np.log2(15), 1e-6, 1e6)
        one_way = np.zeros(300)
        one_way[graph.rows[row]] = np.exp(-beyond / width)
        # The union of both directions is no less than either.
        assert (weights[row] >= one_way - 1e-4).all()
        assert weights[row, graph.rows[row, 0]] == pytest.approx(1.0)


def test_that_the_curve_falls_as_min_dist_asks() -> None:
    # The values that umap-learn finds for its default.
    np.testing.assert_allclose(curve(0.1), (1.5769434603, 0.8950608779), rtol=1e-5)
    for min_dist in (0.0, 0.5, 0.99):
        a, b = curve(min_dist)
        assert 1 / (1 + a * (min_dist / 2 + 1e-9) ** (2 * b)) > 0.9
        assert 1 / (1 + a * (min_dist + 3.0) ** (2 * b)) < 0.1


def test_that_forces_are_looked_up_to_better_than_a_hundredth() -> None:
    forces, (a, b) = Forces.of(0.1), curve(0.1)
    squared = np.geomspace(1e-11, 1e6, 2000).astype(np.float32)
    cells = [cell(each) for each in squared]
    power = squared.astype(np.float64) ** b
    pulls = -2 * a * b * power / (squared * (a * power + 1))
    np.testing.assert_allclose(forces.pulls[cells], pulls, rtol=1e-2)
    np.testing.assert_allclose(forces.pushes[cells], 2 * b / ((1e-3 + squared) * (a * power + 1)), rtol=1e-2)
    assert cell(np.float32(0.0)) == 0
    assert cell(np.float32(np.inf)) == cell(np.float32(1e30)) == len(forces.pulls) - 1


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_groups_come_apart_and_neighbours_stay_together(dimensions: int) -> None:
    vectors = vectors_of(grouped(1200, 20))
    settings = LayoutSettings(metric=Metric.EUCLIDEAN, epochs=200, dimensions=dimensions)
    layout = measure_trust(vectors, laid_out(vectors, settings), metric=Metric.EUCLIDEAN)
    first = measure_trust(vectors, positions_of(vectors, dimensions), metric=Metric.EUCLIDEAN)
    assert layout.trustworthiness > max(0.95, first.trustworthiness + 0.005)
    assert layout.continuity > 0.95


def test_that_a_third_dimension_shows_more_of_the_table_than_two() -> None:
    # A sphere's surface, which the plane has to tear.
    points = np.random.default_rng(5).normal(size=(1500, 3)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    vectors = vectors_of(np.hstack([points, points]))
    plane, space = (
        laid_out(vectors, LayoutSettings(epochs=200, dimensions=dimensions)) for dimensions in (2, 3)
    )
    assert space.shape == (1500, 3)
    # The third number is as much of the layout as the others are.
    assert space.std(axis=0).min() > 0.5 * space.std(axis=0).max()
    assert measure_trust(vectors, space).continuity > measure_trust(vectors, plane).continuity + 0.005


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_a_seed_gives_the_same_picture_on_any_number_of_cores(
    dimensions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = vectors_of(grouped(900, 10))
    settings = LayoutSettings(epochs=40, seed=7, dimensions=dimensions)
    first = laid_out(vectors, settings)
    monkeypatch.setattr(umap_layout, "CORES", 5)
    assert (laid_out(vectors, settings) == first).all()
    other = laid_out(vectors, LayoutSettings(epochs=40, seed=-8, dimensions=dimensions))
    assert not np.allclose(other, first)


def test_that_copies_are_one_dot(random: np.random.Generator) -> None:
    vectors = vectors_of(np.repeat(random.normal(size=(7, 16)).astype(np.float32), 50, axis=0))
    xy = laid_out(vectors, LayoutSettings(epochs=50))
    dots = np.unique(xy, axis=0)
    assert len(dots) == 7
    assert (xy == xy[::50].repeat(50, axis=0)).all()
    apart = np.linalg.norm(dots[:, None] - dots, axis=2) + 9 * np.eye(7)
    assert apart.min() > 1e-2


def test_that_quarantined_rows_have_no_place() -> None:
    rows = grouped(300, 8)
    rows[[5, 77]] = np.nan
    rows[200] = 0
    xy = laid_out(vectors_of(rows, padding=3), LayoutSettings(epochs=20))
    assert np.flatnonzero(np.isnan(xy).any(axis=1)).tolist() == [5, 77, 200, 297, 298, 299]


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 6, 12])
@pytest.mark.parametrize("neighbours", [2, 15, 200])
def test_that_the_smallest_tables_have_a_layout(
    rows: int, neighbours: int, random: np.random.Generator
) -> None:
    vectors = vectors_of(random.normal(size=(rows, 3)).astype(np.float32))
    xy = laid_out(vectors, LayoutSettings(neighbours=neighbours, epochs=30))
    assert np.isfinite(xy).all()
    assert len(np.unique(xy, axis=0)) == rows


def test_that_identical_rows_have_a_layout() -> None:
    assert len(np.unique(laid_out(vectors_of(np.ones((40, 5), np.float32)), LayoutSettings()), axis=0)) == 1


def test_that_the_points_can_be_watched_and_stopped() -> None:
    vectors = vectors_of(grouped(500, 8))
    xy = np.zeros((500, 2), np.float32)
    seen: list[NDArray[np.float32]] = []

    def watch(fraction: float, stage: str = "") -> None:
        seen.append(xy.copy())
        if fraction > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        laid_out(vectors, LayoutSettings(epochs=40), out=xy, checkpoint=watch)
    assert len({frame.tobytes() for frame in seen}) >= 15
    assert (xy == seen[-1]).all()


def test_that_a_layout_goes_on_from_earlier_positions() -> None:
    vectors = vectors_of(grouped(500, 8))
    graph = neighbour_graph(vectors, 14, Metric.COSINE)
    before = laid_out(vectors, LayoutSettings(epochs=100))
    frames: list[NDArray[np.float32]] = []
    out = np.zeros_like(before)

    def watch(fraction: float, stage: str = "") -> None:
        if fraction > 0:
            frames.append(out.copy())

    lay_out(
        graph.rows,
        graph.distances,
        vectors.health.first_twin,
        before,
        LayoutSettings(epochs=3, seed=9),
        from_pca=False,
        out=out,
        checkpoint=watch,
    )
    assert (frames[0] == before).all()
    assert not (out == before).all()


def test_that_more_epochs_than_edges_can_use_do_no_harm(random: np.random.Generator) -> None:
    xy = laid_out(vectors_of(random.normal(size=(30, 4)).astype(np.float32)), LayoutSettings(epochs=2000))
    assert np.isfinite(xy).all()
    assert np.abs(xy).max() < 100
