"""What is no encoder is named for what it is."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_models
import pytest
import torch
from reference_clip import small_clip
from safetensors.torch import save_file

from explorer.compute.encoders.opening import open_encoder
from explorer.core.errors import ExplorerError

VAE = {
    "encoder.conv_in.weight": (8, 3, 3, 3),
    "decoder.conv_in.weight": (8, 4, 3, 3),
    "quant_conv.weight": (8, 8),
}


def save(path: Path, names: dict[str, tuple[int, ...]], prefix: str = "") -> Path:
    save_file({f"{prefix}{name}": torch.zeros(shape) for name, shape in names.items()}, path)
    return path


@pytest.mark.parametrize("prefix", ["", "first_stage_model."])
def test_that_a_vae_is_named_and_not_offered(tmp_path: Path, prefix: str) -> None:
    path = save(tmp_path / "vae.safetensors", VAE, prefix)
    with pytest.raises(ExplorerError, match=r"vae\.safetensors is a VAE, the part of a diffusion model"):
        open_encoder(path)


def test_that_a_vaes_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"_class_name": "AutoencoderKL"}')
    save(tmp_path / "diffusion_pytorch_model.safetensors", VAE)
    with pytest.raises(ExplorerError, match="is a VAE"):
        open_encoder(tmp_path)


def test_that_a_denoiser_without_text_encoder_is_named(tmp_path: Path) -> None:
    names = {
        "model.diffusion_model.input_blocks.0.0.weight": (4, 4, 3, 3),
        "first_stage_model.encoder.conv_in.weight": (4, 3, 3, 3),
    }
    with pytest.raises(ExplorerError, match="denoiser and a VAE, but no text encoder"):
        open_encoder(save(tmp_path / "unet.safetensors", names))


def test_that_a_textual_inversion_is_named(tmp_path: Path) -> None:
    path = save(tmp_path / "style.safetensors", {"emb_params": (2, 768)})
    with pytest.raises(ExplorerError, match="textual inversion"):
        open_encoder(path)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"model_type": "llama"}, "of the kind llama"),
        ({"model_type": "siglip2"}, "of the kind siglip2"),
        ({"_class_name": "UNet2DConditionModel"}, "of the kind UNet2DConditionModel"),
    ],
)
def test_that_a_folder_of_another_model_is_named(tmp_path: Path, config: dict, says: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ExplorerError, match=says):
        open_encoder(tmp_path)


def test_that_files_of_no_kind_are_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "pointer.pt").write_text("version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "nothing.pt").write_bytes(b"")
    torch.save(torch.nn.Linear(2, 3).state_dict(), tmp_path / "linear.pt")
    torch.save({"step": 3}, tmp_path / "step.pt")
    for name, says in (
        ("empty", "holds no encoder"),
        ("missing", "There is no file or folder"),
        ("notes.txt", "is no model that can encode"),
        ("pointer.pt", "Git LFS pointer"),
        ("nothing.pt", "is empty"),
        ("linear.pt", "holds no encoder that is known here"),
        ("step.pt", "holds no encoder that is known here"),
    ):
        with pytest.raises(ExplorerError, match=says):
            open_encoder(tmp_path / name, device="cpu")


def test_that_the_one_model_in_a_folder_is_meant(tmp_path: Path) -> None:
    save(tmp_path / "vae.safetensors", VAE)
    with pytest.raises(ExplorerError, match="is a VAE"):
        open_encoder(tmp_path)
    save(tmp_path / "other.safetensors", VAE)
    with pytest.raises(ExplorerError, match=r"2 models: other\.safetensors, vae\.safetensors"):
        open_encoder(tmp_path)


def test_that_an_unknown_device_or_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match='no device "tpu"'):
        open_encoder(tmp_path, device="tpu")
    with pytest.raises(ExplorerError, match='no type "int4"'):
        open_encoder(tmp_path, device="cpu", dtype="int4")


NONSENSE = (None, "x", -1, 0, [], {}, 10**9, 2.5, True, [1, 2], {"a": 1})


def places(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a nested configuration, with those that lead to it."""
    for key, value in values.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from places(value, (*path, key))


def spoilt(values: dict[str, Any], path: tuple[str, ...], nonsense: Any) -> str:
    copy = json.loads(json.dumps(values))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = nonsense
    return json.dumps(copy)


@pytest.mark.parametrize("kind", ["clip", "open_clip"])
def test_that_nonsense_in_a_configuration_is_refused_in_a_sentence(tmp_path: Path, kind: str) -> None:
    """It opens, where the value plays no part, or says what is wrong; it never ends in another error."""
    if kind == "clip":
        made_models.save_clip(tmp_path)
        files = ["config.json", "preprocessor_config.json"]
    else:
        model = small_clip(torch.nn.GELU(), width=64)
        save_file(model.state_dict(), tmp_path / "open_clip_model.safetensors")
        vision = {"image_size": 32, "layers": 2, "width": 64, "patch_size": 8, "head_width": 64}
        text = {"context_length": 77, "width": 64, "heads": 1, "norm_kwargs": {"eps": 1e-5}}
        config = {
            "model_cfg": {"embed_dim": 32, "vision_cfg": vision, "text_cfg": text, "quick_gelu": False},
            "preprocess_cfg": {"size": 32, "mean": [0.5] * 3, "std": [0.5] * 3, "resize_mode": "squash"},
        }
        files = ["open_clip_config.json"]
        (tmp_path / files[0]).write_text(json.dumps(config))
    chosen, refused = random.Random(5), 0
    for name in files:
        sound = (tmp_path / name).read_text()
        values = json.loads(sound)
        for path in chosen.sample(list(places(values)), 12):
            (tmp_path / name).write_text(spoilt(values, path, chosen.choice(NONSENSE)))
            try:
                open_encoder(tmp_path, device="cpu")
            except ExplorerError:
                refused += 1
        (tmp_path / name).write_text(sound)
    assert refused > 2
    assert open_encoder(tmp_path, device="cpu").has_images
