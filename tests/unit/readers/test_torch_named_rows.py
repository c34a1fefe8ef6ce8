"""Checkpoints that name their rows: vectors by name, words beside a tensor, vocabularies, image ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch_files import FORMS, NET_TABLES, Net, listed, rows_of, save

from explorer.readers import open_file


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
