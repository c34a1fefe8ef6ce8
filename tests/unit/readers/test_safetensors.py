"""safetensors files and what can be wrong with them."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from family_shapes import FAMILIES
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_files import sparse_safetensors

from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.readers import open_file

ROWS = torch.arange(240, dtype=torch.float32).reshape(60, 4)
STATE = {"embedding.weight": ROWS, "fc.weight": -ROWS, "pos_embedding": ROWS[:10].half() * 2}
WHOLE = safetensors.torch.save(STATE)


def written(path: Path, header: Any, data: bytes) -> Path:
    """A file with any header."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data)
    return path


def entry(shape: list[int], first: int, last: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


def test_that_tables_read_as_saved(tmp_path: Path) -> None:
    safetensors.torch.save_file(STATE, tmp_path / "model.safetensors")
    opened = open_file(tmp_path / "model.safetensors")
    assert opened.format == "safetensors"
    assert [table.role.value for table in opened.tables] == ["token", "position", "output layer"]
    for table in opened.tables:
        np.testing.assert_array_equal(table.read(), STATE[table.name].numpy())


def test_that_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    safetensors.torch.save_file(STATE, tmp_path / "model.bin")
    assert open_file(tmp_path / "model.bin").format == "safetensors"


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2],
    ids=str,
)
def test_that_every_float_type_opens_as_stored(tmp_path: Path, dtype: torch.dtype) -> None:
    values = torch.randn(50, 8, generator=torch.Generator().manual_seed(1)).to(dtype)
    safetensors.torch.save_file({"embedding.weight": values}, tmp_path / "m.safetensors")
    (table,) = open_file(tmp_path / "m.safetensors").tables
    assert f"torch.{table.dtype}" == str(dtype)
    np.testing.assert_array_equal(as_float32(table.read()), values.float().numpy())


@pytest.mark.parametrize("name", FAMILIES)
def test_that_public_families_open_with_their_tables_in_full_size(tmp_path: Path, name: str) -> None:
    model = FAMILIES[name]
    sparse_safetensors(tmp_path / "m.safetensors", model.tensors, "F16")
    opened = open_file(tmp_path / "m.safetensors")
    assert [(t.name, t.rows, t.dim, t.role.value) for t in opened.tables] == model.tables


def test_that_names_dropped_by_the_writer_are_aliases(tmp_path: Path) -> None:
    model = torch.nn.ModuleDict(
        {"wte": torch.nn.Embedding(60, 4), "lm_head": torch.nn.Linear(4, 60, bias=False)}
    )
    model["lm_head"].weight = model["wte"].weight
    safetensors.torch.save_model(model, str(tmp_path / "m.safetensors"))
    (table,) = open_file(tmp_path / "m.safetensors").tables
    assert {table.name, *table.aliases} == {"wte.weight", "lm_head.weight"}
    assert table.role.value == "token"


def test_that_textual_inversions_open(tmp_path: Path) -> None:
    path = tmp_path / "learned.safetensors"
    safetensors.torch.save_file({"<cat>": ROWS[:3]}, path)
    (table,) = open_file(path).tables
    assert (table.name, list(table.labels), table.role.value) == (
        "<cat>",
        ["<cat>", "<cat>_1", "<cat>_2"],
        "token",
    )
    safetensors.torch.save_file({"clip_l": ROWS[:2], "clip_g": ROWS[:2].repeat(1, 2)}, path)
    assert {(t.name, t.rows, t.dim, t.role.value) for t in open_file(path).tables} == {
        ("clip_l", 2, 4, "token"),
        ("clip_g", 2, 8, "token"),
    }
    safetensors.torch.save_file({"emb_params": ROWS[:2]}, path)
    assert open_file(path).tables[0].role.value == "token"


def test_that_vectors_by_name_are_one_table(tmp_path: Path) -> None:
    safetensors.torch.save_file({f"w{i}": ROWS[i].clone() for i in range(9)}, tmp_path / "m.safetensors")
    (table,) = open_file(tmp_path / "m.safetensors").tables
    assert list(table.labels) == [f"w{i}" for i in range(9)]
    np.testing.assert_array_equal(table.read(), ROWS[:9].numpy())


def test_that_types_that_are_not_read_are_named(tmp_path: Path) -> None:
    header = {"wte.weight": entry([2, 2], 0, 16), "scale": entry([4], 16, 18, "F4")}
    opened = open_file(written(tmp_path / "m", header, bytes(18)))
    assert "of type F4 (scale)" in opened.notes[0]


DAMAGED = {
    "no json": (b'{"a": ', b""),
    "deep json": (b'{"a": ' + b"[" * 200_000, b""),
    "a list": (b"[1, 2]  ", b""),
    "a repeated name": (
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
        bytes(8),
    ),
    "wrong size": ({"wte.weight": entry([3, 2], 0, 16)}, bytes(16)),
    "overlap": ({"a": entry([2, 2], 0, 16), "b": entry([2, 2], 8, 24)}, bytes(24)),
    "hole": ({"a": entry([2, 2], 0, 16), "b": entry([2, 2], 24, 40)}, bytes(40)),
    "left over": ({"a": entry([2, 2], 0, 16)}, bytes(17)),
    "backwards": ({"a": entry([2, 2], 16, 0)}, bytes(16)),
    "negative": ({"a": entry([-2, -2], 0, 16)}, bytes(16)),
    "overflow": ({"a": entry([1 << 62, 4], 0, 16)}, bytes(16)),
    "fractions": ({"a": entry([2.0, 2], 0, 16)}, bytes(16)),
    "truth": ({"a": entry([True, 4], 0, 16)}, bytes(16)),
    "no shape": ({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4)),
    "entry is text": ({"a": "b"}, b""),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_that_a_header_that_cannot_be_right_is_refused(tmp_path: Path, case: str) -> None:
    with pytest.raises(ExplorerError, match=r"m is damaged|m is of no kind"):
        open_file(written(tmp_path / "m", *DAMAGED[case]))


def test_that_a_cut_file_says_how_much_is_missing(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(WHOLE[:-100])
    with pytest.raises(ExplorerError, match="m is cut off: "):
        open_file(tmp_path / "m")


def test_that_a_header_beyond_all_measure_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", 1 << 40) + b"{")
        file.truncate(1 << 41)
    with pytest.raises(ExplorerError):
        open_file(path)


@pytest.fixture(scope="module")
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "m.safetensors")


def nearly_equal(found: np.ndarray, saved: np.ndarray) -> bool:
    """Whether all numbers are where they were, but for the three that a test may flip."""
    return found.shape == saved.shape and int((found != saved).sum()) <= 3


@settings(max_examples=600)
@given(data=st.data())
def test_that_damage_gives_what_the_format_says_or_an_error(path: Path, data: st.DataObject) -> None:
    """Tables are what the format's own library reads, or one of those saved where it reads nothing."""
    damaged = bytearray(WHOLE)
    match data.draw(st.sampled_from(["flip", "cut", "insert", "splice"])):
        case "flip":
            for _ in range(data.draw(st.integers(1, 3))):
                damaged[data.draw(st.integers(0, min(len(damaged) - 1, 400)))] ^= 1 << data.draw(
                    st.integers(0, 7)
                )
        case "cut":
            del damaged[data.draw(st.integers(0, len(damaged))) :]
        case "insert":
            damaged[data.draw(st.integers(0, 400)) : 0] = data.draw(st.binary(max_size=8))
        case "splice":
            other = safetensors.torch.save({"embedding.weight": ROWS + 1000})
            damaged = (
                damaged[: data.draw(st.integers(0, len(damaged)))] + other[data.draw(st.integers(0, 200)) :]
            )
    path.write_bytes(damaged)
    try:
        state = safetensors.torch.load(bytes(damaged))
    except Exception:  # whatever it says, it refuses
        state = None
    try:
        opened = open_file(path)
    except ExplorerError:
        return
    for table in opened.tables:
        if state is not None and table.name in state:
            expected = state[table.name].reshape(table.rows, table.dim)
            assert table.read().tobytes() == expected.view(torch.uint8).numpy().tobytes()
        else:
            assert any(nearly_equal(table.read(), tensor.numpy()) for tensor in STATE.values())
