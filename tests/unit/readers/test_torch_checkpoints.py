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
from model_shapes import BOOKS, FAMILIES, Model
from torch import nn

from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.readers import open_file

LEGACY = {"_use_new_zipfile_serialization": False}
FORMS = {"zip": {}, "legacy": LEGACY}


def listed(opened: OpenedFile) -> list[tuple[str, int, int, str]]:
    return [(table.name, table.rows, table.dim, table.role.value) for table in opened.tables]


def save(folder: Path, value: object, form: str = "zip", name: str = "model.pth") -> Path:
    torch.save(value, folder / name, **FORMS[form])
    return folder / name


def rows_of(table: EmbeddingTable) -> np.ndarray:
    return as_float32(table.read())


def small(model: Model) -> dict[str, torch.Tensor]:
    """A model's state dict, with its true names and shapes in half precision."""
    generator = torch.Generator().manual_seed(0)
    return {
        name: torch.zeros(shape, dtype=torch.half)
        if len(shape) == 4 and shape[0] == 1  # mask buffers
        else torch.randint(-9, 9, shape, generator=generator, dtype=torch.int8).half()
        for name, shape in model.tensors.items()
    }


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(60, 6)
        self.register_buffer("pe", torch.arange(24.0).reshape(1, 4, 6))
        self.layers = nn.ModuleList([nn.Linear(6, 6)])
        self.fc = nn.Linear(6, 60)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.embedding(ids) + self.pe
        for layer in self.layers:
            hidden = layer(hidden)
        return self.fc(hidden)


class Tied(Net):
    def __init__(self) -> None:
        super().__init__()
        self.fc.weight = self.embedding.weight


NET_TABLES = [
    ("embedding.weight", 60, 6, "token"),
    ("pe", 4, 6, "position"),
    ("fc.weight", 60, 6, "output layer"),
]


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


def test_that_a_list_of_vectors_is_one_table_and_a_list_of_matrices_many(tmp_path: Path) -> None:
    vectors = [torch.full((4,), float(i)) for i in range(7)]
    (table,) = open_file(save(tmp_path, vectors)).tables
    np.testing.assert_array_equal(table.read(), torch.stack(vectors).numpy())
    opened = open_file(save(tmp_path, (torch.ones(9, 3), torch.zeros(8, 2))))
    assert [(table.name, table.rows, table.dim) for table in opened.tables] == [("0", 9, 3), ("1", 8, 2)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["tensor", "array", "list"])
def test_that_vectors_by_name_are_one_table_with_those_names(tmp_path: Path, kind: str, form: str) -> None:
    make = {
        "tensor": lambda i: torch.tensor([i, i + 0.5]),
        "array": lambda i: np.array([i, i + 0.5], np.float32),
        "list": lambda i: [float(i), i + 0.5],
    }[kind]
    words = [f"word{i}" for i in range(100)]
    (table,) = open_file(save(tmp_path, {word: make(i) for i, word in enumerate(words)}, form)).tables
    assert table.role.value == "token"
    assert list(table.labels) == words
    np.testing.assert_array_equal(rows_of(table), [[i, i + 0.5] for i in range(100)])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("as_array", [True, False])
def test_that_features_and_image_ids_are_image_vectors_with_labels(
    tmp_path: Path, form: str, as_array: bool
) -> None:
    names = [f"{i:04d}.jpg" for i in range(20)]
    features = np.arange(60, dtype=np.float32).reshape(20, 3)
    value = {
        "features": features if as_array else torch.from_numpy(features),
        "image_ids": np.array(names) if as_array else names,
        "captions": [f"picture {i}" for i in range(20)],
        "classes": [i % 3 for i in range(20)],
    }
    (table,) = open_file(save(tmp_path, value, form)).tables
    assert (table.name, table.role.value) == ("features", "image vectors")
    assert list(table.labels) == names
    assert list(table.metadata["captions"]) == value["captions"]
    assert table.metadata["classes"].tolist() == value["classes"]
    np.testing.assert_array_equal(table.read(), features)


@pytest.mark.parametrize("form", FORMS)
def test_that_whole_numbers_in_a_tensor_name_rows_and_classes_do_not(tmp_path: Path, form: str) -> None:
    value = {
        "image_features": torch.rand(6, 3),
        "text_features": torch.rand(6, 3),
        "image_ids": torch.arange(100, 106),
        "labels": torch.tensor([0, 1, 0, 1, 0, 0]),
    }
    images, captions = open_file(save(tmp_path, value, form)).tables
    assert (images.name, images.role.value) == ("image_features", "image vectors")
    assert (captions.name, captions.role.value) == ("text_features", "other")
    assert list(images.labels) == [str(i) for i in range(100, 106)]
    assert images.metadata["labels"].tolist() == [0, 1, 0, 1, 0, 0]
    del value["image_ids"]
    assert open_file(save(tmp_path, value, form)).tables[0].labels is None


@pytest.mark.parametrize("key", ["words", "tokens", "itos", "word2idx"])
def test_that_a_tensor_beside_its_words_has_them_as_labels(tmp_path: Path, key: str) -> None:
    words = [f"w{i}" for i in range(10)]
    names = {word: i for i, word in enumerate(words)} if key == "word2idx" else words
    (table,) = open_file(save(tmp_path, {"embeddings": torch.rand(10, 4), key: names})).tables
    assert (table.name, table.role.value, list(table.labels)) == ("embeddings", "token", words)


def test_that_names_of_another_count_are_not_used_and_that_is_said(tmp_path: Path) -> None:
    value = {"embeddings": torch.rand(10, 4), "words": [f"w{i}" for i in range(11)]}
    (table,) = open_file(save(tmp_path, value)).tables
    assert table.labels is None
    assert "11 entries for 10 rows" in table.notes[0]


def test_that_torchtext_vectors_have_their_words(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(30)]
    value = (words, {word: i for i, word in enumerate(words)}, torch.rand(30, 5), 5)
    (table,) = open_file(save(tmp_path, value)).tables
    assert (table.rows, table.dim, list(table.labels)) == (30, 5, words)


def test_that_a_vocabulary_inside_a_checkpoint_names_the_token_table(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(60)]
    for vocabulary in (words, {word: i for i, word in enumerate(words)}):
        opened = open_file(save(tmp_path, {"state_dict": Net().state_dict(), "vocab": vocabulary}))
        assert listed(opened) == NET_TABLES
        assert list(opened.tables[0].labels) == words
        assert opened.tables[0].labels.source == "inside the file"
        assert opened.tables[1].labels is None


def test_that_a_source_and_a_target_vocabulary_go_to_their_sides(tmp_path: Path) -> None:
    state = {"src_embed.0.lut.weight": torch.rand(9, 4), "tgt_embed.0.lut.weight": torch.rand(9, 4)}
    value = {"model": state, "src_vocab": list("abcdefghi"), "tgt_vocab": list("rstuvwxyz")}
    source, target = open_file(save(tmp_path, value)).tables
    assert ["".join(source.labels), "".join(target.labels)] == ["abcdefghi", "rstuvwxyz"]


def test_that_textual_inversions_are_rows_of_their_token(tmp_path: Path) -> None:
    learned = torch.rand(3, 768)
    value = {
        "string_to_token": {"*": 265},
        "string_to_param": {"*": learned},
        "name": "my-style",
        "step": 500,
    }
    (table,) = open_file(save(tmp_path, value)).tables
    assert (table.name, table.rows, table.role.value) == ("string_to_param.*", 3, "token")
    assert list(table.labels) == ["my-style", "my-style_1", "my-style_2"]
    np.testing.assert_array_equal(table.read(), learned.numpy())
    value["string_to_param"] = nn.ParameterDict({"*": nn.Parameter(learned)})
    (table,) = open_file(save(tmp_path, value)).tables
    np.testing.assert_array_equal(table.read(), learned.numpy())
    (table,) = open_file(save(tmp_path, {"<cat-toy>": torch.rand(768)}, name="learned_embeds.bin")).tables
    assert (table.rows, table.dim, list(table.labels), table.role.value) == (1, 768, ["<cat-toy>"], "token")


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
