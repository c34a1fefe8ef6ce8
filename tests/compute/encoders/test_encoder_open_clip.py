"""OpenAI's and OpenCLIP's checkpoints against a reference in their own layout."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from encoding import TEXTS, assert_close, random_pixels
from reference_clip import Clip, QuickGELU, Text, Vision, small_clip, small_resnet_clip
from safetensors.torch import save_file
from torch import nn

from explorer.compute.encoders.base import Encoder
from explorer.compute.encoders.opening import open_encoder
from explorer.core.errors import ExplorerError


def as_open_ai(model: Clip, resolution: int) -> Clip:
    """With the three integers that OpenAI's archives hold beside the weights."""
    context = model.positional_embedding.shape[0]
    facts = {"input_resolution": resolution, "context_length": context, "vocab_size": 49_408}
    for name, value in facts.items():
        model.register_buffer(name, torch.tensor(value))
    return model


def check_against(
    model: Clip, encoder: Encoder, size: int, texts: tuple[str, ...] = TEXTS, count: int = 3
) -> None:
    """Texts and pictures through both."""
    with torch.no_grad():
        ids = torch.from_numpy(encoder.tokenizer.encode(texts).ids)
        assert_close(encoder.encode_text(texts).vectors, model.encode_text(ids))
        pixels = random_pixels(count, size)
        normalised = torch.from_numpy(encoder.preprocessing.normalise(pixels))
        assert_close(encoder.encode_images(pixels), model.visual(normalised))
        assert_close(encoder.encode_images(normalised), model.visual(normalised))


def real_vit_b_32() -> Clip:
    """The published sizes, in half precision, with values that are cheap to draw."""
    quick = QuickGELU()
    with torch.device("meta"):
        text = Text(width=512, layers=12, heads=8, dim=512, activation=quick)
        sizes = {"width": 768, "layers": 12, "heads": 12, "dim": 512, "inner": 3072}
        model = Clip(text, Vision(**sizes, activation=quick, image=224, patch=32))
    model.to_empty(device="cpu").half().requires_grad_(False).eval()
    drawn = torch.randn(1_000_003, generator=torch.Generator().manual_seed(4)).mul(0.04).half()
    for name, parameter in model.named_parameters():
        parameter.copy_(
            drawn.repeat(parameter.numel() // len(drawn) + 1)[: parameter.numel()].view_as(parameter)
        )
        if "ln_" in name and name.endswith("weight"):
            parameter.add_(1)
    model.logit_scale.fill_(4.6)
    return model


def config_of(model: Clip, *, quick: bool, head_width: int = 64) -> dict:
    text = {"context_length": 77, "vocab_size": 49408, "width": 128, "heads": 2, "layers": 3}
    vision = {"image_size": 32, "layers": 2, "width": 128, "patch_size": 8, "head_width": head_width}
    values = {"embed_dim": 32, "vision_cfg": vision, "text_cfg": text}
    if quick:
        values["quick_gelu"] = True
    return {
        "model_cfg": values,
        "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.5] * 3, "resize_mode": "squash"},
    }


def test_that_an_open_ai_archive_gives_its_models_vectors(tmp_path: Path) -> None:
    model = as_open_ai(small_clip(QuickGELU()), 32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.trace(model, torch.zeros(1, 3, 32, 32), check_trace=False)
        torch.jit.save(script, tmp_path / "ViT-T-8.pt")
    encoder = open_encoder(tmp_path / "ViT-T-8.pt", device="cpu")
    assert encoder.kind == "OpenAI CLIP"
    assert (encoder.name, encoder.dim, encoder.notes) == ("ViT-T-8", 32, ())
    assert encoder.limits.context_length == 77
    assert encoder.limits.image_size == (32, 32)
    assert encoder.similarity is not None
    assert encoder.similarity.scale == pytest.approx(100, rel=1e-3)
    check_against(model, encoder, 32)


def test_that_the_real_vit_b_32_in_half_precision_gives_its_models_vectors(tmp_path: Path) -> None:
    model = real_vit_b_32()
    torch.save(as_open_ai(model, 224).state_dict(), tmp_path / "ViT-B-32.pt")
    model.float()
    encoder = open_encoder(tmp_path / "ViT-B-32.pt", device="cpu")
    assert encoder.kind == "OpenAI CLIP"
    check_against(model, encoder, 224, TEXTS[:2], 2)


def test_that_a_residual_network_gives_its_models_vectors(tmp_path: Path) -> None:
    model = as_open_ai(small_resnet_clip(), 64)
    torch.save(model.state_dict(), tmp_path / "RN9.pt")
    encoder = open_encoder(tmp_path / "RN9.pt", device="cpu")
    assert encoder.limits.image_size == (64, 64)
    check_against(model, encoder, 64)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("kind", ["bin", "safetensors"])
def test_that_an_open_clip_folder_takes_its_activation_from_the_configuration(
    tmp_path: Path, kind: str, quick: bool
) -> None:
    model = small_clip(QuickGELU() if quick else nn.GELU())
    if kind == "bin":
        torch.save(model.state_dict(), tmp_path / "open_clip_pytorch_model.bin")
    else:
        save_file(model.state_dict(), tmp_path / "open_clip_model.safetensors")
    (tmp_path / "open_clip_config.json").write_text(json.dumps(config_of(model, quick=quick)))
    encoder = open_encoder(tmp_path, device="cpu")
    assert (encoder.kind, encoder.notes) == ("OpenCLIP", ())
    assert encoder.preprocessing.resize == "squash"
    assert encoder.preprocessing.mean == (0.5, 0.5, 0.5)
    check_against(model, encoder, 32)
    other = small_clip(nn.GELU() if quick else QuickGELU())
    with pytest.raises(AssertionError):
        check_against(other, encoder, 32)


def test_that_head_widths_come_from_the_configuration(tmp_path: Path) -> None:
    model = small_clip(nn.GELU())
    for block in model.visual.transformer.resblocks:
        block.attn = nn.MultiheadAttention(128, 4, batch_first=True)
    model.eval()
    save_file(model.state_dict(), tmp_path / "open_clip_model.safetensors")
    config = config_of(model, quick=False, head_width=32)
    (tmp_path / "open_clip_config.json").write_text(json.dumps(config))
    check_against(model, open_encoder(tmp_path / "open_clip_model.safetensors", device="cpu"), 32)


def test_that_a_text_tower_of_its_own_name_is_read(tmp_path: Path) -> None:
    model = small_clip(nn.GELU())
    state = {
        k if k.startswith(("visual.", "logit")) else f"text.{k}": v for k, v in model.state_dict().items()
    }
    torch.save({"state_dict": {f"module.{k}": v for k, v in state.items()}}, tmp_path / "epoch_3.pt")
    check_against(model, open_encoder(tmp_path / "epoch_3.pt", device="cpu"), 32)


@pytest.mark.parametrize(
    ("name", "activation", "says"),
    [
        ("laion2b_s34b_b79k.pt", nn.GELU(), "GELU is assumed"),
        ("vit_b_32-quickgelu-laion400m.pt", QuickGELU(), "QuickGELU is used"),
        ("ViT-B-32_openai.pt", QuickGELU(), "QuickGELU is assumed"),
    ],
)
def test_that_a_lone_file_says_which_activation_was_assumed(
    tmp_path: Path, name: str, activation: nn.Module, says: str
) -> None:
    model = small_clip(activation)
    torch.save(model.state_dict(), tmp_path / name)
    encoder = open_encoder(tmp_path / name, device="cpu")
    assert len(encoder.notes) == 1
    assert encoder.notes[0].startswith(says)
    check_against(model, encoder, 32)


def test_that_a_tower_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    model = small_clip(nn.GELU())
    save_file(model.state_dict(), tmp_path / "open_clip_model.safetensors")
    for half, key, value in (
        ("vision_cfg", "pool_type", "avg"),
        ("vision_cfg", "timm_model_name", "convnext_base"),
        ("text_cfg", "hf_model_name", "xlm-roberta-base"),
        ("text_cfg", "no_causal_mask", True),
    ):
        config = config_of(model, quick=False)
        config["model_cfg"][half][key] = value
        (tmp_path / "open_clip_config.json").write_text(json.dumps(config))
        with pytest.raises(ExplorerError, match=f"{key}: {value}"):
            open_encoder(tmp_path, device="cpu")


def test_that_a_tensor_that_is_missing_is_never_filled_in(tmp_path: Path) -> None:
    state = small_clip(nn.GELU()).state_dict()
    del state["visual.transformer.resblocks.1.mlp.c_fc.bias"]
    torch.save(state, tmp_path / "cut.pt")
    with pytest.raises(ExplorerError, match=r"mlp\.c_fc\.bias is missing"):
        open_encoder(tmp_path / "cut.pt", device="cpu")
    resnet = as_open_ai(small_resnet_clip(), 64).state_dict()
    resnet["visual.layer1.0.conv1.weight"] = torch.zeros(3, 3)
    torch.save(resnet, tmp_path / "bent.pt")
    with pytest.raises(ExplorerError, match=r"layer1\.0\.conv1\.weight has the shape"):
        open_encoder(tmp_path / "bent.pt", device="cpu")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_that_half_precision_keeps_directions_and_fingerprint(tmp_path: Path, dtype: str) -> None:
    torch.save(small_clip(nn.GELU()).state_dict(), tmp_path / "clip.pt")
    exact = open_encoder(tmp_path / "clip.pt", device="cpu")
    half = open_encoder(tmp_path / "clip.pt", device="cpu", dtype=dtype)
    assert half.dtype == getattr(torch, dtype)
    assert half.fingerprint == exact.fingerprint
    pixels = random_pixels(4, 32)
    both = exact.encode_images(pixels), half.encode_images(pixels)
    np.testing.assert_allclose((both[0] * both[1]).sum(1), 1, atol=5e-3)
    both_texts = exact.encode_text(TEXTS).vectors * half.encode_text(TEXTS).vectors
    np.testing.assert_allclose(both_texts.sum(1), 1, atol=5e-3)
    assert both[1].dtype == np.float32


def test_that_fingerprints_tell_models_and_activations_apart(tmp_path: Path) -> None:
    model = small_clip(nn.GELU())
    torch.save(model.state_dict(), tmp_path / "a.pt")
    save_file(model.state_dict(), tmp_path / "b.safetensors")
    torch.save(model.state_dict(), tmp_path / "a-quickgelu.pt")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.001)
    torch.save(model.state_dict(), tmp_path / "trained.pt")
    names = ("a.pt", "b.safetensors", "a-quickgelu.pt", "trained.pt")
    prints = [open_encoder(tmp_path / name, device="cpu").fingerprint for name in names]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_that_pixels_of_another_size_are_refused(tmp_path: Path) -> None:
    torch.save(small_clip(nn.GELU()).state_dict(), tmp_path / "clip.pt")
    encoder = open_encoder(tmp_path / "clip.pt", device="cpu")
    with pytest.raises(ExplorerError, match=r"\(3, 32, 32\), not \(3, 48, 48\)"):
        encoder.encode_images(random_pixels(1, 48))
    assert encoder.encode_images(random_pixels(0, 32)).shape == (0, 32)
    assert encoder.encode_text([]).vectors.shape == (0, 32)
