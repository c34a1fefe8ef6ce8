"""Groups of points that are laid out before the points are."""

from __future__ import annotations

import numpy as np
import pytest
from made_vectors import grouped, vectors_of
from numpy.typing import NDArray

from explorer.compute import umap_layout
from explorer.compute.graph import neighbour_graph
from explorer.compute.projection import positions_of
from explorer.compute.trust import measure_trust
from explorer.compute.umap_graph import FuzzyGraph, fuzzy_graph
from explorer.compute.umap_groups import POINTS, group
from explorer.compute.umap_layout import lay_out
from explorer.compute.vectors import Vectors
from explorer.core.errors import Cancelled
from explorer.core.layout import LayoutSettings
from explorer.core.results import Metric

LEAST = 1 / 500


def graph_of(vectors: Vectors) -> FuzzyGraph:
    found = neighbour_graph(vectors, 14, Metric.EUCLIDEAN)
    return fuzzy_graph(found.rows, found.distances, LEAST)


def test_that_groups_are_of_neighbours_and_tied_to_the_nearest() -> None:
    values = grouped(4000, 12)
    groups = group(graph_of(vectors_of(values)), 42, LEAST)
    sizes = np.bincount(groups.of)
    assert len(sizes) == len(groups.graph.starts) - 1 == 4000 // POINTS
    assert (sizes > 0).all()
    middles = np.stack([values[groups.of == number].mean(axis=0) for number in range(len(sizes))])
    own = np.linalg.norm(values - middles[groups.of], axis=1)
    others = np.linalg.norm(values - middles[np.random.default_rng(0).permutation(groups.of)], axis=1)
    assert own.mean() < 0.5 * others.mean()
    one = np.repeat(np.arange(len(sizes)), np.diff(groups.graph.starts))
    other = groups.graph.ends
    assert (one != other).all()
    assert groups.graph.weights.min() >= LEAST
    assert groups.graph.weights.max() <= 1
    tied = np.linalg.norm(middles[one] - middles[other], axis=1)
    assert tied.mean() < 0.5 * np.linalg.norm(middles[:, None] - middles, axis=2).mean()
    # Both ends hold on to each other as strongly.
    there = dict(zip(zip(one.tolist(), other.tolist(), strict=True), groups.graph.weights, strict=True))
    assert all(there[end, start] == weight for (start, end), weight in there.items())


def test_that_a_seed_makes_the_same_groups() -> None:
    graph = graph_of(vectors_of(grouped(1500, 8)))
    first, again, other = group(graph, 1, LEAST), group(graph, 1, LEAST), group(graph, -2, LEAST)
    assert (first.of == again.of).all()
    assert (first.graph.weights == again.graph.weights).all()
    assert (first.of != other.of).any()


def test_that_points_which_hang_together_with_none_drawn_are_groups_of_their_own() -> None:
    # Pairs that know nothing of each other: of few of them is one drawn.
    pairs = np.arange(200).reshape(100, 2)[:, ::-1].reshape(200, 1).astype(np.int32)
    groups = group(fuzzy_graph(pairs, np.ones((200, 1), np.float32), LEAST), 0, LEAST)
    assert (groups.of >= 0).all()
    partners = groups.of.reshape(100, 2)
    joined = partners[:, 0] == partners[:, 1]
    assert 5 <= joined.sum() <= 13
    assert len(np.unique(groups.of)) == 200 - joined.sum()
    assert len(groups.graph.starts) == len(np.unique(groups.of)) + 1


def laid_out(vectors: Vectors, **options: object) -> NDArray[np.float32]:
    graph = neighbour_graph(vectors, 14, Metric.COSINE)
    settings = LayoutSettings(epochs=30, seed=5)
    return lay_out(
        graph.rows, graph.distances, vectors.health.first_twin, positions_of(vectors, 2), settings, **options
    )


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_that_points_find_their_neighbours_sooner_from_their_groups(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A long way with many turns, which the first picture lays over itself.
    steps = np.random.default_rng(2).normal(size=(4000, 12)).astype(np.float32)
    vectors = vectors_of(np.cumsum(steps, axis=0))
    alone = laid_out(vectors, device=device)
    monkeypatch.setattr(umap_layout, "MOST_WITHOUT_GROUPS", 1000)
    from_groups = laid_out(vectors, device=device)
    assert np.isfinite(from_groups).all()
    assert (laid_out(vectors, device=device) == from_groups).all()
    without, trust = [measure_trust(vectors, xy).trustworthiness for xy in (alone, from_groups)]
    assert trust > without + 0.005


def test_that_groups_are_seen_to_move_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(umap_layout, "MOST_WITHOUT_GROUPS", 1000)
    vectors = vectors_of(grouped(3000, 16))
    out = np.empty((3000, 2), np.float32)
    told: list[float] = []
    seen: list[NDArray[np.float32]] = []

    def stop(fraction: float, stage: str = "") -> None:
        told.append(fraction)
        if stage in ("groups, epoch 20 of 500", "groups, epoch 60 of 500"):
            seen.append(out.copy())
        if stage == "groups, epoch 60 of 500":
            raise Cancelled

    with pytest.raises(Cancelled):
        laid_out(vectors, out=out, checkpoint=stop)
    assert told == sorted(told)
    assert (seen[-1] == out).all()
    assert not np.allclose(seen[0], out)
