"""Stages of Llama and its relatives beside ``transformers``' own models."""

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

from explorer.compute.stages import encode_phrases, open_stage_model, stored
from explorer.compute.stages.base import StageModel
from explorer.core.errors import Cancelled, ExplorerError

IDS = [7, 33, 119, 33, 2, 64, 90, 11, 5]
SIZES = {
    "vocab_size": 120,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
LLAMA_3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]
# Each with numbers that are not its usual ones, so that only its configuration tells them.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama": ("Llama", {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}),
    "Llama 3": ("Llama", {"rope_parameters": LLAMA_3, "rms_norm_eps": 1e-3}),
    "Llama, linear": (
        "Llama",
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 300.0, "factor": 4.0}},
    ),
    "Mistral": ("Mistral", {"sliding_window": 4, "head_dim": 32}),
    "Qwen2": ("Qwen2", {"rope_parameters": {"rope_type": "default", "rope_theta": 900.0}}),
    "Qwen2, windows": (
        "Qwen2",
        {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
    ),
    "Qwen3": ("Qwen3", {"head_dim": 32, "hidden_act": "gelu"}),
    "Gemma": ("Gemma", {"head_dim": 32}),
    "Gemma 2": (
        "Gemma2",
        {"head_dim": 32, "sliding_window": 3, "query_pre_attn_scalar": 20, "attn_logit_softcapping": 0.5},
    ),
    "Gemma 3": (
        "Gemma3Text",
        {"head_dim": 32, "sliding_window": 3, "query_pre_attn_scalar": 20, "layer_types": LAYERS},
    ),
}


def assert_agrees(opened: StageModel, model: Any, layers: int = 3) -> None:
    run = opened.run(ids=IDS)
    with torch.no_grad():
        expected = model.base_model(torch.tensor([IDS]), output_hidden_states=True, output_attentions=True)
    before = run["scaled"] if opened.name.startswith("Gemma") else run["looked up"]
    assert_close(before, expected.hidden_states[0][0])
    for layer in range(1, layers):  # the library norms what comes out of the last
        assert_close(run[f"after layer {layer}"], expected.hidden_states[layer][0])
    assert_close(run["final norm"], expected.last_hidden_state[0])
    assert_close(run["pooled"], expected.last_hidden_state[0, -1])
    for layer in range(1, layers + 1):
        np.testing.assert_allclose(
            run.attentions[0].weights(layer), expected.attentions[layer - 1][0].numpy(), atol=1e-4
        )


@pytest.mark.parametrize("name", MODELS)
def test_that_each_stage_of_a_folder_agrees_with_transformers(tmp_path: Path, name: str) -> None:
    family, values = MODELS[name]
    model = made(family, f"{family.removesuffix('Text')}ForCausalLM", **{**SIZES, **values})
    opened = open_stage_model(saved_in(tmp_path, model))
    assert opened.name == name.split(",")[0].removesuffix(" 3" if family == "Llama" else "-")
    assert not any("taken" in note for note in opened.notes)
    assert_agrees(opened, model)


def old(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration as older files have it: θ by itself, its scaling beside it, no list of layers."""
    rope = config.pop("rope_parameters")
    config.pop("layer_types", None)
    if "full_attention" in rope:
        local = rope["sliding_attention"]["rope_theta"]
        return {**config, "rope_theta": rope["full_attention"]["rope_theta"], "rope_local_base_freq": local}
    theta = rope.pop("rope_theta")
    kind = rope.pop("rope_type")
    return {**config, "rope_theta": theta, "rope_scaling": {"type": kind, **rope} if rope else None}


@pytest.mark.parametrize("name", ["Llama", "Llama 3", "Qwen2, windows", "Gemma 2", "Gemma 3"])
def test_that_configurations_of_older_files_say_the_same(tmp_path: Path, name: str) -> None:
    family, values = MODELS[name]
    usual = {**SIZES, "num_hidden_layers": 2} if family == "Gemma2" else {**SIZES, "num_hidden_layers": 6}
    values = {key: value for key, value in values.items() if key != "layer_types"}
    model = made(family, f"{family.removesuffix('Text')}ForCausalLM", **{**usual, **values})
    path = saved_in(tmp_path, model) / "config.json"
    path.write_text(json.dumps(old(json.loads(path.read_text("utf-8")))), "utf-8")
    assert_agrees(open_stage_model(tmp_path), model, usual["num_hidden_layers"])


@pytest.mark.parametrize("prefix", ["", "model.", "language_model.model.", "module.model."])
def test_that_a_bare_state_dict_takes_the_usual_numbers_and_says_so(tmp_path: Path, prefix: str) -> None:
    model = made("Llama", **{**SIZES, "hidden_size": 256}, rms_norm_eps=1e-5)
    state = {prefix + name: tensor for name, tensor in model.state_dict().items()}
    opened = open_stage_model(save(state, tmp_path / "llama.pth"))
    assert opened.heads is not None
    assert opened.heads.is_guess
    assert opened.heads.choices == (2, 4, 8, 16, 32, 64, 128)
    assert any("θ = 10,000" in note for note in opened.notes)
    assert_agrees(opened, model)


def test_that_said_heads_are_followed_and_others_than_keys_allow_refused(tmp_path: Path) -> None:
    model = made("Llama", **{**SIZES, "hidden_size": 128}, rms_norm_eps=1e-5)
    path = save(model.state_dict(), tmp_path / "llama.pth")
    assert_agrees(open_stage_model(path, heads=4), model)
    for heads in (1, 128):  # one with keys for half of it, and heads that cannot be turned
        with pytest.raises(ExplorerError, match=f"cannot be split into {heads} heads"):
            open_stage_model(path, heads=heads)


@pytest.mark.parametrize("family", ["Qwen2", "Qwen3", "Gemma", "Gemma2", "Gemma3Text"])
def test_that_names_and_shapes_tell_the_relatives_apart(tmp_path: Path, family: str) -> None:
    sizes = {**SIZES, "num_hidden_layers": 6, "num_attention_heads": 2, "num_key_value_heads": 1}
    base = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}} if "Qwen" in family else {}
    sizes |= {"vocab_size": 256_000, "hidden_size": 16} if family == "Gemma" else {}
    width = {"Qwen2": 64, "Qwen3": 24}.get(family, 256)
    model = made(family, **{**sizes, "hidden_size": 128 if family == "Qwen2" else 48}, **base, head_dim=width)
    opened = open_stage_model(save(model.state_dict(), tmp_path / "model.pth"))
    assert opened.name == {"Gemma2": "Gemma 2", "Gemma3Text": "Gemma 3"}.get(family, family)
    assert opened.heads is not None
    assert opened.heads.count == 2
    assert opened.heads.is_told == (family in ("Qwen3", "Gemma3Text"))
    assert_agrees(opened, model, 6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_that_a_large_model_is_read_layer_by_layer_and_computed_in_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype
) -> None:
    model = made("Qwen2", "Qwen2ForCausalLM", **SIZES).to(dtype)
    opened_whole = open_stage_model(saved_in(tmp_path, model))
    monkeypatch.setattr(stored, "_MOST_KEPT", 1000)
    opened = open_stage_model(tmp_path)
    assert_agrees(opened, model.float())
    whole, run = opened_whole.run(ids=IDS), opened.run(ids=IDS)
    for ours, theirs in zip(run.stages, whole.stages, strict=True):
        assert ours.values is None or (ours.values == theirs.values).all()
    told: list[float] = []

    def stop(share: float) -> None:
        told.append(share)
        if len(told) == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        opened.run(ids=IDS, tell=stop)
    assert told == [0, pytest.approx(1 / 3)]
    told.clear()
    with pytest.raises(Cancelled):
        encode_phrases(opened, ["#7 #33", "#5"], tell=stop)
    assert told == [0, 0]


def test_that_a_stored_layer_of_another_shape_is_refused_when_the_model_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "_MOST_KEPT", 1000)
    state = made("Llama", **SIZES).state_dict()
    state["layers.1.mlp.down_proj.weight"] = torch.ones(3, 96)
    with pytest.raises(ExplorerError, match=r"layers|down_proj"):
        open_stage_model(save(state, tmp_path / "llama.pth"))


def test_that_what_is_not_computed_is_said_by_name(tmp_path: Path) -> None:
    model = made("Llama", "LlamaForCausalLM", **SIZES)
    path = saved_in(tmp_path, model) / "config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, "model_type": "granite"}), "utf-8")
    run = open_stage_model(tmp_path).run(ids=IDS)
    assert run.model == "“granite” model"
    assert [stage.name for stage in run.stages] == ["ids", "one-hot", "looked up"]
    assert "computed in a way that is not known here" in run.notes[0]
    config["rope_parameters"] = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}
    path.write_text(json.dumps(config), "utf-8")
    assert "scaled by “yarn”" in open_stage_model(tmp_path).run(ids=IDS).notes[0]
    path.write_text(json.dumps({**config, "rope_parameters": None, "is_causal": False}), "utf-8")
    assert "see what comes after them" in open_stage_model(tmp_path).run(ids=IDS).notes[0]
    quantised = {**model.state_dict(), "model.layers.0.mlp.up_proj.weight_scale": torch.ones(1)}
    run = open_stage_model(save(quantised, tmp_path / "int8.pth")).run(ids=IDS)
    assert "Model with quantised layers: its rows are looked up" in run.notes[0]
    state = {"model.embed_tokens.weight": torch.randn(90, 8)}
    state["model.layers.0.block_sparse_moe.gate.weight"] = torch.randn(8, 8)
    run = open_stage_model(save(state, tmp_path / "moe.pth")).run(ids=[3])
    assert "Mixture of experts, as Mixtral is: its rows are looked up" in run.notes[0]
