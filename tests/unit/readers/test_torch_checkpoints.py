"""Checkpoints as PyTorch writes them open with the right tables and the very numbers that were saved."""

from __future__ import annotations

import argparse
import collections
import pathlib
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from family_shapes import FAMILIES
from model_shapes import BOOKS, Model
from torch import nn
from torch_files import FORMS, NET_TABLES, Net, Tied, listed, rows_of, save

from explorer.core.errors import ExplorerError
from explorer.readers import open_file


def small(model: Model) -> dict[str, torch.Tensor]:
    """A model's state dict, with its true names and shapes in half precision."""
    generator = torch.Generator().manual_seed(0)
    return {
        name: torch.zeros(shape, dtype=torch.half)
        if len(shape) == 4 and shape[0] == 1  # mask buffers
        else torch.randint(-9, 9, shape, generator=generator, dtype=torch.int8).half()
        for name, shape in model.tensors.items()
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", BOOKS.values(), ids=BOOKS)
def test_that_each_system_of_the_books_opens_with_its_tables(tmp_path: Path, model: Model, form: str) -> None:
    state = small(model)
    opened = open_file(save(tmp_path, state, form))
    assert listed(opened) == model.tables
    for table in opened.tables:
        expected = state[table.name].reshape(table.rows, table.dim)
        np.testing.assert_array_equal(table.read(), expected.numpy())
        assert table.dtype == "float16"


@pytest.mark.parametrize("name", ["Stable Diffusion 1", "OpenAI CLIP", "BERT", "timm ViT"])
def test_that_public_families_open_with_their_tables(tmp_path: Path, name: str) -> None:
    model = FAMILIES[name]
    state = {key: torch.zeros(shape, dtype=torch.float8_e5m2) for key, shape in model.tensors.items()}
    assert listed(open_file(save(tmp_path, {"state_dict": state}))) == model.tables


WRAPPINGS = {
    "bare": lambda state: state,
    "ordered": lambda state: collections.OrderedDict(state),
    "state_dict": lambda state: {
        "epoch": 3,
        "state_dict": state,
        "optimizer": {"state": {0: {"exp_avg": state["fc.weight"]}}},
    },
    "model_state_dict": lambda state: {"model_state_dict": state, "loss": 0.25},
    "nested": lambda state: {"checkpoint": {"model": {"module": state}}},
    "best of several": lambda state: {
        "net": state,
        "args": argparse.Namespace(lr=0.1),
        "path": pathlib.Path("x"),
    },
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_that_wrapped_state_dicts_keep_the_names_of_their_tensors(
    tmp_path: Path, wrapping: str, form: str
) -> None:
    net = Net()
    opened = open_file(save(tmp_path, WRAPPINGS[wrapping](net.state_dict()), form))
    assert listed(opened) == NET_TABLES
    np.testing.assert_array_equal(opened.tables[0].read(), net.embedding.weight.detach().numpy())


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "model.", "module._orig_mod."])
def test_that_prefixes_stay_in_the_name_and_do_not_hide_the_role(tmp_path: Path, prefix: str) -> None:
    state = {prefix + key: value for key, value in Net().state_dict().items()}
    assert listed(open_file(save(tmp_path, {"state_dict": state}))) == [
        (prefix + name, *rest) for name, *rest in NET_TABLES
    ]


def test_that_an_averaged_copy_of_a_model_is_told_from_the_model(tmp_path: Path) -> None:
    net, copy = Net(), Net()
    opened = open_file(save(tmp_path, {"model": net.state_dict(), "ema": copy.state_dict()}))
    tables = {table.name: table for table in opened.tables}
    assert {"model.embedding.weight", "ema.embedding.weight"} < set(tables)
    np.testing.assert_array_equal(
        tables["ema.embedding.weight"].read(), copy.embedding.weight.detach().numpy()
    )


@pytest.mark.parametrize("form", FORMS)
def test_that_a_lightning_checkpoint_opens_without_running_what_it_holds(tmp_path: Path, form: str) -> None:
    net = Net()
    checkpoint = {
        "epoch": 1,
        "pytorch-lightning_version": "2.5.0",
        "state_dict": {f"model.{key}": value for key, value in net.state_dict().items()},
        "callbacks": {
            "ModelCheckpoint": {"best_model_score": torch.tensor(0.5), "dirpath": pathlib.Path("runs")}
        },
        "optimizer_states": [{"state": {0: {"exp_avg": torch.ones(60, 6)}}}],
        "lr_schedulers": [],
        "hparams_name": "args",
        "hyper_parameters": {
            "args": argparse.Namespace(lr=1e-3, root=pathlib.Path("data")),
            "scale": np.float32(0.5),
            "weights": np.ones((9, 3)),
            "space": types.SimpleNamespace(a=1),
        },
    }
    opened = open_file(save(tmp_path, checkpoint, form, "last.ckpt"))
    assert listed(opened) == [("model." + name, *rest) for name, *rest in NET_TABLES]
    np.testing.assert_array_equal(opened.tables[0].read(), net.embedding.weight.detach().numpy())


@pytest.mark.parametrize("form", FORMS)
def test_that_a_whole_pickled_module_opens_bit_for_bit(tmp_path: Path, form: str) -> None:
    net = Net()
    opened = open_file(save(tmp_path, net, form))
    assert listed(opened) == NET_TABLES
    for table in opened.tables:
        expected = net.state_dict()[table.name].reshape(table.rows, table.dim).numpy()
        assert rows_of(table).tobytes() == expected.tobytes()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("whole", [True, False])
def test_that_tied_weights_are_one_table_with_both_names(tmp_path: Path, form: str, whole: bool) -> None:
    net = Tied()
    opened = open_file(save(tmp_path, net if whole else net.state_dict(), form))
    assert listed(opened) == NET_TABLES[:2]
    assert opened.tables[0].aliases == ("fc.weight",)


@pytest.mark.parametrize("frozen", [False, True])
def test_that_a_torchscript_archive_opens_without_its_code(tmp_path: Path, frozen: bool) -> None:
    net = Net().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.script(net)
        script = torch.jit.freeze(script) if frozen else script
        script.save(str(tmp_path / "net.pt"))
    opened = open_file(tmp_path / "net.pt")
    assert opened.format == "TorchScript archive"
    expected = net.embedding.weight.detach().numpy()
    if not frozen:
        assert listed(opened) == NET_TABLES
        np.testing.assert_array_equal(opened.tables[0].read(), expected)
    assert any(np.array_equal(table.read(), expected) for table in opened.tables)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2],
    ids=str,
)
def test_that_every_float_type_opens_as_stored(tmp_path: Path, dtype: torch.dtype, form: str) -> None:
    values = torch.randn(50, 8, generator=torch.Generator().manual_seed(1)).to(dtype)
    (table,) = open_file(save(tmp_path, {"embedding.weight": values}, form)).tables
    assert f"torch.{table.dtype}" == str(dtype)
    np.testing.assert_array_equal(rows_of(table), values.float().numpy())


VIEWS = {
    "transposed": lambda base: base.t(),
    "every other row": lambda base: base[::2],
    "columns": lambda base: base[:, 3:9],
    "one row on": lambda base: base[1:],
    "expanded": lambda base: base[:1].expand(50, 30),
    "folded": lambda base: base.reshape(5, 8, 30).permute(1, 0, 2)[:, 2],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("view", VIEWS)
def test_that_views_of_a_storage_read_right(tmp_path: Path, view: str, form: str) -> None:
    base = torch.arange(1200.0).reshape(40, 30)
    tensor = VIEWS[view](base)
    opened = open_file(save(tmp_path, {"embedding.weight": tensor, "whole.embedding.weight": base}, form))
    tables = {table.name: table for table in opened.tables}
    np.testing.assert_array_equal(tables["embedding.weight"].read(), tensor.numpy())
    np.testing.assert_array_equal(tables["whole.embedding.weight"].read(), base.numpy())


@pytest.mark.parametrize("form", FORMS)
def test_that_a_bare_tensor_is_a_table(tmp_path: Path, form: str) -> None:
    for shape, rows in (((5, 3), 5), ((3,), 1), ((2, 4, 3), 8)):
        values = torch.arange(float(np.prod(shape))).reshape(shape)
        (table,) = open_file(save(tmp_path, values, form)).tables
        assert (table.name, table.rows, table.dim, table.role.value) == ("tensor", rows, 3, "other")
        np.testing.assert_array_equal(table.read(), values.reshape(rows, 3).numpy())
    (table,) = open_file(save(tmp_path, nn.Parameter(torch.ones(4, 2)), form)).tables
    np.testing.assert_array_equal(table.read(), np.ones((4, 2)))


def test_that_tensors_that_cannot_be_shown_are_named_and_the_others_open(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = {
            "embedding.weight": torch.rand(50, 4),
            "q": torch.quantize_per_tensor(torch.randn(3, 4), 0.1, 0, torch.qint8),
            "s": torch.eye(3).to_sparse(),
            "r": torch.eye(3).to_sparse_csr(),
            "m": torch.empty(3, device="meta"),
            "c": torch.zeros(2, 2, dtype=torch.complex64),
        }
    for form in FORMS:
        opened = open_file(save(tmp_path, state, form))
        assert [table.name for table in opened.tables] == ["embedding.weight"]
        notes = " ".join(opened.notes)
        for kind, name in (("quantised", "q"), ("sparse", "s, r"), ("without data", "m"), ("complex", "c")):
            assert f"{kind} ({name})" in notes


def test_that_a_quantised_lookup_is_refused_by_name(tmp_path: Path) -> None:
    path = save(tmp_path, {"wte.weight": torch.zeros(50, 4, dtype=torch.int8), "wte.scale": torch.ones(50)})
    with pytest.raises(ExplorerError, match=r"quantised \(wte\.weight\)"):
        open_file(path)


@pytest.mark.parametrize("form", FORMS)
def test_that_reading_goes_on_after_the_file_is_gone_from_its_folder(tmp_path: Path, form: str) -> None:
    path = save(tmp_path, {"embedding.weight": torch.ones(50, 4)}, form)
    (table,) = open_file(path).tables
    path.unlink()
    with pytest.raises(ExplorerError, match="cannot be read"):
        table.read()


def test_that_a_file_written_anew_is_not_read_by_the_old_list(tmp_path: Path) -> None:
    path = save(tmp_path, {"embedding.weight": torch.ones(50, 4)})
    (table,) = open_file(path).tables
    save(tmp_path, {"other": torch.ones(1), "embedding.weight": torch.zeros(50, 4), "more": torch.ones(99)})
    with pytest.raises(ExplorerError, match="has changed since it was opened"):
        table.read()


def test_that_an_archive_without_checksums_opens(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(False)
    try:
        path = save(tmp_path, {"embedding.weight": torch.arange(200.0).reshape(50, 4)})
    finally:
        torch.serialization.set_crc32_options(True)
    (table,) = open_file(path).tables
    np.testing.assert_array_equal(table.read(), np.arange(200.0).reshape(50, 4))


def test_that_a_checkpoint_without_tables_says_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="holds no tensors"):
        open_file(save(tmp_path, {"epoch": 3}))
    optimizer = {
        "state": {0: {"step": torch.tensor(1.0), "exp_avg": torch.ones(5, 4)}},
        "param_groups": [{"lr": 0.1}],
    }
    with pytest.raises(ExplorerError, match="holds no tensors"):
        open_file(save(tmp_path, optimizer))
    with pytest.raises(ExplorerError, match="1 tensor, but it is no table"):
        open_file(save(tmp_path, torch.tensor(1.5)))
    with pytest.raises(ExplorerError, match="1 tensor, but it is no table"):
        open_file(save(tmp_path, {"conv.weight": torch.zeros(8, 3, 3, 3)}))
