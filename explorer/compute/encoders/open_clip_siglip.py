"""OpenCLIP's SigLIP checkpoints: timm's vision transformer under ``visual.trunk.``, texts under ``text.``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from explorer.compute.encoders import openai_layout as layout
from explorer.compute.encoders import transformer
from explorer.compute.encoders.base import Encoder
from explorer.compute.encoders.cleaning import canonical_open_clip
from explorer.compute.encoders.hugging_face import check_size, siglip_encoder
from explorer.compute.encoders.placing import Place
from explorer.compute.encoders.preprocessing import from_open_clip
from explorer.compute.encoders.tokenizer_files import find_tokenizer
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.compute.encoders.weights import Weights
from explorer.core.errors import ExplorerError

# timm's models that were trained with GELU's tanh form; the others have the exact one.
_TANH = re.compile(r"vit_(base_patch32_siglip_256|large_patch16_siglip_512|so400m_patch16_\w+|giantopt_\w+)")
_HEADS = {1152: 16, 1536: 16}  # by width, where they are not 64 wide
_BLOCKS = r"blocks\.(\d+)\."


def is_siglip(weights: Weights, config: Any) -> bool:
    """Whether a checkpoint of OpenCLIP is a SigLIP."""
    return isinstance(config, Mapping) and "visual.trunk.attn_pool.latent" in weights


def open_siglip(
    weights: Weights, config: Mapping[str, Any], path: Path, folder: Path, place: Place
) -> Encoder:
    """An encoder from OpenCLIP's SigLIP layout.

    Raises
    ------
    ExplorerError
        Tensors are missing, or the configuration is of another kind.
    """
    model = config.get("model_cfg", config)
    text, vision = model.get("text_cfg"), model.get("vision_cfg")
    if not isinstance(text, Mapping) or not isinstance(vision, Mapping):
        raise ExplorerError(f"The configuration beside {path.name} describes no SigLIP.")
    if not text.get("no_causal_mask") or text.get("pool_type") != "last" or text.get("hf_model_name"):
        raise ExplorerError(f"The text tower of {path.name} is of a kind that is not built here.")
    trunk, words = weights.under("visual.trunk."), weights.under("text.")
    name = str(vision.get("timm_model_name") or "")
    values = {"text_config": _text_values(words, text), "vision_config": _vision_values(trunk, name)}
    state = layout.prefixed("text_model.", _text_state(words))
    state |= layout.prefixed("vision_model.", _vision_state(trunk))
    state |= {key: weights.read(key).reshape(1) for key in ("logit_scale", "logit_bias") if key in weights}
    side = values["vision_config"]["image_size"]
    given = config.get("preprocess_cfg")
    try:
        preprocessing = from_open_clip(given if isinstance(given, Mapping) else {}, (side, side))
    except (ValueError, TypeError, KeyError) as error:
        raise ExplorerError(
            f"How {path.name} prepares pictures is not understood.", detail=str(error)
        ) from error
    tokenizer, notes = _tokenizer(folder, values["text_config"], text)
    return siglip_encoder(
        transformer.configuration("SiglipConfig", values),
        state,
        weights,
        place,
        path,
        tokenizer,
        preprocessing,
        weights.fingerprint(kind="SigLIP", config=values),
        notes,
        kind="OpenCLIP SigLIP",
    )


def _text_values(weights: Weights, config: Mapping[str, Any]) -> dict[str, Any]:
    arguments = config.get("act_kwargs")
    tanh = isinstance(arguments, Mapping) and arguments.get("approximate") == "tanh"
    norm = config.get("norm_kwargs")
    eps = float(norm.get("eps", 1e-5)) if isinstance(norm, Mapping) else 1e-5
    shape = layout.text_shape(weights)
    values = layout.text_config(
        shape, "gelu_pytorch_tanh" if tanh else "gelu", heads=config.get("heads"), eps=eps
    )
    head = layout.projection(weights, "text_projection")
    if head is None:
        raise ExplorerError(f"{weights.path.name} has no text projection.")
    return {**values, "projection_size": head.shape[0], "pad_token_id": int(config.get("pad_id") or 0)}


def _vision_values(weights: Weights, name: str) -> dict[str, Any]:
    width, _, patch, _ = _four(weights, "patch_embed.proj.weight")
    positions = weights.shape("pos_embed")[-2]
    return {
        "hidden_size": width,
        "intermediate_size": weights.shape("blocks.0.mlp.fc1.weight")[0],
        "num_hidden_layers": weights.count(_BLOCKS),
        "num_attention_heads": _HEADS.get(width, max(1, width // 64)),
        "image_size": math.isqrt(positions) * patch,
        "patch_size": patch,
        "hidden_act": "gelu_pytorch_tanh" if _TANH.match(name) else "gelu",
        "layer_norm_eps": 1e-6,
    }


def _text_state(weights: Weights) -> layout.State:
    state = layout.text_state(weights)
    head = layout.projection(weights, "text_projection")
    if head is not None:
        state["head.weight"] = head
    if "text_projection.bias" in weights:
        state["head.bias"] = weights.read("text_projection.bias")
    return state


def _vision_state(weights: Weights) -> layout.State:
    state = {
        "embeddings.patch_embedding.weight": weights.read("patch_embed.proj.weight"),
        "embeddings.patch_embedding.bias": weights.read("patch_embed.proj.bias"),
        "embeddings.position_embedding.weight": weights.read("pos_embed").flatten(0, -2),
        **_pair(weights, "norm", "post_layernorm"),
    }
    for i in range(weights.count(_BLOCKS)):
        block, target = weights.under(f"blocks.{i}."), f"encoder.layers.{i}."
        state |= _pair(block, "norm1", f"{target}layer_norm1") | _pair(block, "norm2", f"{target}layer_norm2")
        state |= _pair(block, "mlp.fc1", f"{target}mlp.fc1") | _pair(block, "mlp.fc2", f"{target}mlp.fc2")
        state |= _pair(block, "attn.proj", f"{target}self_attn.out_proj")
        state |= layout.split_projections(
            f"{target}self_attn", block.read("attn.qkv.weight"), block.read("attn.qkv.bias")
        )
    return state | _pooling_state(weights.under("attn_pool."))


def _pooling_state(weights: Weights) -> layout.State:
    """Pooling by a learned query: timm keeps it apart from keys and values, torch has all three in one."""
    state = {
        "head.probe": weights.read("latent"),
        "head.attention.in_proj_weight": torch.cat([weights.read("q.weight"), weights.read("kv.weight")]),
        "head.attention.in_proj_bias": torch.cat([weights.read("q.bias"), weights.read("kv.bias")]),
    }
    state |= _pair(weights, "proj", "head.attention.out_proj") | _pair(weights, "norm", "head.layernorm")
    return state | _pair(weights, "mlp.fc1", "head.mlp.fc1") | _pair(weights, "mlp.fc2", "head.mlp.fc2")


def _tokenizer(
    folder: Path, config: Mapping[str, Any], text: Mapping[str, Any]
) -> tuple[TextTokenizer | None, tuple[str, ...]]:
    found = find_tokenizer([folder])
    if found is None:
        return None, ("There is no tokenizer.json in the folder, so it encodes no text.",)
    check_size(found, config["vocab_size"])
    pad = found.id_of("pad_token")
    tokenizer = TextTokenizer(
        found.tokenizer,
        config["max_position_embeddings"],
        config["pad_token_id"] if pad is None else pad,
        fill=True,
        clean=canonical_open_clip,
        source=found.source,
    )
    return tokenizer, ()


def _pair(weights: Weights, name: str, ours: str) -> layout.State:
    return {f"{ours}.{part}": weights.read(f"{name}.{part}") for part in ("weight", "bias")}


def _four(weights: Weights, name: str) -> tuple[int, int, int, int]:
    shape = weights.shape(name)
    if len(shape) != 4:
        raise ExplorerError(f"{name} in {weights.path.name} is no convolution: it has the shape {shape}.")
    return shape[0], shape[1], shape[2], shape[3]
