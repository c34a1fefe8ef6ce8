"""Tables that have hardly anything to lay out, the whole way through the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from made_pool import Listener
from made_vectors import grouped
from numpy.typing import NDArray

from explorer.compute import protocol
from explorer.core.layout import Layout, LayoutSettings
from explorer.core.results import Metric


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    running = Listener()
    for _ in range(2):
        running.until(lambda said: isinstance(said, protocol.Ready))
    yield running
    running.pool.close()


def laid_out(listener: Listener, path: Path, rows: NDArray, settings: LayoutSettings) -> Layout:
    """A table's layout, by the requests of the window; what it can be asked for later is asked for, too."""
    np.save(path, rows)
    source = protocol.Source(str(path))
    name = listener.ask(protocol.OpenFile, source).tables[0].name
    table = listener.ask(protocol.LoadTable, 1, source, name)
    start = listener.ask(protocol.Project, 1, settings.dimensions)
    distinct = table.health.counts.duplicates > 0
    asked = settings.neighbours - 1, settings.metric, distinct, settings.most_rows, settings.seed
    graph = listener.ask(protocol.BuildGraph, 1, *asked)
    twins = table.health.first_twin
    request = 1, graph.rows, graph.distances, twins, start, True, settings, graph.landmarks
    layout = listener.ask(protocol.LayOut, *request)
    assert isinstance(layout, Layout), layout
    assert layout.xy.shape == (len(rows), settings.dimensions)
    assert (np.isfinite(layout.xy).all(axis=1) == table.health.healthy).all()
    assert np.isfinite(layout.xy).any(axis=1).sum() == table.health.healthy.sum()
    listener.ask(protocol.FindClusters, 1, 3)
    listener.ask(protocol.ReleaseTable, 1)
    return layout


def normal(rows: int, dim: int = 6) -> NDArray[np.float32]:
    return np.random.default_rng(1).normal(size=(rows, dim)).astype(np.float32)


def with_one_infinite(rows: int) -> NDArray[np.float32]:
    made = grouped(rows, 6)
    made[3, 2] = np.inf
    return made


def one_healthy(rows: int) -> NDArray[np.float32]:
    made = np.full((rows, 6), np.nan, np.float32)
    made[2] = 1.0
    return made


ODD: dict[str, tuple[Callable[[], NDArray[np.float32]], int]] = {
    "one row": (lambda: normal(1), 1),
    "two rows": (lambda: normal(2), 2),
    "three rows": (lambda: normal(3), 3),
    "identical rows": (lambda: np.full((40, 6), 2.5, np.float32), 1),
    "an infinite coordinate": (lambda: with_one_infinite(50), 49),
    "no number at all": (lambda: np.full((9, 6), np.nan, np.float32), 0),
    "one healthy row": (lambda: one_healthy(9), 1),
    "fewer rows than neighbours": (lambda: normal(10), 10),
    "one dimension": (lambda: normal(60, 1), 60),
    "two dimensions": (lambda: normal(60, 2), 60),
    "three dimensions": (lambda: normal(60, 3), 60),
    "huge numbers": (lambda: normal(60) * np.float32(1e30), 60),
    "tiny numbers": (lambda: normal(60) * np.float32(1e-30), 60),
}


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("kind", ODD)
def test_that_any_table_has_a_layout(kind: str, dimensions: int, listener: Listener, tmp_path: Path) -> None:
    made, dots = ODD[kind]
    rows = made()
    settings = LayoutSettings(epochs=20, dimensions=dimensions)
    xy = laid_out(listener, tmp_path / "odd.npy", rows, settings).xy
    assert len(np.unique(xy[np.isfinite(xy).all(axis=1)], axis=0)) == dots
    if dots >= 4:
        assert np.nanmax(np.abs(xy)) < 100
    again = laid_out(listener, tmp_path / "odd.npy", rows, settings).xy
    assert np.array_equal(xy, again, equal_nan=True)


def test_that_a_table_without_rows_is_refused(listener: Listener, tmp_path: Path) -> None:
    np.save(tmp_path / "empty.npy", np.empty((0, 6), np.float32))
    refused = listener.ask(protocol.OpenFile, protocol.Source(str(tmp_path / "empty.npy")))
    assert refused.message == "empty holds no vector: its shape is (0, 6)."


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_no_rows_have_an_empty_layout(dimensions: int, listener: Listener) -> None:
    nothing = np.empty((0, 0), np.int32), np.empty((0, 0), np.float32), np.empty(0, np.int64)
    start, settings = np.empty((0, dimensions), np.float32), LayoutSettings(dimensions=dimensions)
    assert listener.ask(protocol.LayOut, 1, *nothing, start, True, settings).xy.shape == (0, dimensions)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_that_trust_is_measured_where_there_are_neighbourhoods(
    rows: int, dimensions: int, listener: Listener, tmp_path: Path
) -> None:
    np.save(tmp_path / "few.npy", normal(rows))
    source = protocol.Source(str(tmp_path / "few.npy"))
    listener.ask(protocol.LoadTable, 2, source, listener.ask(protocol.OpenFile, source).tables[0].name)
    xy = listener.ask(protocol.Project, 2, dimensions)
    trust = listener.ask(protocol.MeasureTrust, 2, xy, 15, Metric.COSINE)
    listener.ask(protocol.ReleaseTable, 2)
    if rows < 3:
        assert trust.message == "A map of fewer than 3 rows has no neighbourhoods to measure."
    else:
        assert (trust.sample, trust.k) == (rows, (rows - 1) // 2)
        assert 0.0 <= trust.trustworthiness <= 1.0


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_a_sampled_table_says_how_many_rows_were_laid_out(
    dimensions: int, listener: Listener, tmp_path: Path
) -> None:
    rows = with_one_infinite(900)
    settings = LayoutSettings(epochs=20, dimensions=dimensions, most_rows=300)
    layout = laid_out(listener, tmp_path / "odd.npy", rows, settings)
    assert layout.sampled == 300
    assert np.flatnonzero(np.isnan(layout.xy).any(axis=1)).tolist() == [3]
    whole = LayoutSettings(epochs=20, dimensions=dimensions, most_rows=899)
    assert laid_out(listener, tmp_path / "odd.npy", rows, whole).sampled is None
