"""Stages of CLIP's towers, beside ``transformers`` and the encoders, whose own references are elsewhere."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from picture_checkpoints import scene
from safetensors.torch import load_file
from stage_checkpoints import Maker, State, save
from stage_references import assert_close

from explorer.compute.encoders.opening import open_encoder
from explorer.compute.encoders.transformer import library
from explorer.compute.stages import open_stage_model
from explorer.core.errors import ExplorerError
from explorer.core.resources import resource_path
from explorer.core.stages import Needs, Of

DEMO = Path(resource_path("demo", "clip"))
END = 49407


def test_that_each_stage_of_a_text_is_that_of_transformers() -> None:
    model = library().CLIPModel.from_pretrained(DEMO, dtype=torch.float32).eval()
    opened = open_stage_model(DEMO)
    assert (opened.name, opened.needs) == ("CLIP", Needs.EITHER)
    run = opened.run("two red circles")
    assert run.tokens[-1].id == model.config.text_config.eos_token_id
    ids = torch.from_numpy(run["ids"].values)[None]
    with torch.inference_mode():
        output = model.text_model(input_ids=ids, output_hidden_states=True)
        vector = model.text_projection(output.pooler_output)
    assert_close(run["with position"], output.hidden_states[0][0])
    for number, hidden in enumerate(output.hidden_states[1:], 1):
        assert_close(run[f"after layer {number}"], hidden[0])
    assert_close(run["final norm"], output.last_hidden_state[0])
    assert_close(run["pooled"], output.pooler_output[0])
    assert_close(run["projected"], vector[0])


def test_that_each_stage_of_a_picture_is_that_of_transformers() -> None:
    model = library().CLIPModel.from_pretrained(DEMO, dtype=torch.float32).eval()
    size = model.config.vision_config.image_size
    picture = scene(size, size)
    encoder = open_encoder(DEMO, device="cpu")
    assert encoder.preprocessing is not None
    pixels = encoder.preprocessing.normalise(encoder.preprocessing.prepare(picture))
    run = open_stage_model(DEMO).run(picture=picture)
    with torch.inference_mode():
        output = model.vision_model(torch.from_numpy(pixels)[None], output_hidden_states=True)
        vector = model.visual_projection(output.pooler_output)
    assert_close(run["first norm"], output.hidden_states[0][0])
    for number, hidden in enumerate(output.hidden_states[1:], 1):
        assert_close(run[f"after layer {number}"], hidden[0])
    assert_close(run["projected"], vector[0])
    places = 1 + (size // model.config.vision_config.patch_size) ** 2
    assert run["with position"].shape == (places, model.config.vision_config.hidden_size)
    assert run.attentions[0].weights(1).shape[1:] == (places, places)


def test_that_a_text_and_a_picture_keep_their_stages_apart() -> None:
    model = open_stage_model(DEMO)
    picture = scene(64, 64)
    run = model.run("a circle", picture=picture)
    text, seen = model.run("a circle"), model.run(picture=picture)
    np.testing.assert_array_equal(run["after layer 1"].values, text["after layer 1"].values)
    np.testing.assert_array_equal(run["picture after layer 1"].values, seen["after layer 1"].values)
    assert run["picture after layer 1"].of is Of.PATCHES
    assert [each.name for each in run.attentions] == ["picture self-attention", "self-attention"]
    vectors = [run[name].values for name in ("projected", "picture projected")]
    cosine = vectors[0] @ vectors[1] / math.prod(np.linalg.norm(each) for each in vectors)
    assert any(f"cosine of {cosine:.3f}" in note for note in run.notes)


@pytest.mark.parametrize("activation", ["quick_gelu", "gelu"])
def test_that_open_ais_names_come_to_what_the_encoder_gives(tmp_path: Path, activation: str) -> None:
    name = "clip-quickgelu.pt" if activation == "quick_gelu" else "clip.pt"
    path = save(open_clip(), tmp_path / name)
    run = open_stage_model(path).run("a photo of a dog", picture=scene(48, 48))
    encoder = open_encoder(path, device="cpu")
    assert encoder.preprocessing is not None
    pixels = encoder.preprocessing.prepare(scene(48, 48))[None]
    for stage, expected in (
        ("projected", encoder.encode_text(["a photo of a dog"]).vectors[0]),
        ("picture projected", encoder.encode_images(pixels)[0]),
    ):
        vector = run[stage].values
        assert vector is not None
        np.testing.assert_allclose(vector / np.linalg.norm(vector), expected, atol=1e-4)


def open_clip() -> State:
    """OpenCLIP's names over CLIP's vocabulary, one layer a tower."""
    made = Maker(21)
    made.normal("token_embedding.weight", END + 1, 64)
    made.normal("positional_embedding", 77, 64, scale=0.3)
    made.norm("ln_final", 64)
    made.normal("text_projection", 64, 32, scale=0.2)
    made.normal("visual.class_embedding", 128)
    made.normal("visual.conv1.weight", 128, 3, 16, 16, scale=0.05)
    made.normal("visual.positional_embedding", 10, 128)
    made.norm("visual.ln_pre", 128)
    made.norm("visual.ln_post", 128)
    made.normal("visual.proj", 128, 32, scale=0.2)
    for tower, dim in (("", 64), ("visual.", 128)):
        name = f"{tower}transformer.resblocks.0"
        made.norm(f"{name}.ln_1", dim)
        made.norm(f"{name}.ln_2", dim)
        made.normal(f"{name}.attn.in_proj_weight", 3 * dim, dim, scale=dim**-0.5)
        made.normal(f"{name}.attn.in_proj_bias", 3 * dim, scale=0.1)
        made.linear(f"{name}.attn.out_proj", dim, dim)
        made.linear(f"{name}.mlp.c_fc", 4 * dim, dim)
        made.linear(f"{name}.mlp.c_proj", dim, 4 * dim)
    return made.state


def test_that_stable_diffusions_text_encoder_runs_and_its_vae_is_named(tmp_path: Path) -> None:
    transformers = library()
    torch.manual_seed(6)
    config = transformers.CLIPTextConfig(
        hidden_size=768,
        num_hidden_layers=2,
        num_attention_heads=12,
        intermediate_size=256,
        vocab_size=END + 1,
    )
    model = transformers.CLIPTextModel(config).eval()
    model.save_pretrained(tmp_path / "saved")
    saved = load_file(tmp_path / "saved" / "model.safetensors")
    prefix = "cond_stage_model.transformer."
    middle = "" if any(name.startswith("text_model.") for name in saved) else "text_model."
    state = {f"{prefix}{middle}{name}": value for name, value in saved.items()}
    state["first_stage_model.encoder.conv_in.weight"] = torch.randn(4, 3, 3, 3)
    run = open_stage_model(save(state, tmp_path / "sd.ckpt")).run("a castle by the sea")
    ids = torch.from_numpy(run["ids"].values)[None]
    assert (int(ids[0, 0]), int(ids[0, -1])) == (END - 1, END)
    with torch.inference_mode():
        output = model(ids, output_hidden_states=True)
    assert_close(run["after layer 2"], output.hidden_states[2][0])
    assert_close(run["final norm"], output.last_hidden_state[0])
    assert run["looked up"].shape == (len(run.tokens), 768)
    assert any("VAE" in note for note in run.notes)


def test_that_a_tower_that_is_cut_off_is_refused_in_one_sentence(tmp_path: Path) -> None:
    state = open_clip()
    del state["visual.transformer.resblocks.0.mlp.c_proj.weight"]
    with pytest.raises(ExplorerError, match="is missing"):
        open_stage_model(save(state, tmp_path / "clip.pt"))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> tuple[State, Path]:
    """A CLIP trained from scratch, its names and shapes as they are, but for two layers of DistilBERT."""
    made = Maker(22)
    resnet_50(made, "image_encoder.model")
    transformers = library()
    torch.manual_seed(7)
    config = transformers.DistilBertConfig(n_layers=2)
    text = transformers.DistilBertModel(config).state_dict()
    made.state |= {f"text_encoder.model.{name}": value for name, value in text.items()}
    for head, inner in (("image_projection", 2048), ("text_projection", 768)):
        made.linear(f"{head}.projection", 256, inner)
        made.linear(f"{head}.fc", 256, 256)
        made.norm(f"{head}.layer_norm", 256)
    return made.state, save(made.state, tmp_path_factory.mktemp("scratch") / "best.pt")


def resnet_50(made: Maker, prefix: str) -> None:
    def convolution(name: str, outputs: int, inputs: int, side: int) -> None:
        made.normal(
            f"{prefix}.{name}.weight", outputs, inputs, side, side, scale=(inputs * side * side) ** -0.5
        )

    def batch_norm(name: str, width: int) -> None:
        made.norm(f"{prefix}.{name}", width)
        made.normal(f"{prefix}.{name}.running_mean", width, scale=0.1)
        made.state[f"{prefix}.{name}.running_var"] = torch.full((width,), 0.5)

    convolution("conv1", 64, 3, 7)
    batch_norm("bn1", 64)
    channels = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for number in range(count):
            name = f"layer{stage + 1}.{number}"
            for place, (outputs, inputs, side) in enumerate(
                ((width, channels, 1), (width, width, 3), (4 * width, width, 1)), 1
            ):
                convolution(f"{name}.conv{place}", outputs, inputs, side)
                batch_norm(f"{name}.bn{place}", outputs)
            if number == 0:
                convolution(f"{name}.downsample.0", 4 * width, channels, 1)
                batch_norm(f"{name}.downsample.1", 4 * width)
            channels = 4 * width


def test_that_the_clip_from_scratch_runs_as_transformers_and_its_encoder_do(
    scratch: tuple[State, Path],
) -> None:
    state, path = scratch
    opened = open_stage_model(path)
    ids = [101, 1037, 3899, 102]
    run = opened.run(ids=ids, picture=scene(224, 224))
    transformers = library()
    model = transformers.DistilBertModel(transformers.DistilBertConfig(n_layers=2)).eval()
    prefix = "text_encoder.model."
    model.load_state_dict({n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)})
    with torch.inference_mode():
        output = model(torch.tensor([ids]), output_hidden_states=True)
    assert_close(run["after layer 2"], output.last_hidden_state[0])
    assert_close(run["pooled"], output.last_hidden_state[0, 0])
    assert_close(run["projected"], head_of(state, "text_projection", output.last_hidden_state[0, 0]))
    assert run["picture encoder output"].shape == (49, 2048)
    pooled = run["picture encoder output"].values.mean(0)
    np.testing.assert_allclose(run["picture pooled"].values, pooled, rtol=1e-5)
    encoder = open_encoder(path, device="cpu")
    assert encoder.preprocessing is not None
    expected = encoder.encode_images(encoder.preprocessing.prepare(scene(224, 224))[None])[0]
    vector = run["picture projected"].values
    np.testing.assert_allclose(vector / np.linalg.norm(vector), expected, atol=1e-4)


def head_of(state: State, name: str, x: torch.Tensor) -> torch.Tensor:
    projected = state[f"{name}.projection.weight"] @ x + state[f"{name}.projection.bias"]
    hidden = torch.nn.functional.gelu(projected)
    y = state[f"{name}.fc.weight"] @ hidden + state[f"{name}.fc.bias"] + projected
    scale, shift = state[f"{name}.layer_norm.weight"], state[f"{name}.layer_norm.bias"]
    return (y - y.mean()) / (y.var(correction=0) + 1e-5).sqrt() * scale + shift
