"""The text encoders inside Stable Diffusion: each family's layer, norm, padding and pooled vector."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from made_models import transformers
from reference_clip import Text
from safetensors.torch import save_file
from torch import nn

from explorer.compute.encoders.opening import open_encoder
from explorer.compute.encoders.stable_diffusion import with_inversions
from explorer.core.errors import ExplorerError

PROMPTS = ("a photo of an astronaut riding a horse", "a cat", "")
START, END = 49_406, 49_407


def clip_text(width: int = 64, *, projected: bool = False, activation: str = "gelu", seed: int = 11) -> Any:
    """A text tower under Hugging Face's names, of three layers."""
    torch.manual_seed(seed)
    config = transformers.CLIPTextConfig(
        hidden_size=width,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=width // 64,
        projection_dim=width,
        hidden_act=activation,
        initializer_factor=3.0,
    )
    kind = transformers.CLIPTextModelWithProjection if projected else transformers.CLIPTextModel
    return kind(config).eval().requires_grad_(False)


def open_clip_text(width: int = 128) -> Text:
    torch.manual_seed(12)
    text = Text(width=width, layers=3, heads=width // 64, dim=width, activation=nn.GELU())
    return text.eval().requires_grad_(False)


def ids_of(prompts: tuple[str, ...], pad: int) -> torch.Tensor:
    from explorer.compute.encoders.clip_vocabulary import published

    tokenizer = published()
    rows = [tokenizer.encode(prompt).ids for prompt in prompts]
    return torch.tensor([row + [pad] * (77 - len(row)) for row in rows])


def ends_of(ids: torch.Tensor) -> torch.Tensor:
    return (ids == END).int().argmax(1)


def hugging_face_states(model: Any, ids: torch.Tensor) -> list[torch.Tensor]:
    """What leaves each layer, caught by hooks: independent of how transformers numbers its states."""
    states: list[torch.Tensor] = []
    inner = model.text_model if hasattr(model, "text_model") else model
    hooks = [layer.register_forward_hook(lambda m, i, o: states.append(o)) for layer in inner.encoder.layers]
    model(ids)
    for hook in hooks:
        hook.remove()
    return states


def open_clip_pooled(text: Text, ids: torch.Tensor) -> torch.Tensor:
    last = text.ln_final(text.states(ids)[-1])
    return last[torch.arange(len(ids)), ends_of(ids)] @ text.text_projection


def prefixed(prefix: str, model: nn.Module) -> dict[str, torch.Tensor]:
    return {f"{prefix}{name}": value.contiguous() for name, value in model.state_dict().items()}


def check(encoder: Any, sequence: torch.Tensor, pooled: torch.Tensor) -> None:
    conditioning = encoder.conditioner.condition(PROMPTS)
    np.testing.assert_allclose(conditioning.sequence, sequence.numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(conditioning.pooled, pooled.numpy(), rtol=1e-4, atol=1e-4)
    assert np.ptp(conditioning.sequence, axis=0).max() > 0.1
    unit = torch.nn.functional.normalize(pooled, dim=-1).numpy()
    np.testing.assert_allclose(encoder.encode_text(PROMPTS).vectors, unit, atol=1e-4)
    assert encoder.dim == pooled.shape[1]
    assert conditioning.pieces[1] == ("<|startoftext|>", "a</w>", "cat</w>", "<|endoftext|>")


def stable_diffusion_1(model: Any) -> dict[str, torch.Tensor]:
    state = prefixed("cond_stage_model.transformer.text_model.", model)
    state["cond_stage_model.transformer.text_model.embeddings.position_ids"] = torch.arange(77)[None]
    state["first_stage_model.encoder.conv_in.weight"] = torch.zeros(4, 3, 3, 3)
    state["model.diffusion_model.out.2.weight"] = torch.zeros(4, 4, 3, 3)
    return state


def check_sd_1(path: Path, model: Any) -> None:
    encoder = open_encoder(path, device="cpu")
    assert encoder.kind == "Stable Diffusion text encoder"
    assert encoder.notes[0].startswith("SD 1")
    assert not encoder.has_images
    ids = ids_of(PROMPTS, END)
    states = model(ids).last_hidden_state
    check(encoder, states, states[torch.arange(3), ends_of(ids)])


def test_that_sd_1_conditions_by_the_last_layer_through_the_final_norm(tmp_path: Path) -> None:
    """In the real width, from which QuickGELU is known, and in half precision, as most files are."""
    model = clip_text(768, activation="quick_gelu").half()
    state = {"state_dict": stable_diffusion_1(model), "global_step": 1}
    torch.save(state, tmp_path / "v1-5.ckpt")
    check_sd_1(tmp_path / "v1-5.ckpt", model.float())


@pytest.mark.parametrize("prefix", ["transformer.text_model.", "transformer."])
def test_that_sd_1_is_known_by_older_names_too(tmp_path: Path, prefix: str) -> None:
    model = clip_text()
    state = stable_diffusion_1(model)
    save_file(
        {name.replace("transformer.text_model.", prefix): v for name, v in state.items()},
        tmp_path / "merged.safetensors",
    )
    check_sd_1(tmp_path / "merged.safetensors", model)


def test_that_sd_2_conditions_by_the_last_layer_but_one_through_the_final_norm(tmp_path: Path) -> None:
    text = open_clip_text()
    state = prefixed("cond_stage_model.model.", text)
    state["cond_stage_model.model.logit_scale"] = torch.tensor(4.6)
    save_file(state, tmp_path / "v2-1.safetensors")
    encoder = open_encoder(tmp_path / "v2-1.safetensors", device="cpu")
    assert encoder.notes[0].startswith("SD 2")
    ids = ids_of(PROMPTS, 0)
    check(encoder, text.ln_final(text.states(ids)[-2]), open_clip_pooled(text, ids))


@pytest.mark.parametrize("refiner", [False, True])
def test_that_sdxl_conditions_by_both_towers_last_layers_but_one_without_norm(
    tmp_path: Path, refiner: bool
) -> None:
    small, big = clip_text(), open_clip_text()
    state = prefixed(f"conditioner.embedders.{0 if refiner else 1}.model.", big)
    if not refiner:
        state |= prefixed("conditioner.embedders.0.transformer.text_model.", small)
    save_file(state, tmp_path / "sdxl.safetensors")
    encoder = open_encoder(tmp_path / "sdxl.safetensors", device="cpu")
    ids = ids_of(PROMPTS, 0)
    sequence = big.states(ids)[-2]
    if not refiner:
        sequence = torch.cat([hugging_face_states(small, ids_of(PROMPTS, END))[-2], sequence], -1)
    check(encoder, sequence, open_clip_pooled(big, ids))


def sd_3_expected(small: Any, big: Any) -> tuple[torch.Tensor, torch.Tensor]:
    ids, others = ids_of(PROMPTS, END), ids_of(PROMPTS, 0)
    parts = [hugging_face_states(small, ids)[-2], hugging_face_states(big, others)[-2]]
    sequence = nn.functional.pad(torch.cat(parts, -1), (0, 4096 - 192))
    return sequence, torch.cat([small(ids).text_embeds, big(others).text_embeds], -1)


def test_that_sd_3_conditions_by_both_towers_filled_up_to_t5s_width(tmp_path: Path) -> None:
    small, big = clip_text(projected=True), clip_text(128, projected=True, seed=13)
    state = prefixed("text_encoders.clip_l.transformer.", small)
    state |= prefixed("text_encoders.clip_g.transformer.", big)
    save_file(state, tmp_path / "sd3.safetensors")
    encoder = open_encoder(tmp_path / "sd3.safetensors", device="cpu")
    check(encoder, *sd_3_expected(small, big))
    assert any("T5" in note for note in encoder.notes)


def diffusers(folder: Path, pipeline: str, parts: dict[str, Any]) -> None:
    """A folder as diffusers saves it; the second tokenizer fills up with the token of id 0."""
    from explorer.compute.encoders.clip_vocabulary import published

    folder.mkdir(exist_ok=True)
    (folder / "model_index.json").write_text(json.dumps({"_class_name": pipeline}))
    for name, model in parts.items():
        model.save_pretrained(folder / name)
        tokenizer = folder / name.replace("text_encoder", "tokenizer")
        tokenizer.mkdir()
        published().save(str(tokenizer / "tokenizer.json"))
        pad = "!" if name.endswith("_2") else "<|endoftext|>"
        (tokenizer / "special_tokens_map.json").write_text(json.dumps({"pad_token": pad}))


def test_that_diffusers_folders_condition_as_their_pipelines_do(tmp_path: Path) -> None:
    small, big = clip_text(projected=True), clip_text(128, projected=True, seed=13)
    diffusers(tmp_path / "sd3", "StableDiffusion3Pipeline", {"text_encoder": small, "text_encoder_2": big})
    check(open_encoder(tmp_path / "sd3", device="cpu"), *sd_3_expected(small, big))
    shutil.rmtree(tmp_path / "sd3")

    parts = {"text_encoder": clip_text(), "text_encoder_2": big}
    diffusers(tmp_path / "xl", "StableDiffusionXLPipeline", parts)
    sequence, pooled = sd_3_expected(small, big)
    check(open_encoder(tmp_path / "xl", device="cpu"), sequence[..., :192], pooled[:, 64:])
    shutil.rmtree(tmp_path / "xl")

    model = clip_text()
    diffusers(tmp_path / "sd1", "StableDiffusionPipeline", {"text_encoder": model})
    ids = ids_of(PROMPTS, END)
    states = model(ids).last_hidden_state
    check(open_encoder(tmp_path / "sd1", device="cpu"), states, states[torch.arange(3), ends_of(ids)])
    half = open_encoder(tmp_path / "sd1" / "text_encoder", device="cpu")
    assert (half.kind, half.tokenizer.source) == ("CLIP", "tokenizer.json in tokenizer")


def test_that_two_prompts_are_compared_position_by_position(tmp_path: Path) -> None:
    save_file(stable_diffusion_1(clip_text()), tmp_path / "sd.safetensors")
    conditioner = open_encoder(tmp_path / "sd.safetensors", device="cpu").conditioner
    found = conditioner.compare("a red cat", "a red dog")
    assert found.first == ("<|startoftext|>", "a</w>", "red</w>", "cat</w>", "<|endoftext|>")
    assert found.positions.shape == (77,)
    np.testing.assert_allclose(found.positions[:3], 1, atol=1e-5)  # nothing is known of the fourth yet
    assert found.positions[3] < 0.999
    assert found.pooled < 0.999
    assert conditioner.compare("a cat", "a cat").pooled == pytest.approx(1, abs=1e-5)


def test_that_learned_tokens_stand_in_the_table_and_in_prompts(tmp_path: Path) -> None:
    model = clip_text()
    save_file(stable_diffusion_1(model), tmp_path / "sd.safetensors")
    learned = torch.randn(2, 64, generator=torch.Generator().manual_seed(1))
    torch.save({"string_to_param": {"*": learned}, "name": "my-style", "step": 9}, tmp_path / "style.pt")
    save_file({"emb_params": learned[:1] * 2}, tmp_path / "grumpy.safetensors")
    torch.save({"<toy>": learned[1]}, tmp_path / "learned_embeds.bin")
    plain = open_encoder(tmp_path / "sd.safetensors", device="cpu")
    files = [tmp_path / name for name in ("style.pt", "grumpy.safetensors", "learned_embeds.bin")]
    encoder = with_inversions(plain, files)
    names, table = encoder.conditioner.token_table()
    assert names[49_405:] == [
        "jekyll</w>",
        "<|startoftext|>",
        "<|endoftext|>",
        "my-style",
        "my-style_1",
        "grumpy",
        "<toy>",
    ]
    assert names[320] == "a</w>"
    added = torch.cat([learned, learned[:1] * 2, learned[1:]])
    np.testing.assert_array_equal(table[-4:], added.numpy())
    assert len(plain.conditioner.token_table()[0]) == 49_408

    prompt = "a cat in my-style with <toy>"
    embedding = model.embeddings.token_embedding
    model.embeddings.token_embedding = nn.Embedding.from_pretrained(torch.cat([embedding.weight, added]))
    row = [START, 320, 2368, 530, 49_408, 49_409, 593, 49_411, END]
    ids = torch.tensor([row + [END] * (77 - len(row))])
    conditioning = encoder.conditioner.condition([prompt])
    np.testing.assert_allclose(
        conditioning.sequence, model(ids).last_hidden_state.numpy(), rtol=1e-4, atol=1e-4
    )
    pooled = model(ids).last_hidden_state[0, len(row) - 1]
    np.testing.assert_allclose(conditioning.pooled[0], pooled.numpy(), rtol=1e-4, atol=1e-4)
    before = plain.conditioner.condition(["a cat"]).sequence
    np.testing.assert_array_equal(encoder.conditioner.condition(["a cat"]).sequence, before)

    torch.save({"<xl>": torch.randn(1280)}, tmp_path / "other.bin")
    with pytest.raises(ExplorerError, match="holds no learned token of 64 numbers"):
        with_inversions(plain, [tmp_path / "other.bin"])
    with pytest.raises(ExplorerError, match="my-style is known already"):
        with_inversions(encoder, [tmp_path / "style.pt"])  # known already


def test_that_a_text_encoder_in_a_file_of_its_own_opens(tmp_path: Path) -> None:
    model = clip_text(projected=True)
    save_file(prefixed("", model), tmp_path / "clip_x.safetensors")
    encoder = open_encoder(tmp_path / "clip_x.safetensors", device="cpu")
    assert any(": GELU is assumed" in note for note in encoder.notes)
    expected = nn.functional.normalize(model(ids_of(PROMPTS, END)).text_embeds, dim=-1).numpy()
    np.testing.assert_allclose(encoder.encode_text(PROMPTS).vectors, expected, atol=1e-4)
