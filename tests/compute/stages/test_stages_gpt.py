"""Stages of models that predict the next token, beside torch's layers and ``transformers``' GPT-2."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from stage_checkpoints import State, decoder_only, gpt, music, save
from stage_references import assert_close, decoder_only_outputs

from explorer.compute.encoders.transformer import library
from explorer.compute.stages import open_stage_model
from explorer.compute.stages.base import StageModel
from explorer.core.errors import ExplorerError
from explorer.core.stages import Needs


@pytest.fixture(scope="module")
def gpt_state() -> State:
    return gpt()


@pytest.fixture(scope="module")
def music_state() -> State:
    return music()


@pytest.fixture(scope="module")
def small_gpt(gpt_state: State, tmp_path_factory: pytest.TempPathFactory) -> StageModel:
    return open_stage_model(save(gpt_state, tmp_path_factory.mktemp("gpt") / "GPTe20.pth"))


@pytest.fixture(scope="module")
def musician(music_state: State, tmp_path_factory: pytest.TempPathFactory) -> StageModel:
    return open_stage_model(save(music_state, tmp_path_factory.mktemp("music") / "musicTrans.pth"))


def assert_stages(model: StageModel, state: State, ids: list[int], heads: int, layers: int) -> None:
    run = model.run(ids=ids)
    names = ["looked up", "with position", *(f"after layer {n + 1}" for n in range(layers)), "final norm"]
    assert [stage.name for stage in run.stages] == ["ids", "one-hot", *names, "pooled"]
    expected = decoder_only_outputs(state, ids, heads)
    for name, reference in zip(names, expected, strict=True):
        assert_close(run[name], reference)
    assert_close(run["pooled"], expected[-1][-1])


def test_that_each_stage_of_a_small_gpt_is_that_of_torch(small_gpt: StageModel, gpt_state: State) -> None:
    assert small_gpt.name == "GPT"
    assert_stages(small_gpt, gpt_state, [17, 3, 10599, 0, 17], heads=4, layers=3)


def test_that_each_stage_of_the_music_model_is_that_of_torch(
    musician: StageModel, music_state: State
) -> None:
    assert musician.name == "music transformer"
    assert_stages(musician, music_state, [372, 60, 265, 188, 388, 389], heads=8, layers=6)


def test_that_music_is_typed_by_the_names_of_its_events(musician: StageModel) -> None:
    assert musician.needs is Needs.EVENTS
    run = musician.run("velocity_16 note_on_60, time_shift_10 note_off_60 time_shift_1000 END pad")
    assert run["ids"].values.tolist() == [372, 60, 256, 188, 355, 388, 389]
    assert run["one-hot"].shape == (7, 390)
    assert run["final norm"].shape == (7, 512)
    unknown = musician.run("note_on_60 time_shift_15")
    assert [each.label for each in unknown.left_out] == ["time_shift_15"]
    with pytest.raises(ExplorerError, match="None of these"):
        musician.run("note_on_128")


def test_that_no_place_sees_what_comes_after_it(small_gpt: StageModel) -> None:
    short, long = small_gpt.run(ids=[5, 6, 7]), small_gpt.run(ids=[5, 6, 7, 8, 9])
    np.testing.assert_allclose(short["final norm"].values, long["final norm"].values[:3], atol=1e-5)
    weights = long.attentions[0].weights(2)
    assert weights.shape == (4, 5, 5)
    assert (weights[:, *np.triu_indices(5, 1)] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_that_a_text_beyond_the_last_position_is_cut_and_said_so(small_gpt: StageModel) -> None:
    run = small_gpt.run(ids=list(range(300)))
    assert run["final norm"].shape == (128, 256)
    assert len(run.tokens) == 128
    assert "Only 128 of the 300 tokens are taken" in run.notes[0]


def test_that_the_longest_piece_of_music_is_taken_whole(musician: StageModel) -> None:
    run = musician.run(ids=[60, 256, 188, 256] * 512)
    assert run["final norm"].shape == (2048, 512)
    assert not any("tokens are taken" in note for note in run.notes)


def test_that_a_vocabulary_of_words_reads_a_text(gpt_state: State, tmp_path: Path) -> None:
    words = {word: row for row, word in enumerate(["<unk>", "the", "old", "man", "'", "s"])}
    (tmp_path / "words.json").write_text(
        json.dumps({**words, **{f"w{i}": i for i in range(6, 10600)}}), "utf-8"
    )
    model = open_stage_model(save(gpt_state, tmp_path / "GPTe10.pth"), labels=tmp_path / "words.json")
    run = model.run("The old-man's zyx")
    assert run["ids"].values.tolist() == [1, 2, 3, 4, 5, 0]
    assert (run.tokens[-1].label, run.tokens[-1].known) == ("zyx", False)


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_that_gpt2_with_its_transposed_layers_agrees_with_transformers(tmp_path: Path, prefix: str) -> None:
    transformers = library()
    torch.manual_seed(5)
    config = transformers.GPT2Config(vocab_size=90, n_positions=32, n_embd=128, n_layer=3, n_head=2)
    model = transformers.GPT2Model(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    state = {prefix + name: tensor for name, tensor in model.state_dict().items()}
    ids = [3, 77, 0, 5, 5]
    opened = open_stage_model(save(state, tmp_path / "gpt2.pth"))
    assert opened.name == "GPT-2"
    run = opened.run(ids=ids)
    with torch.no_grad():
        expected = model(torch.tensor([ids]), output_hidden_states=True)
    assert_close(run["with position"], expected.hidden_states[0][0])
    assert_close(run["after layer 1"], expected.hidden_states[1][0])
    assert_close(run["after layer 2"], expected.hidden_states[2][0])
    assert_close(run["final norm"], expected.last_hidden_state[0])


@pytest.mark.parametrize("activation", ["gelu_new", "relu"])
def test_that_a_configuration_beside_gpt2_says_its_heads_and_activation(
    tmp_path: Path, activation: str
) -> None:
    transformers = library()
    torch.manual_seed(6)
    config = transformers.GPT2Config(
        vocab_size=90, n_positions=32, n_embd=48, n_layer=2, n_head=3, activation_function=activation
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        model.transformer.wte.weight.mul_(20)
    model.save_pretrained(tmp_path)
    opened = open_stage_model(tmp_path)
    assert not any("how many heads" in note for note in opened.notes)
    assert any("tied to" in note for note in opened.notes)
    with torch.no_grad():
        expected = model.transformer(torch.tensor([[1, 2, 89]])).last_hidden_state[0]
    assert_close(opened.run(ids=[1, 2, 89])["final norm"], expected)


def test_that_small_models_take_the_usual_heads_where_they_divide(tmp_path: Path) -> None:
    state = decoder_only(50, 16, 64, 2)
    opened = open_stage_model(save(state, tmp_path / "GPT.pth"))
    assert_stages(opened, state, [4, 49, 1], heads=4, layers=2)


def test_that_an_activation_that_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    transformers = library()
    config = transformers.GPT2Config(vocab_size=90, n_positions=32, n_embd=48, n_layer=1, n_head=3)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(path.read_text("utf-8").replace("gelu_new", "gelu_10"), "utf-8")
    with pytest.raises(ExplorerError, match="gelu_10"):
        open_stage_model(tmp_path)
