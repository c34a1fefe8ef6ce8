"""Cut, flipped and spliced checkpoints: a clear error or the right rows, never a shifted table."""

from __future__ import annotations

import io
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers import open_file

ROWS = torch.arange(240, dtype=torch.float32).reshape(60, 4)
STATE = {
    "embedding.weight": ROWS,
    "pos_embedding": ROWS[:10].half() * 2,
    "fc.weight": -ROWS,
    "view.embedding.weight": ROWS[5:25],
}


def saved(state: dict[str, torch.Tensor], zipped: bool) -> bytes:
    buffer = io.BytesIO()
    torch.save(state, buffer, _use_new_zipfile_serialization=zipped)
    return buffer.getvalue()


def repacked(data: bytes) -> bytes:
    """The same archive, packed as a zip program packs it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, old.read(entry))
    return buffer.getvalue()


ZIP, LEGACY = saved(STATE, True), saved(STATE, False)
PACKED = repacked(ZIP)
OTHER = {
    "zip": saved({"embedding.weight": ROWS + 1000, "pos_embedding": torch.ones(3, 4)}, True),
    "legacy": saved({"embedding.weight": ROWS + 1000, "pos_embedding": torch.ones(3, 4)}, False),
}
WHOLE = {"zip": ZIP, "packed": PACKED, "legacy": LEGACY}


@pytest.fixture(scope="module")
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "model.pt")


def opened(path: Path, data: bytes) -> OpenedFile | None:
    path.write_bytes(data)
    try:
        return open_file(path)
    except ExplorerError:
        return None


def rows(table) -> np.ndarray | None:
    try:
        return table.read()
    except ExplorerError:
        return None


@pytest.mark.parametrize("form", WHOLE)
def test_that_the_undamaged_file_opens(path: Path, form: str) -> None:
    tables = {table.name: table.read() for table in opened(path, WHOLE[form]).tables}
    for name, tensor in STATE.items():
        np.testing.assert_array_equal(tables[name], tensor.numpy())


@pytest.mark.parametrize("form", WHOLE)
@settings(max_examples=60)
@given(data=st.data())
def test_that_a_cut_file_is_refused(path: Path, form: str, data: st.DataObject) -> None:
    whole = WHOLE[form]
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ExplorerError):
        open_file(path)


@pytest.mark.parametrize("form", ["zip", "packed"])
@settings(max_examples=400)
@given(data=st.data())
def test_that_a_flipped_zip_gives_the_saved_rows_or_an_error(
    path: Path, form: str, data: st.DataObject
) -> None:
    """Its checksums tell every flip that matters."""
    damaged = bytearray(WHOLE[form])
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=3)):
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    found = opened(path, bytes(damaged))
    for table in found.tables if found else ():
        values = rows(table)
        assert values is None or np.array_equal(values, STATE[table.name].numpy())


def trusted(data: bytes) -> dict[str, torch.Tensor] | None:
    """What PyTorch itself makes of a file, without running its code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state = torch.load(io.BytesIO(data), weights_only=True)
    except Exception:  # whatever it says, it refuses
        return None
    return state if isinstance(state, dict) else None


def check_against_torch(found: OpenedFile | None, data: bytes, flips: int) -> None:
    """Every table is what PyTorch reads, or, where it reads nothing, the saved one but for flipped bytes."""
    state = trusted(data)
    for table in found.tables if found else ():
        values = rows(table)
        if values is None:
            continue
        if state is not None and isinstance(state.get(table.name), torch.Tensor):
            expected = state[table.name].detach().reshape(values.shape).numpy()
            assert values.tobytes() == expected.tobytes()
        elif table.name in STATE and values.shape == STATE[table.name].shape:
            assert int((values != STATE[table.name].numpy()).any(axis=1).sum()) <= flips


@settings(max_examples=400)
@given(data=st.data())
def test_that_a_flipped_legacy_file_gives_what_pytorch_reads_or_an_error(
    path: Path, data: st.DataObject
) -> None:
    damaged = bytearray(LEGACY)
    places = data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=3))
    for place in places:
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    check_against_torch(opened(path, bytes(damaged)), bytes(damaged), len(places))


@pytest.mark.parametrize("form", ["zip", "legacy"])
@settings(max_examples=200)
@given(data=st.data())
def test_that_spliced_files_give_the_rows_of_one_or_an_error(
    path: Path, form: str, data: st.DataObject
) -> None:
    first, second = data.draw(st.permutations([WHOLE[form], OTHER[form]]))
    spliced = (
        first[: data.draw(st.integers(0, len(first)))] + second[data.draw(st.integers(0, len(second))) :]
    )
    found = opened(path, spliced)
    if form == "legacy":
        state = trusted(spliced)
        if state is not None:
            check_against_torch(found, spliced, 0)
        return
    for table in found.tables if found else ():
        values = rows(table)
        candidates = [STATE[table.name].numpy()]
        if table.name == "embedding.weight":
            candidates.append((ROWS + 1000).numpy())
        if table.name == "pos_embedding":
            candidates.append(np.ones((3, 4), np.float32))
        assert values is None or any(np.array_equal(values, candidate) for candidate in candidates)


@settings(max_examples=150)
@given(data=st.data())
def test_that_bytes_put_in_or_left_out_never_shift_a_table(path: Path, data: st.DataObject) -> None:
    for whole in (ZIP, LEGACY):
        place = data.draw(st.integers(0, len(whole)))
        more = data.draw(st.binary(max_size=8))
        damaged = whole[:place] + more + whole[place + data.draw(st.integers(0, 8)) :]
        if damaged == whole:
            continue
        found = opened(path, damaged)
        if whole is LEGACY:
            check_against_torch(found, damaged, 8)
        else:
            for table in found.tables if found else ():
                values = rows(table)
                assert values is None or np.array_equal(values, STATE[table.name].numpy())
