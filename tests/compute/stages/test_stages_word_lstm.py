"""The word LSTM's stages beside ``nn.LSTM``."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from stage_checkpoints import State, save, word_lstm
from stage_references import assert_close
from torch import nn

from explorer.compute.stages import open_stage_model
from explorer.compute.stages.base import StageModel

WORDS = ("happy", "families", "are", "all", "alike")


@pytest.fixture(scope="module")
def state() -> State:
    return word_lstm()


@pytest.fixture(scope="module")
def model(state: State, tmp_path_factory: pytest.TempPathFactory) -> StageModel:
    folder = tmp_path_factory.mktemp("lstm")
    path = save(state, folder / "wordLSTM.pth")
    words = {word: 100 * number for number, word in enumerate(WORDS, 1)}
    filling = {f"word{row}": row for row in range(12778) if row not in words.values()}
    with (folder / "word_to_int.p").open("wb") as file:
        pickle.dump({**words, **filling}, file, protocol=4)
    return open_stage_model(path)


def test_that_the_stages_of_a_sentence_have_the_shapes_of_the_model(model: StageModel) -> None:
    run = model.run("Happy families are all alike")
    assert run.model == "word LSTM"
    assert [token.label for token in run.tokens] == list(WORDS)
    assert {stage.name: stage.shape for stage in run.stages} == {
        "ids": (5,),
        "one-hot": (5, 12778),
        "looked up": (5, 128),
        "after layer 1": (5, 128),
        "after layer 2": (5, 128),
        "after layer 3": (5, 128),
        "hidden states": (5, 128),
        "pooled": (128,),
    }
    assert run["ids"].values.tolist() == [100, 200, 300, 400, 500]
    assert run["one-hot"].values is None
    assert not run.attentions


def test_that_hidden_states_are_those_of_torch(model: StageModel, state: State) -> None:
    lstm = nn.LSTM(128, 128, 3, batch_first=True)
    lstm.load_state_dict(
        {name.removeprefix("lstm."): t for name, t in state.items() if name.startswith("lstm.")}
    )
    ids = [5, 12777, 0, 5, 9000, 31]
    looked = state["embedding.weight"][ids]
    hidden, (last, _) = lstm(looked[None])
    run = model.run(ids=ids)
    assert_close(run["looked up"], looked)
    assert_close(run["hidden states"], hidden[0])
    assert_close(run["pooled"], hidden[0, -1])
    for layer in range(3):
        assert torch.allclose(
            torch.from_numpy(run[f"after layer {layer + 1}"].values[-1]), last[layer, 0], atol=1e-4
        )


def test_that_a_later_word_changes_no_earlier_state(model: StageModel) -> None:
    short, long = model.run("happy families"), model.run("happy families alike")
    assert (short["hidden states"].values == long["hidden states"].values[:2]).all()


def test_that_an_unknown_word_is_named_and_left_out_where_no_row_is_for_it(model: StageModel) -> None:
    run = model.run("happy xyzzy families")
    assert [token.id for token in run.tokens] == [100, 200]
    assert [(each.label, each.before) for each in run.left_out] == [("xyzzy", 1)]
    assert run.notes[0] == "Left out, as the vocabulary has neither these nor an unknown token: “xyzzy”."


def test_that_the_bundled_demo_runs_on_its_own_words() -> None:
    run = open_stage_model(Path("resources/demo/wordLSTM.pth").resolve()).run("The king's son said,\nall-one")
    assert " ".join(token.label for token in run.tokens) == "the king 's son said , all one"
    assert run["hidden states"].shape == (8, 128)
