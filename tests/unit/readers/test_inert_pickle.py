"""What a plain pickle holds comes out as it went in, in every protocol."""

from __future__ import annotations

import collections
import contextlib
import pathlib
import pickle
import types
from enum import Enum
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.readers.inert_pickle import load_pickle
from explorer.readers.inert_values import Global, Instance, PersistentId, PickledArray

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary()
)
keys = (
    st.text() | st.integers(-(1 << 63), (1 << 63) - 1) | st.tuples(st.text(), st.integers(0, 9)) | st.binary()
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(keys, inner)
        | st.tuples(inner, inner)
        | st.lists(inner, min_size=4, max_size=5).map(tuple)
        | st.sets(keys)
        | st.frozensets(keys)
        | st.dictionaries(keys, inner).map(collections.OrderedDict)
    ),
    max_leaves=20,
)


class Colour(Enum):
    RED = 1


class Vocabulary:
    def __init__(self) -> None:
        self.stoi = {"a": 0}


class Words(dict):
    pass


class Pieces(list):
    pass


class Slotted:
    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = 5


@given(value=values, protocol=st.sampled_from(PROTOCOLS))
def test_that_plain_values_come_out_as_they_went_in(value: object, protocol: int) -> None:
    assert load_pickle(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_a_vocabulary_keeps_every_word_and_id(protocol: int) -> None:
    words = {f"mot{i}é": i for i in range(3000)}
    pair = (words, {i: word for word, i in words.items()})
    assert load_pickle(pickle.dumps(pair, protocol)) == pair


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_counters_and_ordered_kinds_keep_order_and_type(protocol: int) -> None:
    counter = collections.Counter({"the": 9, "a": 5})
    assert load_pickle(pickle.dumps(counter, protocol)) == counter
    assert isinstance(load_pickle(pickle.dumps(counter, protocol)), collections.Counter)
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    assert list(load_pickle(pickle.dumps(ordered, protocol)).items()) == [("b", 1), ("a", 2)]
    factory = collections.defaultdict(list, {"x": [1]})
    assert load_pickle(pickle.dumps(factory, protocol)) == {"x": [1]}
    assert load_pickle(pickle.dumps(collections.deque([1, 2], 5), protocol)) == [1, 2]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_bytes_and_complex_numbers_come_out(protocol: int) -> None:
    for value in (b"", b"\x00\xff\n", bytearray(b"xyz"), 1.5 - 2j):
        assert load_pickle(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "code", ["<f4", ">f4", "<f2", ">f8", "<i8", ">u2", "|b1", "|i1", "<U5", ">U3", "|S4", "<c8"]
)
def test_that_arrays_come_out_in_native_order(protocol: int, order: str, code: str) -> None:
    array = np.array(np.arange(12).reshape(3, 4).astype(code), order=order)
    found = load_pickle(pickle.dumps({"a": array}, protocol))["a"]
    assert isinstance(found, PickledArray)
    np.testing.assert_array_equal(found.value, array)
    assert found.value.dtype.isnative
    assert found.value.dtype == array.dtype.newbyteorder("=")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_odd_arrays_come_out_too(protocol: int) -> None:
    for array in (np.zeros((0, 3), np.float32), np.array(7, np.int32), np.array(["x", None], object)):
        np.testing.assert_array_equal(load_pickle(pickle.dumps(array, protocol)).value, array)
    brain = np.arange(3).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(load_pickle(pickle.dumps(brain, protocol)).value, brain)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_arrays_with_no_plain_meaning_are_left_out_without_harm(protocol: int) -> None:
    record = np.zeros(2, [("x", "f4"), ("y", "i4")])
    dates = np.array(["2020-01-01"], "datetime64[D]")
    found = load_pickle(pickle.dumps([record, dates, np.ones(2)], protocol))
    assert found[0].value is None
    assert found[1].value is None
    np.testing.assert_array_equal(found[2].value, np.ones(2))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_numpy_scalars_become_numbers(protocol: int) -> None:
    values = [np.float32(2.5), np.int64(-3), np.bool_(True), np.str_("word"), np.float16(0.5)]
    found = load_pickle(pickle.dumps(values, protocol))
    assert found == [2.5, -3, True, "word", 0.5]
    assert [type(value) for value in found] == [float, int, bool, str, float]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_objects_become_records_of_their_class_and_state(protocol: int) -> None:
    found = load_pickle(pickle.dumps(Vocabulary(), protocol))
    assert isinstance(found, Instance)
    assert found.cls == Global(__name__, "Vocabulary")
    assert found.attributes == {"stoi": {"a": 0}}
    namespace = load_pickle(pickle.dumps(types.SimpleNamespace(lr=0.1), protocol))
    assert namespace.attributes == {"lr": 0.1}


def test_that_objects_with_slots_show_them() -> None:
    assert load_pickle(pickle.dumps(Slotted(), 2)).attributes == {"left": 5}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_kinds_of_containers_show_what_they_hold(protocol: int) -> None:
    assert load_pickle(pickle.dumps(Words(a=1), protocol)).entries == {"a": 1}
    assert load_pickle(pickle.dumps(Pieces([1, 2, 3]), protocol)).items == [1, 2, 3]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_paths_enums_and_functions_are_records(protocol: int) -> None:
    found = load_pickle(pickle.dumps([pathlib.PurePosixPath("a/b"), Colour.RED, len], protocol))
    assert found[0].args == ("a", "b")
    assert found[2] == Global("builtins", "len") or found[2] == Global("__builtin__", "len")


def test_that_python_2_texts_come_out_and_their_bytes_can_be_had_back() -> None:
    assert load_pickle(b"S'caf\\xc3\\xa9'\n.") == "café"
    assert load_pickle(b"U\x02\xff\xfe.").encode("utf-8", "surrogateescape") == b"\xff\xfe"


def test_that_persistent_ids_stay_ids() -> None:
    found = load_pickle(b"K\x05Q.")
    assert isinstance(found, PersistentId)
    assert found.id == 5


def test_that_shared_and_circular_containers_keep_their_shape() -> None:
    inner: list[object] = [1]
    found = load_pickle(pickle.dumps([inner, inner], 4))
    assert found[0] is found[1]
    inner.append(inner)
    looped = load_pickle(pickle.dumps(inner, 4))
    assert looped[1] is looped


def test_that_a_file_is_named_where_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "word_to_int.p"
    path.write_bytes(pickle.dumps({"a": 1, "b": [1, 2, 3]})[:-4])
    with pytest.raises(ExplorerError, match=r"word_to_int\.p is damaged"):
        load_pickle(path)


@given(data=st.data())
def test_that_any_cut_or_flip_gives_a_value_or_an_error(data: st.DataObject) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    whole = pickle.dumps(
        [{"w": 1, "b": (1, 2)}, array, Vocabulary(), {3}], data.draw(st.sampled_from(PROTOCOLS))
    )
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 3))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ExplorerError):
        load_pickle(bytes(damaged))


@given(st.binary(max_size=200))
def test_that_noise_gives_a_value_or_an_error(noise: bytes) -> None:
    with contextlib.suppress(ExplorerError):
        load_pickle(noise)
