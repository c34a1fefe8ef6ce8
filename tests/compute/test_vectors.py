"""Vectors on the device, and the device itself."""

from __future__ import annotations

from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
import torch
from made_vectors import vectors_of

from explorer.compute.device import choose_device, describe
from explorer.core.dtypes import FLOATS, INTEGERS
from explorer.core.errors import ExplorerError


@pytest.mark.parametrize("dtype", [*FLOATS.values(), *INTEGERS.values(), np.dtype(">f4"), np.dtype(">f2")])
def test_that_every_stored_type_is_seen_as_its_float32_values(dtype: np.dtype) -> None:
    stored = np.arange(1, 61).reshape(20, 3).astype(dtype)
    vectors = vectors_of(stored)
    seen = stored.astype(np.float32)
    assert vectors.block(4, 9).dtype is torch.float32
    assert vectors.block(4, 9).tolist() == seen[4:9].tolist()
    assert vectors.fetch(np.array([19, 0, 19])).tolist() == seen[[19, 0, 19]].tolist()


def test_that_narrow_types_stay_narrow_on_the_device() -> None:
    for dtype, size in ((np.float16, 2), (ml_dtypes.bfloat16, 2), (ml_dtypes.float8_e4m3fn, 1), (np.int8, 1)):
        assert vectors_of(np.ones((10, 4), dtype))._bits.element_size() == size


def test_that_vectors_outlive_the_array_they_came_from() -> None:
    source = np.ones((5, 3), np.float32)
    vectors = vectors_of(source)
    source[:] = 9
    assert vectors.block(0, 5).tolist() == np.ones((5, 3)).tolist()


def test_that_blocks_cover_all_rows_and_arrays_of_any_layout_are_taken() -> None:
    array = np.arange(600, dtype=np.float32).reshape(3, 200).T
    vectors = vectors_of(array)
    read_only = np.ascontiguousarray(array)
    read_only.flags.writeable = False
    for held in (vectors, vectors_of(read_only), vectors_of(array[::-1])):
        spans = held.spans(1000)
        assert (spans[0][0], spans[-1][1]) == (0, 200)
        assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert torch.cat([vectors.block(*span) for span in vectors.spans(1000)]).tolist() == array.tolist()


def test_that_scaled_rows_are_seen_scaled_with_their_lengths() -> None:
    vectors = vectors_of(np.array([[3, 4], [0, 1]], np.float16), scale=2.0)
    assert vectors.block(0, 2).tolist() == [[6, 8], [0, 2]]
    assert vectors.fetch(np.array([1])).tolist() == [[0, 2]]
    assert vectors.norms.tolist() == [10, 2]
    assert vectors.plain is None


def test_that_a_device_which_is_not_there_is_named() -> None:
    for absent, present in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available())):
        if not present:
            with pytest.raises(ExplorerError, match=f"no {absent} device"):
                choose_device(absent)
    with pytest.raises(ExplorerError, match='no device "tpu"'):
        choose_device("tpu")


def test_that_the_chosen_device_computes_and_is_described() -> None:
    for wish in ("auto", "cpu"):
        device = choose_device(wish)
        assert torch.ones(3, device=device).sum().item() == 3
        info = describe(device)
        assert info.kind == device.type
        assert info.name
        assert 0 <= info.used_bytes <= info.total_bytes
    assert describe(torch.device("cpu")).used_bytes > 10 << 20
