"""Whatever a checkpoint's containers hold, it is opened or refused in words, and no row moves."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.readers import open_file

NAMES = (
    "embedding.weight",
    "weight",
    "fc.weight",
    "bias",
    "words",
    "vocab",
    "image_ids",
    "features",
    "names",
)
PLACES = (
    "labels",
    "string_to_param",
    "name",
    "clip_l",
    "<tok>",
    "state_dict",
    "model",
    "ema",
    "optimizer",
    "state",
)
KEYS = st.sampled_from([*NAMES, *PLACES, "a", "b.c"])


def tensor(shape: list[int]) -> torch.Tensor:
    count = int(np.prod(shape))
    return (torch.arange(count, dtype=torch.float32) + 1).reshape(shape)


tensors = st.lists(st.integers(0, 6), max_size=4).map(tensor)
arrays = tensors.map(lambda t: t.numpy())
texts = st.lists(st.text(max_size=3) | st.integers(0, 9), max_size=7)
leaves = st.one_of(
    tensors,
    tensors.map(torch.nn.Parameter),
    tensors.map(torch.Tensor.half),
    tensors.map(torch.Tensor.long),
    arrays,
    texts,
    texts.map(np.array),
    texts.map(tuple),
    st.dictionaries(st.text(max_size=3), st.integers(0, 6), max_size=7),
    st.none(),
    st.floats(allow_nan=False, width=32),
    st.just(pathlib.PurePosixPath("a/b.jpg")),
    st.just(np.float32(1)),
)
graphs = st.recursive(
    leaves,
    lambda inner: (
        st.dictionaries(KEYS | st.integers(0, 3), inner, max_size=6)
        | st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


def tables_inside(value: Any) -> list[np.ndarray]:
    """All numbers of the graph, in any tensor."""
    if isinstance(value, torch.Tensor):
        return [value.detach().float().numpy().ravel()]
    if isinstance(value, np.ndarray):
        return [value.astype(np.float32).ravel()] if value.dtype.kind in "fi" else []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        own = (
            [np.array(value, np.float32)]
            if value and all(isinstance(v, float | np.float32) for v in value)
            else []
        )
        return own + [found for part in value for found in tables_inside(part)]
    return []


def consists_of(values: np.ndarray, inside: list[np.ndarray]) -> bool:
    """Whether a table is one of the saved tensors, or each of its rows is."""
    flat = values.astype(np.float32).ravel()
    if any(np.array_equal(flat, saved) for saved in inside):
        return True
    return all(any(np.array_equal(row, saved) for saved in inside) for row in values.astype(np.float32))


@pytest.mark.parametrize("zipped", [True, False])
@settings(max_examples=200)
@given(graph=graphs)
def test_that_any_containers_open_or_are_refused(
    tmp_path_factory: pytest.TempPathFactory, zipped: bool, graph: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "graph.pt"
    buffer = io.BytesIO()
    torch.save(graph, buffer, _use_new_zipfile_serialization=zipped)
    path.write_bytes(buffer.getvalue())
    try:
        tables = open_file(path).tables
    except ExplorerError:
        return
    inside = tables_inside(graph)
    assert len({table.name for table in tables}) == len(tables)
    for table in tables:
        values = table.read()
        assert values.shape == (table.rows, table.dim)
        assert table.rows > 0
        assert table.dim > 0
        assert table.labels is None or len(table.labels) == table.rows
        assert all(len(column) == table.rows for column in table.metadata.values())
        assert consists_of(values, inside)
