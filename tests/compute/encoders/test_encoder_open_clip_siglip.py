"""OpenCLIP's SigLIP layout against a reference in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from encoding import assert_close, random_pixels
from reference_clip import Text
from reference_siglip import Trunk
from safetensors.torch import save_file
from torch import nn
from unigram import save_unigram

from explorer.compute.encoders.opening import open_encoder
from explorer.core.errors import ExplorerError

TEXTS = ("A photo, of a CAT!", "a dog", "", "cat " * 40)


def make(folder: Path, *, timm: str, tanh: bool) -> tuple[Text, Trunk, dict]:
    torch.manual_seed(9)
    text = Text(
        width=64,
        layers=2,
        heads=4,
        dim=64,
        activation=nn.GELU("tanh" if tanh else "none"),
        vocabulary=80,
        context=16,
        causal=False,
        linear=True,
        eps=1e-6,
    )
    trunk = Trunk(width=64, heads=1, layers=2, image=32, patch=8, tanh=tanh)
    state = {f"text.{k}": v for k, v in text.state_dict().items()}
    state |= {f"visual.trunk.{k}": v for k, v in trunk.state_dict().items()}
    state |= {"logit_scale": torch.tensor([4.7]), "logit_bias": torch.tensor([-12.0])}
    save_file(state, folder / "open_clip_model.safetensors")
    words = {"context_length": 16, "vocab_size": 80, "width": 64, "heads": 4, "layers": 2}
    words |= {"no_causal_mask": True, "proj_bias": True, "pool_type": "last", "norm_kwargs": {"eps": 1e-6}}
    if tanh:
        words["act_kwargs"] = {"approximate": "tanh"}
    vision = {"image_size": 32, "timm_model_name": timm, "timm_pool": "map", "timm_proj": "none"}
    config = {
        "model_cfg": {"embed_dim": 64, "custom_text": True, "vision_cfg": vision, "text_cfg": words},
        "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.5] * 3, "resize_mode": "squash"},
    }
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    save_unigram(folder)
    return text.eval(), trunk.eval(), config


@pytest.mark.parametrize(
    ("timm", "tanh"), [("vit_base_patch16_siglip_224", False), ("vit_so400m_patch16_siglip_256", True)]
)
def test_that_an_open_clip_siglip_gives_its_models_vectors(tmp_path: Path, timm: str, tanh: bool) -> None:
    text, trunk, _ = make(tmp_path, timm=timm, tanh=tanh)
    encoder = open_encoder(tmp_path, device="cpu")
    assert (encoder.kind, encoder.dim) == ("OpenCLIP SigLIP", 64)
    assert encoder.similarity.kind == "sigmoid"
    assert encoder.similarity.bias == pytest.approx(-12)
    tokens = encoder.tokenizer.encode(TEXTS)
    assert tokens.pieces[1] == ("▁a", "▁dog", "</s>")
    assert tokens.ids.shape == (4, 16)
    pixels = random_pixels(3, 32)
    normalised = torch.from_numpy(encoder.preprocessing.normalise(pixels))
    with torch.no_grad():
        assert_close(encoder.encode_text(TEXTS).vectors, text(torch.from_numpy(tokens.ids)))
        assert_close(encoder.encode_images(pixels), trunk(normalised))


def test_that_another_text_tower_is_refused(tmp_path: Path) -> None:
    _, _, config = make(tmp_path, timm="vit_base_patch16_siglip_224", tanh=False)
    config["model_cfg"]["text_cfg"]["pool_type"] = "argmax"
    (tmp_path / "open_clip_config.json").write_text(json.dumps(config))
    with pytest.raises(ExplorerError, match="text tower"):
        open_encoder(tmp_path, device="cpu")
