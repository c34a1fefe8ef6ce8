"""Vocabularies meet tables: found beside a checkpoint, or chosen by hand."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors
from tokenizers import Tokenizer, models

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers import open_file


def checkpoint(path: Path, **shapes: tuple[int, int]) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    torch.save({name.replace("__", "."): torch.randn(shape) for name, shape in shapes.items()}, path)
    return path


def dump(path: Path, value: object) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(pickle.dumps(value))
    return path


def words(count: int, stem: str = "w") -> dict[str, int]:
    return {f"{stem}{row}": row for row in range(count)}


def table(file: OpenedFile, name: str) -> EmbeddingTable:
    found = next(each for each in file.tables if each.name == name)
    assert found.labels is None or len(found.labels) == found.rows
    return found


LSTM = {"embedding__weight": (300, 8), "fc__weight": (300, 8), "fc__bias": (300, 1)}


def test_that_a_pickle_beside_the_checkpoint_names_its_words_and_its_output_layer(tmp_path):
    checkpoint(tmp_path / "wordLSTM.pth", **LSTM)
    shuffled = dict(sorted(words(300).items(), key=lambda item: str(item[1])))
    dump(tmp_path / "word_to_int.p", shuffled)
    file = open_file(tmp_path / "wordLSTM.pth")
    embedding, output = table(file, "embedding.weight"), table(file, "fc.weight")
    assert list(embedding.labels) == list(words(300))
    assert embedding.labels.source == "word_to_int.p"
    assert output.role is Role.OUTPUT
    assert output.labels is embedding.labels
    assert not file.notes


TRANSLATOR = {
    "src_embed__0__lut__weight": (40, 8),
    "tgt_embed__0__lut__weight": (50, 8),
    "generator__proj__weight": (50, 8),
}
SOURCE = {"PAD": 0, "UNK": 1, "the</w>": 2, "BOS": 3, "EOS": 4, **{f"en{i}": i for i in range(5, 40)}}
TARGET = {"PAD": 0, "UNK": 1, "BOS": 2, "EOS": 3, **{f"fr{i}": i for i in range(4, 50)}}


def mirrored(mapping: dict[str, int]) -> dict[int, str]:
    return {row: word for word, row in mapping.items()}


def test_that_each_side_of_a_translator_has_its_own_words(tmp_path):
    checkpoint(tmp_path / "en2fr.pth", **TRANSLATOR)
    dump(tmp_path / "dict.p", (SOURCE, mirrored(SOURCE), TARGET, mirrored(TARGET)))
    file = open_file(tmp_path / "en2fr.pth")
    source, target = table(file, "src_embed.0.lut.weight"), table(file, "tgt_embed.0.lut.weight")
    assert list(source.labels) == list(SOURCE)
    assert list(target.labels) == list(TARGET)
    assert table(file, "generator.proj.weight").labels is target.labels
    assert source.labels.special.tolist() == [0, 1, 3, 4]
    assert target.labels.special.tolist() == [0, 1, 2, 3]


def test_that_the_dictionary_of_another_translator_is_not_used(tmp_path):
    shapes = {**TRANSLATOR, "src_embed__0__lut__weight": (70, 8), "tgt_embed__0__lut__weight": (36, 8)}
    checkpoint(tmp_path / "de2en.pth", **{**shapes, "generator__proj__weight": (36, 8)})
    dump(tmp_path / "dict.p", (SOURCE, mirrored(SOURCE), TARGET, mirrored(TARGET)))
    file = open_file(tmp_path / "de2en.pth")
    assert all(each.labels is None for each in file.tables)
    assert any("dict.p was not used" in note for note in file.notes)


def test_that_sides_can_be_chosen_by_hand(tmp_path):
    path = checkpoint(tmp_path / "a" / "en2fr.pth", **TRANSLATOR)
    english, french = dump(tmp_path / "en.p", SOURCE), dump(tmp_path / "fr.p", TARGET)
    both = dump(tmp_path / "both.p", (SOURCE, mirrored(SOURCE), TARGET, mirrored(TARGET)))
    for chosen in (
        {"labels": english, "target_labels": french},
        {"labels": both},
        {"labels": both, "target_labels": both},
    ):
        file = open_file(path, **chosen)
        assert list(table(file, "src_embed.0.lut.weight").labels) == list(SOURCE)
        assert list(table(file, "tgt_embed.0.lut.weight").labels) == list(TARGET)
        assert list(table(file, "generator.proj.weight").labels) == list(TARGET)
    file = open_file(path, labels=english)
    assert list(table(file, "src_embed.0.lut.weight").labels) == list(SOURCE)
    assert table(file, "tgt_embed.0.lut.weight").labels is None
    assert table(file, "generator.proj.weight").labels is None
    file = open_file(path, target_labels=french)
    assert table(file, "src_embed.0.lut.weight").labels is None
    assert list(table(file, "generator.proj.weight").labels) == list(TARGET)


def test_that_a_model_without_a_target_side_says_so(tmp_path):
    path = checkpoint(tmp_path / "a" / "lstm.pth", **LSTM)
    with pytest.raises(ExplorerError, match="no target side"):
        open_file(path, target_labels=dump(tmp_path / "w.p", words(300)))


def test_that_chosen_labels_of_another_count_are_refused_with_the_first_and_last_pairs(tmp_path):
    path = checkpoint(tmp_path / "a" / "lstm.pth", **LSTM)
    for value in (words(301), words(100), list(words(299))):
        with pytest.raises(ExplorerError) as caught:
            open_file(path, labels=dump(tmp_path / "w.p", value))
        assert f"w.p has {len(value)} labels for the 300 rows of embedding.weight" in str(caught.value)
        assert f"row 0 would be “w0”, and “w{len(value) - 1}” row {len(value) - 1}" in str(caught.value)
    labels = tmp_path / "labels.txt"
    labels.write_text("".join(f"w{i}\n" for i in range(298)))
    with pytest.raises(
        ExplorerError, match=r"298 labels for 300 rows: row 0 would be “w0”, and “w297” row 297"
    ):
        open_file(path, labels=labels)


def test_that_a_text_with_one_line_too_many_is_asked_about(tmp_path):
    path = checkpoint(tmp_path / "a" / "lstm.pth", **LSTM)
    labels = tmp_path / "labels.txt"
    labels.write_text("word\n" + "".join(f"w{i}\n" for i in range(300)))
    with pytest.raises(ExplorerError, match="--labels-header"):
        open_file(path, labels=labels)
    assert list(table(open_file(path, labels=labels, header=True), "embedding.weight").labels) == list(
        words(300)
    )
    with pytest.raises(ExplorerError, match="301 labels for 300 rows"):
        open_file(path, labels=labels, header=False)


def test_that_a_found_text_with_one_line_too_many_is_asked_about_in_a_note(tmp_path):
    path = checkpoint(tmp_path / "lstm.pth", **LSTM)
    (tmp_path / "labels.txt").write_text("word\n" + "".join(f"w{i}\n" for i in range(300)))
    file = open_file(path)
    assert table(file, "embedding.weight").labels is None
    assert "--labels-header" in file.notes[0]
    assert list(table(open_file(path, header=True), "embedding.weight").labels) == list(words(300))


def test_that_rows_past_the_last_token_are_padding_and_nothing_shifts(tmp_path):
    path = checkpoint(tmp_path / "model.pth", model__embed_tokens__weight=(320, 8))
    (tmp_path / "vocab.json").write_text(json.dumps(words(300)))
    labels = table(open_file(path), "model.embed_tokens.weight").labels
    assert labels.padding == 20
    assert labels[299] == "w299"
    assert labels[300] == "#300"
    assert labels.count == 300


def test_that_gaps_in_the_ids_are_rows_without_a_name(tmp_path):
    path = checkpoint(tmp_path / "model.pth", embedding__weight=(6, 8))
    dump(tmp_path / "word_to_int.p", {"a": 0, "b": 1, "e": 4, "f": 5})
    labels = table(open_file(path), "embedding.weight").labels
    assert list(labels) == ["a", "b", "#2", "#3", "e", "f"]
    assert labels.padding == 0


@pytest.mark.parametrize("count", [12, 49_999, 50_001])
def test_that_a_list_of_another_length_is_not_used_silently(tmp_path, count):
    path = checkpoint(tmp_path / "model.pth", embedding__weight=(50_000, 2))
    (tmp_path / "labels.txt").write_text("".join(f"w{i}\n" for i in range(count)))
    file = open_file(path)
    assert file.tables[0].labels is None
    assert "labels.txt was not used" in file.notes[0]
    assert f"{count:,}" in file.notes[0]


def test_that_the_name_of_the_checkpoint_decides_between_files_that_fit(tmp_path):
    path = checkpoint(tmp_path / "cats.pth", embedding__weight=(30, 8))
    dump(tmp_path / "word_to_int.p", words(30, "general"))
    dump(tmp_path / "cats_vocab.p", words(30, "cat"))
    dump(tmp_path / "dogs_vocab.p", words(30, "dog"))
    file = open_file(path)
    assert file.tables[0].labels.source == "cats_vocab.p"
    assert file.tables[0].labels[3] == "cat3"
    assert "named by cats_vocab.p; word_to_int.p would fit as well" in file.notes[0]


@pytest.mark.parametrize(("rows", "used"), [(30, False), (700, True)])
def test_that_a_file_named_for_something_else_must_agree_in_more_than_a_small_count(tmp_path, rows, used):
    path = checkpoint(tmp_path / "cats.pth", embedding__weight=(rows, 8))
    dump(tmp_path / "dogs_vocab.p", words(rows, "dog"))
    file = open_file(path)
    assert (file.tables[0].labels is not None) is used
    assert not file.notes


def test_that_an_exact_count_goes_before_a_padded_one(tmp_path):
    path = checkpoint(tmp_path / "model.pth", embedding__weight=(30, 8))
    dump(tmp_path / "word_to_int.p", words(25, "short"))
    dump(tmp_path / "my_words.p", words(30, "full"))
    assert open_file(path).tables[0].labels[0] == "full0"


def test_that_chosen_labels_replace_found_and_inner_ones(tmp_path):
    path = checkpoint(tmp_path / "model.pth", embedding__weight=(30, 8))
    dump(tmp_path / "word_to_int.p", words(30, "found"))
    chosen = dump(tmp_path / "other" / "mine.p", words(30, "mine"))
    assert open_file(path, labels=chosen).tables[0].labels[0] == "mine0"
    vectors = tmp_path / "v.txt"
    vectors.write_text("a 1 2\nb 3 4\n")
    names = tmp_path / "other" / "names.txt"
    names.write_text("x\ny\n")
    assert list(open_file(vectors, labels=names).tables[0].labels) == ["x", "y"]


def test_that_word_vectors_keep_their_own_names(tmp_path):
    (tmp_path / "v.txt").write_text("a 1 2\nb 3 4\n")
    (tmp_path / "labels.txt").write_text("x\ny\n")
    assert list(open_file(tmp_path / "v.txt").tables[0].labels) == ["a", "b"]


def test_that_position_tables_get_no_names(tmp_path):
    path = checkpoint(
        tmp_path / "gpt.pth",
        transformer__wte__weight=(64, 8),
        transformer__wpe__weight=(64, 8),
        lm_head__weight=(64, 8),
    )
    dump(tmp_path / "vocab.p", words(64))
    file = open_file(path)
    assert table(file, "transformer.wte.weight").labels is not None
    assert table(file, "lm_head.weight").labels is not None
    assert table(file, "transformer.wpe.weight").labels is None


def test_that_music_events_name_themselves(tmp_path):
    path = checkpoint(
        tmp_path / "musicTrans.pth",
        transformer__wte__weight=(390, 8),
        transformer__wpe__weight=(2048, 8),
        lm_head__weight=(390, 8),
    )
    file = open_file(path)
    labels = table(file, "transformer.wte.weight").labels
    assert labels.source == "music events"
    assert [labels[row] for row in (0, 60, 127, 128, 188, 255, 256, 355, 356, 387, 388, 389)] == [
        *("note_on_0", "note_on_60", "note_on_127", "note_off_0", "note_off_60", "note_off_127"),
        *("time_shift_10", "time_shift_1000", "velocity_0", "velocity_31", "end", "pad"),
    ]
    assert labels.special.tolist() == [388, 389]
    assert table(file, "lm_head.weight").labels is labels
    assert table(file, "transformer.wpe.weight").labels is None


def test_that_390_rows_alone_are_no_music(tmp_path):
    path = checkpoint(
        tmp_path / "g.pth", transformer__wte__weight=(390, 8), transformer__wpe__weight=(128, 8)
    )
    assert open_file(path).tables[0].labels is None


def test_that_a_lone_array_takes_the_labels_beside_it(tmp_path):
    np.save(tmp_path / "vectors.npy", np.ones((3, 2), np.float32))
    (tmp_path / "labels.txt").write_text("a\n\nc\n")
    labels = open_file(tmp_path / "vectors.npy").tables[0].labels
    assert list(labels) == ["a", "", "c"]
    assert labels.source == "labels.txt"


def test_that_columns_of_a_chosen_text_describe_the_rows(tmp_path):
    np.save(tmp_path / "vectors.npy", np.ones((2, 2), np.float32))
    (tmp_path / "about.tsv").write_text("name\tyear\na\t1999\nb\t2001\n")
    found = open_file(tmp_path / "vectors.npy", labels=tmp_path / "about.tsv").tables[0]
    assert list(found.labels) == ["a", "b"]
    assert found.metadata["year"].tolist() == [1999, 2001]


def test_that_the_vectors_of_a_gensim_model_opened_alone_have_its_words(tmp_path):
    vectors = KeyedVectors(4)
    vectors.add_vectors(["king", "né"], np.eye(2, 4, dtype=np.float32))
    vectors.save(str(tmp_path / "words.kv"), separately=["vectors"])
    labels = open_file(tmp_path / "words.kv.vectors.npy").tables[0].labels
    assert list(labels) == ["king", "né"]
    assert labels.source == "words.kv"


def tokenizer(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = Tokenizer(models.WordLevel(words(count, "t"), unk_token="t0"))
    made.add_special_tokens(["t0"])
    made.save(str(folder / "tokenizer.json"))


def test_that_the_tokenizer_folder_of_a_pipeline_is_found(tmp_path):
    name = "text_model__embeddings__token_embedding__weight"
    path = checkpoint(tmp_path / "text_encoder" / "pytorch_model.bin", **{name: (40, 8)})
    tokenizer(tmp_path / "tokenizer", 40)
    labels = open_file(path).tables[0].labels
    assert labels[1] == "t1"
    assert labels.source == "tokenizer.json"
    assert labels.special.tolist() == [0]


def test_that_a_folder_of_a_tokenizer_can_be_chosen(tmp_path):
    path = checkpoint(tmp_path / "a" / "model.pth", embedding__weight=(40, 8))
    tokenizer(tmp_path / "tok", 40)
    assert open_file(path, labels=tmp_path / "tok").tables[0].labels[7] == "t7"
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExplorerError, match="holds no vocabulary"):
        open_file(path, labels=tmp_path / "empty")


def test_that_a_damaged_vocabulary_leaves_the_table_open_and_says_so(tmp_path):
    path = checkpoint(tmp_path / "model.pth", embedding__weight=(40, 8))
    (tmp_path / "vocab.json").write_text('{"a": 0, "b"')
    file = open_file(path)
    assert file.tables[0].labels is None
    assert "vocab.json was not used. vocab.json is damaged" in file.notes[0]


def test_that_a_chosen_file_that_is_missing_says_so(tmp_path):
    path = checkpoint(tmp_path / "model.pth", embedding__weight=(40, 8))
    with pytest.raises(ExplorerError, match=r"There is no file .*gone\.json"):
        open_file(path, labels=tmp_path / "gone.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_that_a_pipe_is_not_waited_for(tmp_path):
    path = checkpoint(tmp_path / "model.pth", embedding__weight=(40, 8))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ExplorerError, match="pipe is no file"):
        open_file(path, labels=tmp_path / "pipe")


def test_that_a_vocabulary_names_no_rows_of_one_layers_weights(tmp_path):
    path = checkpoint(tmp_path / "model.pth", h__0__mlp__weight=(64, 16), ln_f__weight=(16,))
    tokenizer(tmp_path, 64)
    file = open_file(path)
    assert file.tables[0].labels is None
    assert not file.notes
    assert open_file(path, labels=tmp_path / "tokenizer.json").tables[0].labels[1] == "t1"
