"""Vocabularies in every form they are saved in."""

from __future__ import annotations

import json
import pickle
import sys
import types
from collections import Counter, OrderedDict, defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from explorer.core.errors import ExplorerError
from explorer.readers import sentencepiece
from explorer.readers.label_text import LabelText
from explorer.readers.special_tokens import special_by_name
from explorer.readers.vocabulary_files import Vocabulary, read_vocabulary

WORDS = ["the", "of", "né", "日本", ""]
FORWARD = {word: row for row, word in enumerate(WORDS)}
BACKWARD = dict(enumerate(WORDS))


def pickled(tmp_path: Path, value: object, protocol: int = 4) -> Path:
    path = tmp_path / "vocab.p"
    path.write_bytes(pickle.dumps(value, protocol))
    return path


def one(path: Path) -> Vocabulary:
    found = read_vocabulary(path)
    assert not isinstance(found, LabelText)
    (vocabulary,) = found
    return vocabulary


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    ("value", "keyed"),
    [
        (FORWARD, True),
        (dict(reversed(FORWARD.items())), True),
        (BACKWARD, True),
        ((FORWARD, BACKWARD), True),
        ((BACKWARD, FORWARD), True),
        ((FORWARD, WORDS), True),
        (OrderedDict(FORWARD), True),
        (defaultdict(int, FORWARD), True),
        ({word: np.int64(row) for word, row in FORWARD.items()}, True),
        ({"word_to_int": FORWARD, "int_to_word": BACKWARD, "counts": Counter(WORDS)}, True),
        ({"itos": WORDS, "freqs": {"the": 9}}, True),
        (WORDS, False),
        (tuple(WORDS), False),
        (np.array(WORDS), False),
    ],
)
def test_that_every_pickled_form_numbers_the_words(tmp_path, value, keyed, protocol):
    vocabulary = one(pickled(tmp_path, value, protocol))
    assert list(vocabulary.texts) == WORDS
    assert vocabulary.keyed is keyed
    assert vocabulary.side is None


def test_that_a_gap_in_the_ids_stays_one(tmp_path):
    assert list(one(pickled(tmp_path, {"a": 0, "c": 3, "b": 1})).texts) == ["a", "b", None, "c"]


def test_that_a_four_tuple_has_two_sides(tmp_path):
    source = {"PAD": 0, "UNK": 1, "the</w>": 2, "BOS": 3, "EOS": 4}
    target = {"PAD": 0, "UNK": 1, "BOS": 2, "EOS": 3, "le</w>": 4, "un": 5}
    value = (source, {i: w for w, i in source.items()}, target, {i: w for w, i in target.items()})
    first, second = read_vocabulary(pickled(tmp_path, value))
    assert (first.side, second.side) == ("source", "target")
    assert list(first.texts) == list(source)
    assert list(second.texts) == list(target)
    assert first.special == {0, 1, 3, 4}
    assert second.special == {0, 1, 2, 3}


def test_that_a_shared_vocabulary_told_four_times_serves_both_sides(tmp_path):
    first, second = read_vocabulary(pickled(tmp_path, (FORWARD, BACKWARD, dict(FORWARD), dict(BACKWARD))))
    assert (first.side, second.side) == ("source", "target")
    assert list(first.texts) == list(second.texts) == WORDS


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": 0, "b": 0}, "gives the id 0 to “a” and to “b”"),
        ({"a": -1, "b": 0}, "gives “a” the id -1"),
        ({"a": 0, "b": "x"}, "maps “b” to something that is no id"),
        ({"a": 0, "b": 10**9}, "2 words, but an id of 1,000,000,000"),
        (Counter(["a", "a", "b"]), "counts words, but does not number them"),
        ({"a", "b"}, "does not say what each row is called"),
        ([1, 2, 3], "does not say what each row is called"),
        ({}, "does not say what each row is called"),
        ("text", "does not say what each row is called"),
        ((FORWARD, {0: "of", 1: "the"}), "contradicts itself"),
    ],
)
def test_that_what_numbers_no_words_is_refused(tmp_path, value, message):
    with pytest.raises(ExplorerError) as caught:
        read_vocabulary(pickled(tmp_path, value))
    assert message in str(caught.value)


class Bomb:
    def __reduce__(self):
        return Path.touch, (Path("/tmp/embedding-explorer-was-run"),)


def test_that_nothing_in_a_pickle_runs(tmp_path):
    mark = Path("/tmp/embedding-explorer-was-run")
    mark.unlink(missing_ok=True)
    with pytest.raises(ExplorerError):
        read_vocabulary(pickled(tmp_path, [Bomb()]))
    assert not mark.exists()


@pytest.fixture
def torchtext(monkeypatch):
    """Classes of the names and layout of torchtext before 0.9, which no longer installs."""
    module = types.ModuleType("torchtext.vocab")

    class Vocab:
        def __init__(self, words):
            self.freqs = Counter(words)
            self.itos = list(words)
            self.stoi = defaultdict(int, {word: row for row, word in enumerate(words)})
            self.unk_index = 0

    Vocab.__module__, Vocab.__qualname__ = "torchtext.vocab", "Vocab"
    module.Vocab = Vocab
    monkeypatch.setitem(sys.modules, "torchtext", types.ModuleType("torchtext"))
    monkeypatch.setitem(sys.modules, "torchtext.vocab", module)
    return module


@pytest.mark.parametrize("save", ["pickle", "torch"])
def test_that_a_torchtext_vocabulary_is_read(tmp_path, torchtext, save):
    value = torchtext.Vocab(["<unk>", "<pad>", "the", "né"])
    path = pickled(tmp_path, value)
    if save == "torch":
        path = tmp_path / "vocab.pt"
        torch.save(value, path)
    vocabulary = one(path)
    assert list(vocabulary.texts) == ["<unk>", "<pad>", "the", "né"]
    assert vocabulary.keyed
    assert vocabulary.special == {0, 1}


# JSON


def saved(tmp_path: Path, name: str, content: object) -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize("content", [FORWARD, {str(row): word for row, word in BACKWARD.items()}, WORDS])
def test_that_json_numbers_the_words(tmp_path, content):
    assert list(one(saved(tmp_path, "vocab.json", content)).texts) == WORDS


def test_that_a_byte_order_mark_and_escapes_in_json_are_understood(tmp_path):
    path = tmp_path / "vocab.json"
    path.write_bytes(b'\xef\xbb\xbf{"caf\\u00e9": 0, "\xc3\xa9": 1, "\\ud83d\\ude42": 2}')
    assert list(one(path).texts) == ["café", "é", "🙂"]


@pytest.mark.parametrize("model", ["BPE", "WordPiece", "WordLevel", "Unigram"])
def test_that_tokenizer_json_of_every_model_is_read(tmp_path, model):
    vocab = {"<s>": 0, "Ġthe": 1, "a": 2, "né": 3}
    made = {
        "BPE": lambda: models.BPE(vocab, []),
        "WordPiece": lambda: models.WordPiece(vocab, unk_token="<s>"),
        "WordLevel": lambda: models.WordLevel(vocab, unk_token="<s>"),
        "Unigram": lambda: models.Unigram([(token, -1.0) for token in vocab], 0),
    }[model]
    tokenizer = Tokenizer(made())
    tokenizer.add_special_tokens(["<s>", "<|mine|>"])
    tokenizer.add_tokens(["added"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    vocabulary = one(tmp_path / "tokenizer.json")
    assert list(vocabulary.texts) == ["<s>", "Ġthe", "a", "né", "<|mine|>", "added"]
    assert vocabulary.special == {0, 4}
    assert vocabulary.keyed


def test_that_the_files_beside_vocab_json_tell_added_and_special_tokens(tmp_path):
    saved(tmp_path, "added_tokens.json", {"<new>": 3})
    saved(tmp_path, "special_tokens_map.json", {"eos_token": {"content": "END"}, "pad_token": "b"})
    decoder = {"3": {"content": "<new>", "special": True}}
    saved(tmp_path, "tokenizer_config.json", {"added_tokens_decoder": decoder, "unk_token": None})
    vocabulary = one(saved(tmp_path, "vocab.json", {"a": 0, "b": 1, "END": 2}))
    assert list(vocabulary.texts) == ["a", "b", "END", "<new>"]
    assert vocabulary.special == {1, 2, 3}


def test_that_vocab_txt_of_a_tokenizer_is_numbered_by_its_lines(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[unused0]\n[UNK]\n[CLS]\nthe\n##s\n")
    vocabulary = one(path)
    assert list(vocabulary.texts) == ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "the", "##s"]
    assert vocabulary.special == {0, 2, 3}
    assert vocabulary.keyed


def test_that_a_plain_list_of_words_is_lines_to_be_counted(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("the\nof\n")
    found = read_vocabulary(path)
    assert isinstance(found, LabelText)
    assert found.count == 2


@pytest.mark.parametrize(
    "content", ['{"a": 0', "[[1]]", '{"a": {}}', '{"a": true}', '{"model_type": "bert"}', "[]"]
)
def test_that_other_json_is_refused(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(ExplorerError):
        read_vocabulary(path)


# SentencePiece


def field(number: int, payload: bytes) -> bytes:
    size = len(payload)
    varint = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])
    return bytes([number << 3 | 2]) + varint + payload


def piece(text: str, kind: int = 1) -> bytes:
    score = bytes([2 << 3 | 5]) + np.float32(-1.5).tobytes()
    return field(1, field(1, text.encode()) + score + (bytes([3 << 3, kind]) if kind != 1 else b""))


PIECES = [("<unk>", 2), ("<s>", 3), ("</s>", 3), ("▁the", 1), ("日本" * 30, 1), ("<0x0A>", 6), ("mine", 4)]
MODEL = (
    b"".join(piece(*each) for each in PIECES) + field(2, b"\x0a\x05hello\x18\x01") + field(3, b"\x12\x02xy")
)


def test_that_pieces_of_a_sentencepiece_model_are_read(tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(MODEL)
    assert sentencepiece.is_model(MODEL[:4096])
    vocabulary = one(path)
    assert list(vocabulary.texts) == [text for text, _ in PIECES]
    assert vocabulary.special == {0, 1, 2}
    assert vocabulary.keyed


def test_that_a_model_whose_ids_lie_one_further_is_refused(tmp_path):
    path = tmp_path / "sentencepiece.bpe.model"
    path.write_bytes(MODEL)
    with pytest.raises(ExplorerError, match=r"Choose tokenizer\.json"):
        read_vocabulary(path)


def test_that_a_cut_sentencepiece_model_is_refused(tmp_path):
    path = tmp_path / "tokenizer.model"
    for length in range(12, len(MODEL) - 1):
        path.write_bytes(MODEL[:length])
        try:
            texts = list(one(path).texts)
        except ExplorerError:
            continue
        assert texts == [text for text, _ in PIECES][: len(texts)]


# Special tokens


def test_that_special_names_are_known_where_they_cannot_be_words():
    texts = ["the", "[CLS]", "<unk>", "<|endoftext|>", "[unused1]", "<b>", "pad", None, "end", "PAD"]
    assert special_by_name(texts) == {1, 2, 3, 9}
    assert special_by_name(["pad", "start", "end", "unk", "a", "dog"]) == {0, 1, 2, 3}
    assert special_by_name(["PAD", "UNK", *["x"] * 20, "EOS"]) == {0, 1}


GOOD = {
    "vocab.p": pickle.dumps((FORWARD, BACKWARD), 4),
    "vocab.json": json.dumps(FORWARD).encode(),
    "tokenizer.model": MODEL,
    "vocab.txt": "[PAD]\n[UNK]\nné\n".encode(),
}


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(sorted(GOOD)),
    st.sampled_from(["cut", "flip", "drop", "splice"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 7),
)
def test_that_a_damaged_vocabulary_is_refused_or_read(tmp_path_factory, name, kind, first, second, bit):
    good = GOOD[name]
    low, high = sorted((int(first * (len(good) - 1)), int(second * (len(good) - 1))))
    flipped = bytearray(good)
    flipped[low] ^= 1 << bit
    damaged = {
        "cut": good[:low],
        "flip": bytes(flipped),
        "drop": good[:low] + good[high:],
        "splice": good[:low] + good[high:] + good[low:high],
    }[kind]
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(damaged)
    try:
        found = read_vocabulary(path)
    except ExplorerError:
        return
    if isinstance(found, tuple):
        for each in found:
            assert all(text is None or isinstance(text, str) for text in each.texts)
            assert all(0 <= row < len(each.texts) for row in each.special)
