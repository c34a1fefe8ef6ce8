"""The translators' stages beside torch's encoder layers."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from stage_checkpoints import State, save, sinusoids, translator
from stage_references import assert_close, translator_decoder_outputs, translator_outputs

from explorer.compute.stages import open_stage_model
from explorer.compute.stages.base import StageModel
from explorer.core.errors import ExplorerError

PIECES = ("PAD", "UNK", "x</w>", "BOS", "EOS", "how</w>", "are</w>", "you</w>", "un", "known</w>", "?</w>")
FRENCH = ("PAD", "UNK", "BOS", "EOS", "comment</w>", "et", "es</w>", "vous</w>")


def vocabulary(pieces: tuple[str, ...], rows: int) -> dict[str, int]:
    return {piece: row for row, piece in enumerate((*pieces, *(f"q{i}q" for i in range(rows - len(pieces)))))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("translators")


@pytest.fixture(scope="module")
def state() -> State:
    return translator(11055, 11239)


@pytest.fixture(scope="module")
def english(state: State, folder: Path) -> StageModel:
    source, target = vocabulary(PIECES, 11055), vocabulary(FRENCH, 11239)
    both = (
        source,
        {row: name for name, row in source.items()},
        target,
        {row: name for name, row in target.items()},
    )
    (folder / "dict.p").write_bytes(pickle.dumps(both, protocol=4))
    return open_stage_model(save(state, folder / "en2fr.pth"), labels=folder / "dict.p")


def test_that_each_stage_of_the_encoder_is_that_of_torch(english: StageModel, state: State) -> None:
    ids = [5, 6, 7, 11054, 0, 300]
    run = english.run(ids=ids)
    expected = translator_outputs(state, ids)
    names = ["looked up", "scaled", "with position", *(f"after layer {n}" for n in range(1, 7)), "final norm"]
    assert [stage.name for stage in run.stages] == ["ids", "one-hot", *names, "encoder output", "pooled"]
    for name, reference in zip(names, expected, strict=True):
        assert_close(run[name], reference)
    assert_close(run["encoder output"], expected[-1])
    assert_close(run["pooled"], expected[-1].mean(0))


def test_that_a_german_sentence_of_four_words_is_4_by_256(folder: Path) -> None:
    state = translator(19214, 10837, layers=6)
    rows = vocabulary(("PAD", "UNK", "wie</w>", "geht</w>", "es</w>", "dir</w>"), 19214)
    labels = folder / "german.p"
    labels.write_bytes(pickle.dumps(rows, protocol=4))
    run = open_stage_model(save(state, folder / "de2en.pth"), labels=labels).run("Wie geht es dir")
    assert run["ids"].values.tolist() == [2, 3, 4, 5]
    assert run["one-hot"].shape == (4, 19214)
    assert {stage.shape for stage in run.stages[2:-1]} == {(4, 256)}
    assert_close(run["scaled"], state["src_embed.0.lut.weight"][2:6] * 16)
    assert_close(run["with position"], state["src_embed.0.lut.weight"][2:6] * 16 + sinusoids(4, 256))


def test_that_texts_are_split_into_the_pieces_of_each_side(english: StageModel) -> None:
    run = english.run("How are  YOU unknown?")
    assert [token.label for token in run.tokens] == [
        "how</w>",
        "are</w>",
        "you</w>",
        "un",
        "known</w>",
        "?</w>",
    ]
    french = english.run("Comment êtes vous", side="target")
    assert [token.label for token in french.tokens] == ["comment</w>", "et", "es</w>", "vous</w>"]
    assert french["looked up"].shape == (4, 256)


def test_that_unknown_pieces_are_the_unknown_token_under_their_own_name(english: StageModel) -> None:
    run = english.run("how ☃☃ are")
    assert [(token.id, token.label, token.known) for token in run.tokens] == [
        (5, "how</w>", True),
        (1, "☃☃", False),
        (6, "are</w>", True),
    ]
    assert run.notes[0] == "Not in the vocabulary, so read as its unknown token: “☃☃”."


def test_that_begin_and_end_are_added_only_when_asked_for_by_the_ids_of_each_side(
    english: StageModel,
) -> None:
    assert english.run("how", special=True)["ids"].values.tolist() == [3, 5, 4]
    assert english.run("comment", side="target", special=True)["ids"].values.tolist() == [2, 4, 3]
    assert english.run("how")["ids"].values.tolist() == [5]


def test_that_the_target_side_stops_after_the_position_and_says_why(english: StageModel) -> None:
    run = english.run(ids=[4, 5], side="target")
    assert [stage.name for stage in run.stages] == ["ids", "one-hot", "looked up", "scaled", "with position"]
    assert run["one-hot"].shape == (2, 11239)
    assert "The decoder also looks at an encoded source sentence" in run.notes[0]
    assert "--source" in run.notes[0]


def test_that_each_stage_of_the_decoder_beside_a_source_is_that_of_torch(
    english: StageModel, state: State
) -> None:
    ids, source = [4, 5, 11238, 2, 300], [5, 6, 7]
    run = english.run(ids=ids, side="target", source=" ".join(f"#{id_}" for id_ in source))
    layers = [f"after decoder layer {n}" for n in range(1, 7)]
    before = ["encoder output", "ids", "one-hot", "looked up", "scaled", "with position"]
    assert [stage.name for stage in run.stages] == [*before, *layers, "final norm"]
    with torch.no_grad():
        expected, looks = translator_decoder_outputs(state, ids, source)
    assert_close(run["encoder output"], translator_outputs(state, source)[-1])
    for name, reference in zip([*layers, "final norm"], expected, strict=True):
        assert_close(run[name], reference)
    cross, own = run.attentions
    assert [(each.name, each.layers, each.heads) for each in run.attentions] == [
        ("cross-attention", 6, 8),
        ("target self-attention", 6, 8),
    ]
    assert [token.id for token in run.sequence(cross.keys)] == source
    assert [token.id for token in run.sequence(cross.queries)] == ids
    for layer, look in enumerate(looks, 1):
        np.testing.assert_allclose(cross.weights(layer), look.numpy(), atol=1e-4)
    assert (own.weights(3)[:, *np.triu_indices(5, 1)] == 0).all()
    assert not any("decoder" in note for note in run.notes)


def test_that_the_source_is_read_as_the_source_side_reads(english: StageModel) -> None:
    run = english.run("comment vous", side="target", source="How are ☃☃", special=True)
    assert [token.label for token in run.source] == ["BOS", "how</w>", "are</w>", "☃☃", "EOS"]
    assert [token.label for token in run.tokens] == ["BOS", "comment</w>", "vous</w>", "EOS"]
    assert run["encoder output"].shape == (5, 256)
    assert run["final norm"].shape == (4, 256)
    assert "Not in the vocabulary, so read as its unknown token: “☃☃”." in run.notes
    other = english.run("comment vous", side="target", source="You", special=True)
    assert np.abs(other["final norm"].values - run["final norm"].values).max() > 0.01


def test_that_a_source_is_refused_where_nothing_looks_at_it(english: StageModel, tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="On this side a translator looks at no source"):
        english.run("how", source="how")
    state = translator(40, 30, dim=32, inner=64, layers=1)
    alone = {name: tensor for name, tensor in state.items() if not name.startswith("decoder.")}
    model = open_stage_model(save(alone, tmp_path / "encoder.pth"))
    assert model.source_of == {}
    assert not any("--source" in note for note in model.run(ids=[3], side="target").notes)
    with pytest.raises(ExplorerError, match="A translator looks at no source sentence"):
        model.run(ids=[3], side="target", source="4")


def test_that_a_broken_decoder_leaves_the_source_side_whole(tmp_path: Path) -> None:
    state = translator(40, 30, dim=32, inner=64, layers=2)
    del state["decoder.layers.1.src_attn.linears.2.weight"]
    model = open_stage_model(save(state, tmp_path / "broken.pth"))
    assert model.run(ids=[1, 2])["encoder output"].shape == (2, 32)
    with pytest.raises(ExplorerError, match=r"src_attn\.linears\.2\.weight is missing"):
        model.run(ids=[3], side="target", source="4")


def test_that_attention_is_that_of_torch_and_sums_to_one(english: StageModel, state: State) -> None:
    ids = [5, 6, 7, 9]
    run = english.run(ids=ids)
    (found,) = run.attentions
    assert (found.name, found.layers, found.heads) == ("self-attention", 6, 8)
    weights = found.weights(1)
    assert weights.shape == (8, 4, 4)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    attention = torch.nn.MultiheadAttention(256, 8, batch_first=True)
    parts = [f"encoder.layers.0.self_attn.linears.{i}" for i in range(3)]
    attention.load_state_dict(
        {
            "in_proj_weight": torch.cat([state[f"{part}.weight"] for part in parts]),
            "in_proj_bias": torch.cat([state[f"{part}.bias"] for part in parts]),
            "out_proj.weight": torch.eye(256),
            "out_proj.bias": torch.zeros(256),
        }
    )
    x = torch.from_numpy(run["with position"].values)
    std, mean = torch.std_mean(x, -1, keepdim=True)
    name = "encoder.layers.0.sublayer.0.norm"
    normed = state[f"{name}.a_2"] * (x - mean) / (std**2 + 1e-6).sqrt() + state[f"{name}.b_2"]
    _, expected = attention(normed[None], normed[None], normed[None], average_attn_weights=False)
    np.testing.assert_allclose(weights, expected[0].detach().numpy(), atol=1e-4)


def test_that_heads_can_be_told_and_a_number_that_divides_nothing_is_refused(tmp_path: Path) -> None:
    state = translator(40, 30, dim=32, inner=64, layers=2)
    path = save(state, tmp_path / "small.pth")
    ids = [3, 1, 39]
    usual, told = open_stage_model(path), open_stage_model(path, heads=2)
    assert any("how many heads" in note for note in usual.notes)
    assert not any("how many heads" in note for note in told.notes)
    assert_close(usual.run(ids=ids)["encoder output"], translator_outputs(state, ids, heads=8)[-1])
    assert_close(told.run(ids=ids)["encoder output"], translator_outputs(state, ids, heads=2)[-1])
    with pytest.raises(ExplorerError, match="A width of 32 cannot be split into 5 heads"):
        open_stage_model(path, heads=5)


def test_that_a_file_without_position_buffers_gets_them_computed(tmp_path: Path) -> None:
    state = translator(40, 30, dim=32, inner=64, layers=1)
    without = {name: tensor for name, tensor in state.items() if not name.endswith(".pe")}
    run = open_stage_model(save(without, tmp_path / "small.pth")).run(ids=[1, 2, 3])
    assert_close(
        run["with position"], state["src_embed.0.lut.weight"][1:4] * math.sqrt(32) + sinusoids(3, 32)
    )


def test_that_a_text_without_a_vocabulary_asks_for_one(tmp_path: Path) -> None:
    path = save(translator(40, 30, dim=32, inner=64, layers=1), tmp_path / "de2en.pth")
    model = open_stage_model(path)
    with pytest.raises(ExplorerError, match="no vocabulary for this translator's source side") as caught:
        model.run("Wie geht es dir")
    assert "give token ids" in caught.value.hint
    assert [token.id for token in model.run("5 17, #3").tokens] == [5, 17, 3]


def test_that_one_list_of_labels_is_for_the_side_that_was_asked_for(tmp_path: Path) -> None:
    path = save(translator(40, 30, dim=32, inner=64, layers=1), tmp_path / "de2en.pth")
    (tmp_path / "english.txt").write_text("".join(f"word{row}\n" for row in range(30)), "utf-8")
    model = open_stage_model(path, labels=tmp_path / "english.txt", side="target")
    assert model.run("word7", side="target")["ids"].values.tolist() == [7]


@pytest.mark.parametrize("wrapper", ["module.", "_orig_mod.", "model."])
def test_that_wrappers_of_training_change_nothing(tmp_path: Path, wrapper: str) -> None:
    state = translator(40, 30, dim=32, inner=64, layers=1)
    plain = open_stage_model(save(state, tmp_path / "plain.pth")).run(ids=[1, 2])
    wrapped = {"state_dict": {wrapper + name: tensor for name, tensor in state.items()}, "epoch": 3}
    run = open_stage_model(save(wrapped, tmp_path / "wrapped.pth")).run(ids=[1, 2])
    assert (run["encoder output"].values == plain["encoder output"].values).all()
