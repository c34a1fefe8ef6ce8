"""Stages of GPT-NeoX, Phi and OPT beside ``transformers``' own models."""

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

IDS = [7, 33, 119, 33, 2, 64, 90, 11, 5]
SIZES: dict[str, Any] = {
    "vocab_size": 120,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 40,
}
ROPE = {"rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 0.5}
OPT = {**SIZES, "ffn_dim": 96, "word_embed_proj_dim": 64}
# Each with numbers that are not its usual ones, so that only its configuration tells them.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT-NeoX": ("GPTNeoX", {**SIZES, "intermediate_size": 96, "rope_parameters": ROPE}),
    "GPT-NeoX, in turn": ("GPTNeoX", {**SIZES, "intermediate_size": 96, "use_parallel_residual": False}),
    "Phi": (
        "Phi",
        {**SIZES, "intermediate_size": 96, "rope_parameters": {**ROPE, "partial_rotary_factor": 1.0}},
    ),
    "Phi, shared keys": ("Phi", {**SIZES, "intermediate_size": 96, "num_key_value_heads": 2}),
    "OPT": ("OPT", {**OPT, "activation_function": "gelu"}),
}


def assert_agrees(opened: StageModel, model: Any) -> None:
    run = opened.run(ids=IDS)
    with torch.no_grad():
        expected = model.base_model(torch.tensor([IDS]), output_hidden_states=True, output_attentions=True)
    before = "with position" if opened.name == "OPT" else "looked up"
    assert_close(run[before], expected.hidden_states[0][0])
    for layer in (1, 2):  # the library norms what comes out of the last
        assert_close(run[f"after layer {layer}"], expected.hidden_states[layer][0])
    assert_close(run["final norm"], expected.last_hidden_state[0])
    assert_close(run["pooled"], expected.last_hidden_state[0, -1])
    for layer in (1, 2, 3):
        np.testing.assert_allclose(
            run.attentions[0].weights(layer), expected.attentions[layer - 1][0].numpy(), atol=1e-4
        )


@pytest.mark.parametrize("name", MODELS)
def test_that_each_stage_of_a_folder_agrees_with_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    family, values = MODELS[name]
    model = made(family, f"{family}ForCausalLM", **values)
    opened = open_stage_model(saved_in(tmp_path, model))
    assert opened.name == name.split(",")[0]
    assert not any("taken" in note for note in opened.notes)
    assert_agrees(opened, model)
    monkeypatch.setattr(stored, "_MOST_KEPT", 1000)
    layer_by_layer = open_stage_model(tmp_path)
    assert_agrees(layer_by_layer, model)


@pytest.mark.parametrize("family", ["GPTNeoX", "Phi", "OPT"])
def test_that_a_bare_state_dict_takes_the_usual_numbers(tmp_path: Path, family: str) -> None:
    sizes = {**SIZES, "hidden_size": 128, "num_attention_heads": 2}
    sizes |= {"ffn_dim": 96, "word_embed_proj_dim": 128} if family == "OPT" else {"intermediate_size": 96}
    model = made(family, **sizes)
    opened = open_stage_model(save(model.state_dict(), tmp_path / "model.pth"))
    assert opened.heads is not None
    assert opened.heads.is_guess
    assert any("of each head, as is usual" in note for note in opened.notes) == (family != "OPT")
    assert_agrees(opened, model)
    if family != "OPT":
        with pytest.raises(ExplorerError, match="cannot be turned in pairs"):
            open_stage_model(tmp_path / "model.pth", heads=128)


def test_that_older_configurations_say_the_same(tmp_path: Path) -> None:
    model = made("GPTNeoX", **MODELS["GPT-NeoX"][1])
    path = saved_in(tmp_path, model) / "config.json"
    config = json.loads(path.read_text("utf-8"))
    del config["rope_parameters"]
    path.write_text(json.dumps({**config, "rotary_pct": 0.5, "rotary_emb_base": 300}), "utf-8")
    assert_agrees(open_stage_model(tmp_path), model)


def test_that_an_opt_that_norms_after_its_steps_is_looked_up_alone(tmp_path: Path) -> None:
    model = made("OPT", **OPT, do_layer_norm_before=False)
    run = open_stage_model(saved_in(tmp_path, model)).run(ids=IDS)
    assert [stage.name for stage in run.stages] == ["ids", "one-hot", "looked up"]
    assert "computed in a way that is not known here" in run.notes[0]
