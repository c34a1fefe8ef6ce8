"""The bundled demo: what a newcomer sees first must be there, open, and make sense."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.core.resources import resource_path
from explorer.core.table import Role
from explorer.demos import demos, find_demo
from explorer.readers import open_file

FOLDER = resource_path("demo")
EPOCHS = sorted(FOLDER.glob("epoch-*.pth"))
NUMBERS = {
    "two",
    "three",
    "four",
    "five",
    "six",
    "eight",
    "nine",
    "ten",
    "twelve",
    "twenty",
    "thirty",
    "forty",
}


@pytest.fixture(scope="module")
def word_to_int() -> dict[str, int]:
    return pickle.loads((FOLDER / "word_to_int.p").read_bytes())


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    return torch.load(FOLDER / "wordLSTM.pth", weights_only=True)


def unit_rows(path: Path) -> np.ndarray:
    table = as_float32(open_file(path).tables[0].read())
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def nearest(unit: np.ndarray, word_to_int: dict[str, int], word: str, k: int = 10) -> set[str]:
    words = list(word_to_int)
    scores = unit @ unit[word_to_int[word]]
    return {words[row] for row in np.argsort(-scores)[: k + 1]} - {word}


def test_that_the_demo_stays_under_ten_megabytes() -> None:
    files = [*EPOCHS, FOLDER / "wordLSTM.pth", FOLDER / "word_to_int.p", FOLDER / "train_word_lstm.py"]
    assert sum(path.stat().st_size for path in files) < 10_000_000


def test_that_the_vocabulary_numbers_every_row_once_and_has_no_special_tokens(word_to_int, state) -> None:
    assert list(word_to_int.values()) == list(range(len(state["embedding.weight"])))
    assert not {"<pad>", "<unk>", "PAD", "UNK", "UNKNOWN"} & word_to_int.keys()
    assert all(word == word.lower() and not set(word) & set(" -\n") for word in word_to_int)


def test_that_the_checkpoint_is_a_three_layer_lstm_with_its_own_output_layer(word_to_int, state) -> None:
    rows = len(word_to_int)
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    layers = {}
    for layer in range(3):
        layers[f"lstm.weight_ih_l{layer}"] = layers[f"lstm.weight_hh_l{layer}"] = (512, 128)
        layers[f"lstm.bias_ih_l{layer}"] = layers[f"lstm.bias_hh_l{layer}"] = (512,)
    assert shapes == {
        "embedding.weight": (rows, 128),
        **layers,
        "fc.weight": (rows, 128),
        "fc.bias": (rows,),
    }
    assert not torch.equal(state["embedding.weight"], state["fc.weight"])


@pytest.mark.parametrize(
    ("text", "following"),
    [(". thus says", "yahweh"), (". it happened after these", "things"), (". all the children of", "israel")],
)
def test_that_the_checkpoint_loads_into_a_plain_torch_lstm_and_goes_on_with_the_text(
    word_to_int, state, text, following
) -> None:
    state = {name: tensor.float() for name, tensor in state.items()}
    lstm = torch.nn.LSTM(128, 128, 3, batch_first=True)
    lstm.load_state_dict({n.removeprefix("lstm."): t for n, t in state.items() if n.startswith("lstm.")})
    ids = torch.tensor([[word_to_int[word] for word in text.split()]])
    with torch.inference_mode():
        hidden, _ = lstm(state["embedding.weight"][ids])
        scores = hidden[0, -1] @ state["fc.weight"].T + state["fc.bias"]
    assert list(word_to_int)[int(scores.argmax())] == following


@pytest.mark.parametrize(
    "demo", [demo for demo in demos() if demo.name != "clip"], ids=lambda demo: demo.name
)
def test_that_every_word_demo_opens_with_its_named_token_table_first(demo, word_to_int) -> None:
    table = open_file(demo.path).tables[0]
    assert (table.name, table.role, table.dim) == ("embedding.weight", Role.TOKEN, 128)
    assert table.labels is not None
    assert (table.labels.source, table.labels.count) == ("word_to_int.p", len(word_to_int))
    assert list(table.labels) == list(word_to_int)


def test_that_the_tables_lead_from_a_small_random_start_to_the_trained_one() -> None:
    start = as_float32(open_file(EPOCHS[0]).tables[0].read())
    assert EPOCHS[0].name == "epoch-00.pth"
    assert len(EPOCHS) >= 3
    assert start.std() == pytest.approx(0.05, rel=0.02)
    trained = unit_rows(FOLDER / "wordLSTM.pth")
    likeness = [float((unit_rows(path) * trained).sum(axis=1).mean()) for path in EPOCHS]
    assert likeness == sorted(likeness)
    assert likeness[-1] > likeness[0] + 0.2


def test_that_neighbours_make_sense_once_trained_and_none_at_the_start(word_to_int) -> None:
    trained, start = unit_rows(FOLDER / "wordLSTM.pth"), unit_rows(EPOCHS[0])
    assert len(nearest(trained, word_to_int, "seven") & NUMBERS) >= 6
    assert len(nearest(start, word_to_int, "seven") & NUMBERS) <= 1


@pytest.mark.parametrize(
    ("word", "kin"),
    [
        ("son", {"daughter", "sons", "brother", "father"}),
        ("king", {"governor", "prince", "princes", "queen", "elders", "captain"}),
        ("water", {"wine", "bread", "grain", "blood", "oil", "food"}),
        ("jerusalem", {"samaria", "damascus", "jericho", "gilgal", "shiloh", "babylon"}),
        ("righteous", {"wicked", "wise", "upright", "faithful", "proud"}),
        ("day", {"days", "month", "time", "year", "night", "hour"}),
        ("said", {"answered", "spoke", "asked", "cried", "told"}),
    ],
)
def test_that_common_words_have_their_kin_near(word_to_int, word, kin) -> None:
    assert len(nearest(unit_rows(FOLDER / "wordLSTM.pth"), word_to_int, word) & kin) >= 3


def test_that_an_unknown_demo_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ExplorerError) as caught:
        find_demo("nonesuch")
    assert "nonesuch" in caught.value.message
    assert all(demo.name in caught.value.hint for demo in demos())


def test_that_the_first_demo_is_the_trained_model_and_names_are_unique() -> None:
    assert find_demo().path == FOLDER / "wordLSTM.pth"
    assert len({demo.name for demo in demos()}) == len(demos()) == len(EPOCHS) + 2


def test_that_the_training_text_is_cut_into_lower_case_words_and_marks() -> None:
    spec = importlib.util.spec_from_file_location("train_word_lstm", FOLDER / "train_word_lstm.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = "&gt; The King's twenty-one sons{or, heirs} didn't\nspeak; \"I'm 'woe'!\" (14:24)"
    assert script.tokens_of(text) == (
        ["the", "king", "'s", "twenty", "one", "sons", "didn't", "speak", ";", '"', "i'm", "woe", "!", '"']
    )
