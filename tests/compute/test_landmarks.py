"""Tables that are laid out by some of their rows, the others finding their place among these."""

from __future__ import annotations

import numpy as np
import pytest
from made_vectors import grouped, vectors_of

from explorer.compute import graph as graph_module
from explorer.compute import parallel
from explorer.compute.graph import neighbour_graph
from explorer.compute.landmarks import choose_landmarks, most_in_memory
from explorer.compute.placing import place_among
from explorer.compute.projection import positions_of
from explorer.compute.trust import measure_trust
from explorer.compute.umap_layout import lay_out
from explorer.core.layout import LayoutSettings
from explorer.core.placement import place_query
from explorer.core.results import Metric, NeighbourGraph

ROWS, MOST = 3000, 900


def test_that_a_seed_draws_the_same_landmarks_and_small_tables_have_none() -> None:
    places = np.arange(0, 2000, 2)
    drawn = choose_landmarks(places, 300, 5)
    assert len(set(drawn.tolist())) == 300
    assert (np.diff(drawn) > 0).all()
    assert np.isin(drawn, places).all()
    assert (choose_landmarks(places, 300, 5) == drawn).all()
    assert not np.array_equal(choose_landmarks(places, 300, -6), drawn)
    assert choose_landmarks(places, 1000, 5) is None


def test_that_memory_bounds_the_rows_that_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow, wide = vectors_of(grouped(3, 8)), vectors_of(grouped(3, 2000))
    assert most_in_memory(narrow) > most_in_memory(wide) >= 10_000
    monkeypatch.setattr("explorer.compute.landmarks.free_bytes", lambda: 4 << 30)
    assert 1_000_000 < most_in_memory(narrow) < 2_000_000


def among_landmarks(metric: Metric, *, seed: int = 0) -> tuple[np.ndarray, NeighbourGraph]:
    rows = grouped(ROWS, 16)
    rows[7] = np.nan
    rows[11] = rows[3]
    return rows, neighbour_graph(vectors_of(rows), 10, metric, distinct=True, most=MOST, seed=seed)


@pytest.mark.parametrize("metric", [Metric.COSINE, Metric.EUCLIDEAN])
@pytest.mark.parametrize("work", [1e12, 0])
def test_that_every_row_has_its_nearest_landmarks(
    metric: Metric, work: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_module, "_MOST_EXACT_WORK", work)
    monkeypatch.setattr(graph_module, "_ASKED_AT_ONCE", 700)
    rows, found = among_landmarks(metric)
    assert found.exact == (work > 0)
    assert len(found.landmarks) == MOST
    assert (found.rows[[7, 11]] == -1).all()
    points = rows.astype(np.float64)
    if metric is Metric.COSINE:
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    there = points[found.landmarks]
    apart = np.sqrt(np.square(points[:, None] - there).sum(axis=2))
    apart[found.landmarks, np.arange(MOST)] = np.inf
    hits = []
    for row in np.setdiff1d(np.arange(ROWS), [7, 11]):
        near = np.argsort(apart[row])[:10]
        hits.append(len(set(found.rows[row].tolist()) & set(found.landmarks[near].tolist())))
    assert np.mean(hits) > (9.99 if work else 9.5)
    expected = np.take_along_axis(apart, np.searchsorted(found.landmarks, found.rows.clip(0)), axis=1)
    expected = expected**2 / 2 if metric is Metric.COSINE else expected
    kept = found.rows[:, 0] >= 0
    np.testing.assert_allclose(found.distances[kept], expected[kept], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_rows_are_placed_as_a_query_with_their_neighbours_is(
    dimensions: int, random: np.random.Generator
) -> None:
    # Ten groups of forty landmarks, and rows with nine neighbours in one and six in another.
    group = np.repeat(np.arange(10), 40)
    centres = np.arange(10)[:, None] * np.array([30, 7, -11])[:dimensions]
    positions = (centres[group] + random.normal(size=(400, dimensions))).astype(np.float32)
    landmarks = np.sort(random.choice(1000, 400, replace=False))
    place_of = np.full(1000, -1)
    place_of[landmarks] = np.arange(400)
    near = np.full((1000, 20), landmarks[0], np.int32)
    for row in range(1000):
        one, other = random.choice(10, 2, replace=False)
        chosen = [*random.choice(40, 9, replace=False) + 40 * one, *random.choice(40, 6) + 40 * other]
        near[row, :15] = landmarks[random.permutation(chosen)]
    rest = np.setdiff1d(np.arange(1000), landmarks)
    placed = place_among(positions, near, rest, place_of)
    for place, row in enumerate(rest):
        np.testing.assert_allclose(placed[place], place_query(positions, place_of[near[row]]), rtol=1e-4)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_a_sampled_layout_is_nearly_as_true_as_a_whole_one(dimensions: int) -> None:
    rows = grouped(ROWS, 16, groups=12)
    rows[[5, 77]] = np.nan
    rows[[100, 2900]] = rows[8]
    vectors = vectors_of(rows)
    settings = LayoutSettings(metric=Metric.EUCLIDEAN, epochs=200, dimensions=dimensions)
    start = positions_of(vectors, dimensions)

    def laid_out(most: int | None) -> np.ndarray:
        graph = neighbour_graph(vectors, 14, settings.metric, distinct=True, most=most)
        twins = vectors.health.first_twin
        return lay_out(graph.rows, graph.distances, twins, start, settings, landmarks=graph.landmarks)

    sampled, whole = laid_out(MOST), laid_out(None)
    assert np.flatnonzero(np.isnan(sampled).any(axis=1)).tolist() == [5, 77]
    assert (sampled[[100, 2900]] == sampled[8]).all()
    trusted = [measure_trust(vectors, xy, metric=settings.metric) for xy in (sampled, whole)]
    assert trusted[0].trustworthiness > trusted[1].trustworthiness - 0.02
    assert trusted[0].continuity > trusted[1].continuity - 0.02


def test_that_a_seed_gives_the_same_sampled_picture_on_any_number_of_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph_module, "_MOST_EXACT_WORK", 0)
    vectors = vectors_of(grouped(ROWS, 16))
    settings = LayoutSettings(epochs=20)

    def laid_out() -> np.ndarray:
        graph = neighbour_graph(vectors, 14, settings.metric, most=MOST, seed=settings.seed)
        twins, start = vectors.health.first_twin, positions_of(vectors)
        return lay_out(graph.rows, graph.distances, twins, start, settings, landmarks=graph.landmarks)

    first = laid_out()
    for function in (parallel.map_blocks, parallel.each_block):
        monkeypatch.setitem(function.__kwdefaults__, "threads", 1)
    assert (laid_out() == first).all()


def test_that_rows_go_along_with_their_nearest_landmark_while_it_moves() -> None:
    vectors = vectors_of(grouped(ROWS, 16))
    graph = neighbour_graph(vectors, 14, Metric.COSINE, most=MOST)
    out = np.zeros((ROWS, 2), np.float32)
    rest = np.setdiff1d(np.arange(ROWS), graph.landmarks)
    moved: list[bool] = []

    def watch(fraction: float, stage: str = "") -> None:
        if stage.startswith("epoch"):
            moved.append(bool((out[rest] == out[graph.rows[rest, 0]]).all()))

    twins, start = vectors.health.first_twin, positions_of(vectors)
    lay_out(
        graph.rows,
        graph.distances,
        twins,
        start,
        LayoutSettings(epochs=5),
        landmarks=graph.landmarks,
        out=out,
        checkpoint=watch,
    )
    assert all(moved)
    assert len(moved) >= 5
    # In the end they have places of their own.
    assert not (out[rest] == out[graph.rows[rest, 0]]).all()
