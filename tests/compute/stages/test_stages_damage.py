"""Models that are cut, mixed up or of another kind: a sentence each, and never a wrong number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from library_models import made
from stage_checkpoints import State, decoder_only, save, translator, word_lstm

from explorer.compute.stages import open_stage_model
from explorer.core.errors import ExplorerError


def small_translator() -> State:
    return translator(12, 10, dim=16, inner=24, layers=2)


def small_gpt() -> State:
    return decoder_only(12, 8, 16, 2)


def small_lstm() -> State:
    return word_lstm(12, 16, 2)


def small_llama() -> State:
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 2}
    state: State = made("Llama", vocab_size=12, hidden_size=16, intermediate_size=24, **heads).state_dict()
    return state


def small_t5() -> State:
    state: State = made(
        "T5", "T5EncoderModel", vocab_size=12, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2
    ).state_dict()
    return state


def small_bart() -> State:
    sizes = {"d_model": 16, "encoder_layers": 2, "encoder_ffn_dim": 24, "encoder_attention_heads": 1}
    sizes |= {"decoder_layers": 1, "decoder_ffn_dim": 24, "decoder_attention_heads": 1}
    state: State = made("Bart", vocab_size=12, max_position_embeddings=20, **sizes).state_dict()
    return state


MODELS: dict[str, Callable[[], State]] = {
    "translator": small_translator,
    "gpt": small_gpt,
    "lstm": small_lstm,
    "llama": small_llama,
    "t5": small_t5,
    "bart": small_bart,
}
NEEDED = [
    ("translator", "encoder.layers.1.self_attn.linears.2.weight"),
    ("translator", "encoder.layers.0.sublayer.1.norm.a_2"),
    ("translator", "encoder.norm.b_2"),
    ("gpt", "transformer.h.1.mlp.c_proj.weight"),
    ("gpt", "transformer.ln_f.weight"),
    ("lstm", "lstm.weight_hh_l1"),
    ("llama", "layers.1.self_attn.v_proj.weight"),
    ("llama", "layers.1.mlp.down_proj.weight"),
    ("t5", "encoder.block.1.layer.1.DenseReluDense.wo.weight"),
    ("bart", "encoder.layers.1.final_layer_norm.weight"),
    ("bart", "decoder.embed_positions.weight"),
]


@pytest.mark.parametrize(("model", "name"), NEEDED)
def test_that_a_missing_tensor_is_named(tmp_path: Path, model: str, name: str) -> None:
    state = MODELS[model]()
    del state[name]
    with pytest.raises(
        ExplorerError, match=f"m.pth is not whole: its tensor .*{name.split('.')[-1]} is missing"
    ):
        open_stage_model(save(state, tmp_path / "m.pth"))


@pytest.mark.parametrize(("model", "name"), NEEDED)
@pytest.mark.parametrize("shape", [(), (3,), (7, 5), (0, 16), (2, 2, 2, 2)])
def test_that_a_tensor_of_another_shape_is_refused(
    tmp_path: Path, model: str, name: str, shape: tuple[int, ...]
) -> None:
    state = MODELS[model]()
    state[name] = torch.zeros(shape)
    with pytest.raises(ExplorerError) as caught:
        open_stage_model(save(state, tmp_path / "m.pth"))
    assert "m.pth" in caught.value.message


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("ids", [[12], [3, -1], [1 << 40]])
def test_that_ids_without_a_row_are_refused(tmp_path: Path, model: str, ids: list[int]) -> None:
    opened = open_stage_model(save(MODELS[model](), tmp_path / "m.pth"))
    with pytest.raises(ExplorerError, match=r"There is no token .*: the table has 12 rows") as caught:
        opened.run(ids=ids)
    assert caught.value.hint == "Give ids from 0 to 11."


@pytest.mark.parametrize("model", MODELS)
def test_that_nothing_to_run_on_is_said(tmp_path: Path, model: str) -> None:
    opened = open_stage_model(save(MODELS[model](), tmp_path / "m.pth"))
    for call in (lambda: opened.run(""), lambda: opened.run(" \n"), lambda: opened.run(ids=[])):
        with pytest.raises(ExplorerError):
            call()


@pytest.mark.parametrize("model", MODELS)
def test_that_a_single_token_runs(tmp_path: Path, model: str) -> None:
    run = open_stage_model(save(MODELS[model](), tmp_path / "m.pth")).run(ids=[11])
    assert all(np.isfinite(stage.values).all() for stage in run.stages if stage.values is not None)
    assert run["looked up"].shape == (1, 16)
    for attention in run.attentions:
        np.testing.assert_allclose(attention.weights(1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "name", "stage"),
    [
        ("translator", "src_embed.0.lut.weight", "looked up"),
        ("gpt", "transformer.h.1.ln_1.weight", "after layer 2"),
        ("lstm", "lstm.bias_ih_l0", "after layer 1"),
        ("llama", "layers.1.mlp.up_proj.weight", "after layer 2"),
        ("t5", "encoder.final_layer_norm.weight", "final norm"),
    ],
)
def test_that_numbers_that_are_none_are_traced_to_where_they_begin(
    tmp_path: Path, model: str, name: str, stage: str
) -> None:
    state = MODELS[model]()
    state[name][..., 0] = torch.nan
    run = open_stage_model(save(state, tmp_path / "m.pth")).run(ids=[1, 2, 3])
    assert (
        f"From the stage “{stage}” on there are numbers that are infinite or no numbers (NaN)." in run.notes
    )


def test_that_half_precision_is_computed_in_single(tmp_path: Path) -> None:
    state = small_gpt()
    whole = open_stage_model(save(state, tmp_path / "whole.pth")).run(ids=[1, 2])
    for dtype in (torch.float16, torch.bfloat16):
        halved = {name: tensor.to(dtype) for name, tensor in state.items()}
        run = open_stage_model(save(halved, tmp_path / "half.pth")).run(ids=[1, 2])
        np.testing.assert_allclose(run["final norm"].values, whole["final norm"].values, atol=0.1)


def test_that_a_model_of_another_kind_is_looked_up_and_no_further(tmp_path: Path) -> None:
    state = {
        "model.embed_tokens.weight": torch.randn(50, 16),
        "model.layers.0.self_attn.q_proj.weight": torch.randn(16, 16),
        "model.norm.weight": torch.ones(16),
        "lm_head.weight": torch.randn(50, 16),
    }
    run = open_stage_model(save(state, tmp_path / "llama.pth")).run(ids=[3, 49])
    assert [stage.name for stage in run.stages] == ["ids", "one-hot", "looked up"]
    assert (run["looked up"].values == state["model.embed_tokens.weight"][[3, 49]].numpy()).all()
    assert "What this model does after the lookup is not known here" in run.notes[0]


NONSENSE = (None, "many", -1, 0, 3, 1e300, [], {}, True)


@pytest.mark.parametrize("model", ["llama", "t5", "bart"])
def test_that_a_configuration_of_nonsense_ends_in_a_sentence_or_in_a_run(tmp_path: Path, model: str) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    safetensors.save_file({k: v.clone() for k, v in MODELS[model]().items()}, tmp_path / "model.safetensors")
    keys = ["num_attention_heads", "encoder_attention_heads", "sliding_window", "rope_theta", "rope_scaling"]
    keys += ["rope_parameters", "rms_norm_eps", "layer_norm_epsilon", "max_position_embeddings", "hidden_act"]
    keys += ["relative_attention_max_distance", "feed_forward_proj", "scale_embedding", "activation_function"]
    keys += ["text_config", "layer_types", "attn_logit_softcapping", "query_pre_attn_scalar"]
    kind = {"llama": "mistral"}.get(model, model)
    for key in keys:
        for value in NONSENSE:
            (tmp_path / "config.json").write_text(json.dumps({"model_type": kind, key: value}), "utf-8")
            try:
                run = open_stage_model(tmp_path).run(ids=[1, 2, 3])
            except ExplorerError:
                continue
            assert run["looked up"].shape[1] == 16, (key, value)


def test_that_a_model_without_a_token_table_is_refused(tmp_path: Path) -> None:
    path = save(
        {"conv1.weight": torch.randn(8, 3, 3, 3), "fc.weight": torch.randn(10, 8)}, tmp_path / "m.pth"
    )
    with pytest.raises(ExplorerError, match="it has no token table"):
        open_stage_model(path)


def test_that_an_lstm_in_both_directions_is_refused(tmp_path: Path) -> None:
    lstm = torch.nn.LSTM(16, 16, bidirectional=True)
    state = {"embedding.weight": torch.randn(9, 16)}
    state |= {f"lstm.{name}": tensor for name, tensor in lstm.state_dict().items()}
    with pytest.raises(ExplorerError, match="reads from right to left"):
        open_stage_model(save(state, tmp_path / "m.pth"))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt", "transformer.h.999999999.ln_1.weight"),
        ("llama", "layers.999999999.input_layernorm.weight"),
        ("t5", "encoder.block.999999999.layer.0.layer_norm.weight"),
        ("bart", "encoder.layers.999999999.fc1.weight"),
    ],
)
def test_that_a_layer_number_beyond_all_reason_is_refused_at_once(
    tmp_path: Path, model: str, name: str
) -> None:
    state = MODELS[model]()
    state[name] = torch.ones(16)
    with pytest.raises(ExplorerError, match="is missing"):
        open_stage_model(save(state, tmp_path / "m.pth"))


def test_that_a_picture_and_a_side_are_refused_by_a_model_without(tmp_path: Path) -> None:
    from PIL import Image

    opened = open_stage_model(save(small_gpt(), tmp_path / "m.pth"))
    with pytest.raises(ExplorerError, match="A GPT reads no pictures"):
        opened.run(ids=[1], picture=Image.new("RGB", (4, 4)))
    with pytest.raises(ExplorerError, match="A GPT has no target side"):
        opened.run(ids=[1], side="target")


def mixed_up(tensor: torch.Tensor, way: int) -> torch.Tensor:
    ways = (
        lambda: torch.zeros(()),
        lambda: torch.zeros(0),
        lambda: tensor[None],
        lambda: tensor.flatten(),
        lambda: tensor.to(torch.int64),
        lambda: tensor.to(torch.complex64),
        lambda: tensor.T.contiguous() if tensor.ndim == 2 else tensor[1:],
        lambda: torch.zeros(3, 17),
        lambda: tensor * torch.inf,
        lambda: torch.cat([tensor, tensor]),
    )
    return ways[way % len(ways)]()


@pytest.mark.parametrize("model", MODELS)
def test_that_a_mixed_up_tensor_ends_in_a_sentence_or_in_a_whole_run(tmp_path: Path, model: str) -> None:
    state = MODELS[model]()
    refused = 0
    for number, name in enumerate(list(state)[::3]):
        path = save({**state, name: mixed_up(state[name], number)}, tmp_path / "m.pth")
        try:
            opened = open_stage_model(path)
            runs = [opened.run(ids=[1, 2, 3], side=side) for side in (opened.sides or (None,))]
        except ExplorerError:
            refused += 1
            continue
        for stage in (stage for run in runs for stage in run.stages if stage.values is not None):
            assert stage.values.shape == stage.shape
    assert refused > 0


def test_that_of_two_models_in_a_file_the_first_is_run_and_said_so(tmp_path: Path) -> None:
    state = small_gpt()
    whole = open_stage_model(save(state, tmp_path / "plain.pth")).run(ids=[1, 2])
    both = {"model": state, "ema": {name: tensor * 0.5 for name, tensor in state.items()}}
    run = open_stage_model(save(both, tmp_path / "both.pth")).run(ids=[1, 2])
    assert (run["final norm"].values == whole["final norm"].values).all()
    assert "The file holds more than this model: what lies under “model” is run." in run.notes
    beside = {
        "state_dict": {
            **{f"model.{name}": tensor for name, tensor in state.items()},
            "loss.weight": torch.ones(3),
        }
    }
    run = open_stage_model(save(beside, tmp_path / "lightning.ckpt")).run(ids=[1, 2])
    assert (run["final norm"].values == whole["final norm"].values).all()


@pytest.mark.parametrize("model", MODELS)
def test_that_a_model_runs_under_the_name_that_its_program_gave_it(tmp_path: Path, model: str) -> None:
    state = MODELS[model]()
    named = {
        "state_dict": {
            **{f"model.my_{model}.{name}": tensor for name, tensor in state.items()},
            "loss.weight": torch.ones(3),
        }
    }
    opened = open_stage_model(save(named, tmp_path / "lightning.ckpt"))
    whole = open_stage_model(save(state, tmp_path / "plain.pth"))
    assert opened.name == whole.name
    for one, other in zip(opened.run(ids=[1, 2]).stages, whole.run(ids=[1, 2]).stages, strict=True):
        assert one.name == other.name
        assert one.values is other.values or (one.values == other.values).all()


def test_that_whole_modules_and_safetensors_run_as_their_state_dicts_do(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    state = small_lstm()
    whole = open_stage_model(save(state, tmp_path / "plain.pth")).run(ids=[1, 2])
    model = torch.nn.Module()
    model.embedding = torch.nn.Embedding(12, 16)
    model.lstm, model.fc = torch.nn.LSTM(16, 16, 2, batch_first=True), torch.nn.Linear(16, 12)
    model.load_state_dict(state)
    torch.save(model, tmp_path / "module.pt")
    torch.save(state, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    safetensors.save_file(state, tmp_path / "m.safetensors")
    for name in ("module.pt", "old.pth", "m.safetensors"):
        run = open_stage_model(tmp_path / name).run(ids=[1, 2])
        assert (run["pooled"].values == whole["pooled"].values).all(), name


def test_that_a_model_without_a_place_for_any_token_is_refused(tmp_path: Path) -> None:
    state = small_translator()
    state["src_embed.1.pe"] = torch.zeros(1, 0, 16)
    with pytest.raises(ExplorerError, match="no row for any token"):
        open_stage_model(save(state, tmp_path / "m.pth")).run(ids=[1])
    with pytest.raises(ExplorerError, match=r"wpe\.weight is no table"):
        open_stage_model(
            save({**small_gpt(), "transformer.wpe.weight": torch.zeros(0, 16)}, tmp_path / "m.pth")
        )
