"""Encoders of translators and summarisers (T5, BART, Marian, …) beside ``transformers``' own models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from library_models import made, saved_in
from stage_checkpoints import save
from stage_references import assert_close

from explorer.compute.stages import open_stage_model, stored
from explorer.compute.stages.base import StageModel
from explorer.core.errors import ExplorerError

IDS = [7, 33, 119, 33, 5, 64, 90, 11, 4]
T5 = {"vocab_size": 120, "d_model": 64, "d_kv": 24, "d_ff": 96, "num_layers": 3, "num_heads": 4}
T5 |= {"num_decoder_layers": 1, "relative_attention_num_buckets": 12, "relative_attention_max_distance": 7}
BART = {"vocab_size": 120, "d_model": 64, "encoder_layers": 3, "encoder_attention_heads": 4}
BART |= {"encoder_ffn_dim": 96, "decoder_layers": 1, "decoder_ffn_dim": 96, "max_position_embeddings": 40}
BART |= {"decoder_attention_heads": 4, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
# Each with numbers that are not its usual ones, so that only its configuration tells them.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "T5": ("T5", {**T5, "layer_norm_epsilon": 1e-3}),
    "T5, gated": ("T5", {**T5, "feed_forward_proj": "gated-gelu"}),
    "T5, gated by SiLU": ("MT5", {**T5, "feed_forward_proj": "gated-silu"}),
    "T5, distances of each layer": ("UMT5", T5),
    "BART": ("Bart", {**BART, "scale_embedding": True, "activation_function": "relu"}),
    "mBART": ("MBart", {**BART, "scale_embedding": True}),
    "Marian": ("Marian", {**BART, "scale_embedding": True, "activation_function": "swish"}),
    "Pegasus": ("Pegasus", {**BART, "scale_embedding": True, "activation_function": "relu"}),
    "M2M-100": ("M2M100", {**BART, "scale_embedding": True}),
}


def assert_agrees(opened: StageModel, model: Any, layers: int = 3) -> None:
    run = opened.run(ids=IDS)
    encoder = model.get_encoder()
    with torch.no_grad():
        expected = encoder(torch.tensor([IDS]), output_hidden_states=True, output_attentions=True)
    stages = {stage.name: stage for stage in run.stages}
    ends_normed = "final norm" in stages
    before = next(name for name in ("embedding norm", "with position", "looked up") if name in stages)
    assert_close(run[before], expected.hidden_states[0][0])
    for layer in range(1, layers + (not ends_normed)):  # the library norms what comes out of the last
        assert_close(run[f"after layer {layer}"], expected.hidden_states[layer][0])
    assert_close(run["encoder output"], expected.last_hidden_state[0])
    assert_close(run["pooled"], expected.last_hidden_state[0].mean(0))
    for layer in range(1, layers + 1):
        np.testing.assert_allclose(
            run.attentions[0].weights(layer), expected.attentions[layer - 1][0].numpy(), atol=1e-4
        )


def named(name: str) -> str:
    return name.split(",")[0]


@pytest.mark.parametrize("name", MODELS)
def test_that_each_stage_of_an_encoder_agrees_with_transformers(tmp_path: Path, name: str) -> None:
    family, values = MODELS[name]
    model = made(family, **values)
    opened = open_stage_model(saved_in(tmp_path, model))
    assert opened.name == named(name)
    assert opened.heads is not None
    assert opened.heads.is_told
    assert not any("taken" in note for note in opened.notes)
    assert_agrees(opened, model)


# The published numbers, which names and shapes must do to tell.
USUAL: dict[str, tuple[str, dict[str, Any]]] = {
    "T5": ("T5", {**T5, "relative_attention_max_distance": 128}),
    "T5, gated": ("T5", {**T5, "relative_attention_max_distance": 128, "feed_forward_proj": "gated-gelu"}),
    "BART": ("Bart", {**BART, "d_model": 128}),
    "mBART": ("MBart", {**BART, "d_model": 128, "scale_embedding": True}),
    "Marian": ("Marian", {**BART, "d_model": 128, "scale_embedding": True, "activation_function": "swish"}),
    "M2M-100": ("M2M100", {**BART, "d_model": 128, "scale_embedding": True}),
}


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("wrapper", ["", "model."])
def test_that_a_bare_state_dict_takes_the_usual_numbers(tmp_path: Path, name: str, wrapper: str) -> None:
    family, values = USUAL[name]
    model = made(family, **{**values, "encoder_attention_heads": 2})
    state = {wrapper + key: tensor for key, tensor in model.state_dict().items()}
    if name not in ("BART", "mBART"):  # computed, so not stored by older programs
        state = {key: tensor for key, tensor in state.items() if "embed_positions" not in key}
    opened = open_stage_model(save(state, tmp_path / "model.pth"))
    assert opened.name == named(name)
    assert any("usual numbers" in note for note in opened.notes) == (family != "T5")
    assert_agrees(opened, model)


SOURCE = [5, 44, 3, 7]


@pytest.mark.parametrize("name", MODELS)
def test_that_a_decoder_beside_a_source_agrees_with_transformers(tmp_path: Path, name: str) -> None:
    family, values = MODELS[name]
    more = {"num_decoder_layers": 2} if "num_layers" in values else {"decoder_attention_heads": 2}
    model = made(family, **{**values, "decoder_layers": 2, **more})
    opened = open_stage_model(saved_in(tmp_path, model))
    assert opened.sides == ("source", "target")
    alone = opened.run(ids=IDS, side="target")
    assert "--source" in alone.notes[0]
    run = opened.run(ids=IDS, side="target", source=" ".join(f"#{id_}" for id_ in SOURCE))
    with torch.no_grad():
        expected = model(
            torch.tensor([SOURCE]),
            decoder_input_ids=torch.tensor([IDS]),
            output_hidden_states=True,
            output_attentions=True,
        )
    stages = [stage.name for stage in run.stages]
    before = next(each for each in ("embedding norm", "with position", "looked up") if each in stages)
    assert_close(run[before], expected.decoder_hidden_states[0][0])
    assert (run[before].values == alone[before].values).all()
    assert_close(run["after decoder layer 1"], expected.decoder_hidden_states[1][0])
    last = "final norm" if "final norm" in stages else "after decoder layer 2"
    assert_close(run[last], expected.last_hidden_state[0])
    assert_close(run["encoder output"], expected.encoder_last_hidden_state[0])
    cross, own = run.attentions
    assert [token.id for token in run.sequence(cross.keys)] == SOURCE
    for layer in (1, 2):
        np.testing.assert_allclose(
            cross.weights(layer), expected.cross_attentions[layer - 1][0].numpy(), atol=1e-4
        )
        np.testing.assert_allclose(
            own.weights(layer), expected.decoder_attentions[layer - 1][0].numpy(), atol=1e-4
        )


def test_that_an_encoder_without_its_decoder_has_one_side(tmp_path: Path) -> None:
    model = made("Bart", **MODELS["BART"][1])
    state = {name: t for name, t in model.state_dict().items() if not name.startswith("decoder.")}
    opened = open_stage_model(save(state, tmp_path / "model.pth"))
    assert (opened.name, opened.sides) == ("BART encoder", ())
    opened = open_stage_model(saved_in(tmp_path, made("T5", "T5EncoderModel", **T5)))
    assert (opened.name, opened.sides) == ("T5 encoder", ())
    with pytest.raises(ExplorerError, match="those of 4 heads, not of 8"):
        open_stage_model(tmp_path, heads=8)


def test_that_far_distances_share_what_is_learned(tmp_path: Path) -> None:
    model = made("T5", "T5EncoderModel", **T5)
    ids = [id_ % 119 + 1 for id_ in range(300)]
    run = open_stage_model(saved_in(tmp_path, model)).run(ids=ids)
    with torch.no_grad():
        assert_close(run["encoder output"], model(torch.tensor([ids])).last_hidden_state[0])
    assert not any("decoder" in note for note in run.notes)


def test_that_a_large_t5_is_read_layer_by_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = made("T5", **T5).to(torch.bfloat16)
    saved_in(tmp_path, model)
    monkeypatch.setattr(stored, "_MOST_KEPT", 1000)
    opened = open_stage_model(tmp_path)
    assert_agrees(opened, model.float())
    assert len(opened.run(ids=IDS * 100).tokens) == 512


def test_that_another_model_of_such_names_is_looked_up_alone(tmp_path: Path) -> None:
    path = saved_in(tmp_path, made("Bart", **BART)) / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "model_type": "led"}), "utf-8")
    run = open_stage_model(tmp_path).run(ids=IDS)
    assert run.model == "“led” model"
    assert [stage.name for stage in run.stages] == ["ids", "one-hot", "looked up"]
