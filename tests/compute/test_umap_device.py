"""The epochs of a layout in torch, on the device that every machine has."""

from __future__ import annotations

import numpy as np
import pytest
from made_pool import Listener
from made_vectors import grouped, vectors_of

from explorer.compute import protocol
from explorer.compute.graph import neighbour_graph
from explorer.compute.projection import positions_of
from explorer.compute.trust import measure_trust
from explorer.compute.umap_layout import lay_out
from explorer.core.errors import Cancelled
from explorer.core.layout import LayoutSettings

TORCH = "cpu:0"


def laid_out(rows: int, settings: LayoutSettings, device: str, **options: object) -> tuple[np.ndarray, float]:
    """A layout, and its trustworthiness."""
    vectors = vectors_of(grouped(rows, 24, groups=20))
    graph = neighbour_graph(vectors, settings.neighbours - 1, settings.metric, distinct=True)
    start, twins = positions_of(vectors, settings.dimensions), vectors.health.first_twin
    xy = lay_out(graph.rows, graph.distances, twins, start, settings, device=device, **options)
    return xy, measure_trust(vectors, xy, metric=settings.metric).trustworthiness


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_torch_lays_out_as_truly_as_the_processors_own_code(dimensions: int) -> None:
    settings = LayoutSettings(epochs=100, dimensions=dimensions)
    _, ours = laid_out(1500, settings, "cpu")
    xy, theirs = laid_out(1500, settings, TORCH)
    assert theirs == pytest.approx(ours, abs=0.01)
    assert xy.shape == (1500, dimensions)
    assert np.isfinite(xy).all()


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_a_seed_gives_the_same_picture(dimensions: int) -> None:
    settings = LayoutSettings(epochs=15, seed=3, dimensions=dimensions)
    first, _ = laid_out(900, settings, TORCH)
    assert (laid_out(900, settings, TORCH)[0] == first).all()
    other, _ = laid_out(900, LayoutSettings(epochs=15, seed=-4, dimensions=dimensions), TORCH)
    assert not np.allclose(other, first)


def test_that_an_edge_pulls_as_strongly_as_in_the_processors_own_code() -> None:
    # Pairs a long way from each other: hardly anything pushes.
    pairs = 400
    places = np.arange(2 * pairs)
    grid = 100.0 * np.stack([places // 2 % 20, places // 40], axis=1)
    grid[1::2, 0] += np.linspace(0.5, 3.0, pairs)
    start = grid.astype(np.float32)
    neighbours = (places ^ 1)[:, None].astype(np.int32)
    near = np.ones((2 * pairs, 1), np.float32)
    settings = LayoutSettings(epochs=2)
    ours, theirs = (
        lay_out(neighbours, near, places, start, settings, from_pca=False, device=device)
        for device in ("cpu", TORCH)
    )
    moved = ours[:, 0] - start[:, 0]
    assert (np.abs(moved) > 0.1).all()
    assert (moved[::2] > 0).mean() > 0.98
    assert (np.abs(theirs - ours).max(axis=1) < 1e-3).mean() > 0.95


def test_that_torchs_epochs_can_be_watched_and_stopped() -> None:
    out = np.zeros((500, 2), np.float32)
    frames: list[bytes] = []

    def watch(fraction: float, stage: str = "") -> None:
        frames.append(out.tobytes())
        if fraction > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        laid_out(500, LayoutSettings(epochs=20), TORCH, out=out, checkpoint=watch)
    assert len(set(frames)) >= 8
    assert out.tobytes() == frames[-1]


def test_that_the_layout_worker_computes_on_the_device_that_it_is_told() -> None:
    listener = Listener()
    settings = LayoutSettings(epochs=30)
    vectors = vectors_of(grouped(600, 24))
    graph = neighbour_graph(vectors, 14, settings.metric)
    start, twins = positions_of(vectors), vectors.health.first_twin
    request = 1, graph.rows, graph.distances, twins, start, True, settings, None
    found = [listener.ask(protocol.LayOut, *request, device) for device in ("cpu", TORCH)]
    expected = [
        lay_out(graph.rows, graph.distances, twins, start, settings, device=device)
        for device in ("cpu", TORCH)
    ]
    # How many of torch's threads there are, the worker has not settled.
    assert (found[0].xy == expected[0]).all()
    np.testing.assert_allclose(found[1].xy.std(axis=0), expected[1].std(axis=0), rtol=0.2)
    assert not (found[1].xy == found[0].xy).all()
    listener.pool.close()
