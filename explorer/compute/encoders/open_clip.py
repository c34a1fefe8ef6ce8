"""OpenAI's CLIP archives and OpenCLIP's checkpoints, with a vision transformer or CLIP's ResNet."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from explorer.compute.encoders import openai_layout as layout
from explorer.compute.encoders import transformer
from explorer.compute.encoders.base import Encoder, ImageTower, Similarity, TextTower
from explorer.compute.encoders.cleaning import as_open_ai
from explorer.compute.encoders.loading import load_into
from explorer.compute.encoders.placing import Place
from explorer.compute.encoders.preprocessing import Preprocessing, from_open_clip
from explorer.compute.encoders.resnet import ModifiedResNet
from explorer.compute.encoders.tokenizer_files import find_tokenizer, published_clip
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.compute.encoders.weights import Weights, is_torch_script
from explorer.core.errors import ExplorerError

# Keys of a configuration that change how a tower computes; a value that is not the usual one is refused.
_USUAL_VISION = {
    "ls_init_value": None,
    "attentional_pool": False,
    "no_ln_pre": False,
    "pos_embed_type": "learnable",
    "final_ln_after_pool": False,
    "pool_type": "tok",
    "block_type": None,
    "qk_norm": False,
    "scaled_cosine_attn": False,
    "scale_heads": False,
    "scale_attn_inner": False,
    "scale_attn": False,
    "scale_fc": False,
    "act_kwargs": None,
    "timm_model_name": None,
}
_USUAL_TEXT = {
    **{
        key: _USUAL_VISION[key]
        for key in ("ls_init_value", "block_type", "qk_norm", "act_kwargs", "scale_fc")
    },
    "embed_cls": False,
    "no_causal_mask": False,
    "pool_type": "argmax",
    "proj_type": "linear",
    "proj_bias": False,
    "hf_model_name": None,
    "hf_tokenizer_name": None,
}
_STAGE = r"layer{}\.(\d+)\."


@dataclass(frozen=True)
class Recipe:
    """What the tensors do not say.

    Attributes
    ----------
    kind : str
        "OpenAI CLIP" or "OpenCLIP".
    activation : {"quick_gelu", "gelu"}
    text, vision : mapping
        ``text_cfg`` and ``vision_cfg`` of the configuration; empty where there is none.
    preprocessing : mapping
        ``preprocess_cfg``.
    notes : tuple of str
        What was assumed.
    """

    kind: str
    activation: str
    text: Mapping[str, Any]
    vision: Mapping[str, Any]
    preprocessing: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def recipe_of(weights: Weights, config: Any, name: str) -> Recipe:
    """How a checkpoint is to be computed.

    Parameters
    ----------
    weights : Weights
    config : object
        Of ``open_clip_config.json``; anything but a mapping where there is none.
    name : str
        The file's and its folder's, which may tell the model or its training.

    Raises
    ------
    ExplorerError
        The configuration asks for something that is not built here.
    """
    if isinstance(config, Mapping):
        model = config.get("model_cfg", config)
        text, vision = model.get("text_cfg"), model.get("vision_cfg")
        if not isinstance(text, Mapping) or not isinstance(vision, Mapping):
            raise ExplorerError(f"The configuration beside {weights.path.name} describes no CLIP.")
        activation = "quick_gelu" if model.get("quick_gelu") else "gelu"
        preprocessing = config.get("preprocess_cfg")
        return Recipe(
            "OpenCLIP", activation, text, vision, preprocessing if isinstance(preprocessing, Mapping) else {}
        )
    if is_torch_script(weights.path) or {"input_resolution", "context_length"} <= set(weights):
        # Only OpenAI published archives, and only its models hold these integers.
        return Recipe("OpenAI CLIP", "quick_gelu", {}, {}, {})
    if re.search(r"quick[-_]?gelu", name, re.IGNORECASE):
        note = "QuickGELU is used, as the file's name says; no configuration lies beside it."
        return Recipe("OpenCLIP", "quick_gelu", {}, {}, {}, (note,))
    if re.search(r"openai|(^|[^a-z])dfn|metaclip", name, re.IGNORECASE):
        note = "QuickGELU is assumed, with which the models that this file is named after were trained."
        return Recipe("OpenCLIP", "quick_gelu", {}, {}, {}, (note,))
    note = (
        "GELU is assumed, OpenCLIP's own activation, since no configuration lies beside the file. If the "
        "model was trained with QuickGELU, put its open_clip_config.json beside it, or “quickgelu” into its "
        "name: with the wrong one, results are poor without a sign. Pictures are normalised as by OpenAI."
    )
    return Recipe("OpenCLIP", "gelu", {}, {}, {}, (note,))


def open_open_clip(weights: Weights, config: Any, path: Path, folder: Path, place: Place) -> Encoder:
    """An encoder from OpenAI's or OpenCLIP's names.

    Parameters
    ----------
    weights : Weights
    config : object
        Of ``open_clip_config.json``, if there is one.
    path, folder : Path
        What was opened, and where its files lie.
    place : Place

    Raises
    ------
    ExplorerError
    """
    recipe = recipe_of(weights, config, f"{path.parent.name}/{path.name}")
    _refuse_unusual(recipe.vision, _USUAL_VISION, "vision", path.name)
    _refuse_unusual(recipe.text, _USUAL_TEXT, "text", path.name)
    text_weights = weights.under("text.") if weights.has("text.token_embedding") else weights
    text, dim, tokenizer = _text(text_weights, recipe, folder, place)
    image, size = _image(weights.under("visual."), recipe, dim, place)
    preprocessing = _preprocessing(recipe, size, path.name)
    similarity = None
    if "logit_scale" in weights:
        similarity = Similarity("softmax", float(weights.read("logit_scale").reshape(()).exp()))
    return place.encoder(
        kind=recipe.kind,
        path=path,
        dim=dim,
        fingerprint=weights.fingerprint(
            activation=recipe.activation,
            heads=recipe.text.get("heads"),
            head_width=recipe.vision.get("head_width"),
        ),
        text=TextTower(tokenizer, text),
        image=ImageTower(preprocessing, image),
        notes=recipe.notes,
        similarity=similarity,
    )


def _text(
    weights: Weights, recipe: Recipe, folder: Path, place: Place
) -> tuple[Callable[[torch.Tensor, torch.Tensor], torch.Tensor], int, TextTokenizer]:
    shape = layout.text_shape(weights)
    values = layout.text_config(
        shape, recipe.activation, heads=recipe.text.get("heads"), eps=_eps(recipe.text)
    )
    head = layout.projection(weights, "text_projection")
    if head is None:
        raise ExplorerError(f"{weights.path.name} has no text projection: its two halves share no space.")
    config = transformer.configuration("CLIPTextConfig", {**values, "projection_dim": head.shape[0]})
    state = layout.prefixed("text_model.", layout.text_state(weights)) | {"text_projection.weight": head}
    model = place.put(transformer.build("CLIPTextModelWithProjection", config, state, weights))
    tokenizer = _tokenizer(folder, shape, recipe)

    def text(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return model(input_ids=ids).text_embeds  # type: ignore[no-any-return]

    return text, head.shape[0], tokenizer


def _tokenizer(folder: Path, shape: layout.TextShape, recipe: Recipe) -> TextTokenizer:
    found = published_clip()
    if shape.vocabulary != found.size:
        beside = find_tokenizer([folder])
        if beside is None or beside.size != shape.vocabulary:
            raise ExplorerError(
                f"The text encoder has {shape.vocabulary:,} tokens, CLIP's vocabulary {found.size:,}.",
                "Put the model's own tokenizer.json beside it.",
            )
        found = beside
    return TextTokenizer(found.tokenizer, shape.context, 0, clean=as_open_ai, source=found.source)


def _image(
    weights: Weights, recipe: Recipe, dim: int, place: Place
) -> tuple[Callable[[torch.Tensor], torch.Tensor], int]:
    if weights.has("attnpool."):
        return _residual(weights, recipe, dim, place)
    if "class_embedding" not in weights:
        kind = "trunk" if weights.has("trunk.") else "tower"
        raise ExplorerError(
            f"The vision {kind} in {weights.path.name} is of no kind that is built here.",
            "Known are CLIP's transformers and ResNets, and SigLIP's beside their configuration.",
        )
    shape = layout.vision_shape(weights)
    head = layout.projection(weights, "proj")
    if head is None or head.shape[0] != dim:
        raise ExplorerError(f"{weights.path.name} has no image projection into the texts' space.")
    values = layout.vision_config(
        shape, recipe.activation, head_width=recipe.vision.get("head_width"), eps=_eps(recipe.vision)
    )
    config = transformer.configuration("CLIPVisionConfig", {**values, "projection_dim": dim})
    state = layout.prefixed("vision_model.", layout.vision_state(weights)) | {
        "visual_projection.weight": head
    }
    model = place.put(transformer.build("CLIPVisionModelWithProjection", config, state, weights))

    def image(pixels: torch.Tensor) -> torch.Tensor:
        return model(pixel_values=pixels).image_embeds  # type: ignore[no-any-return]

    return image, shape.image


def _residual(weights: Weights, recipe: Recipe, dim: int, place: Place) -> tuple[ModifiedResNet, int]:
    places, channels = weights.shape("attnpool.positional_embedding")
    side = round((places - 1) ** 0.5)
    width = weights.shape("conv3.weight")[0]
    layers = [weights.count(_STAGE.format(stage)) for stage in (1, 2, 3, 4)]
    heads = channels // int(recipe.vision.get("head_width") or 64)
    with torch.device("meta"):
        network = ModifiedResNet(layers, width, side, heads, dim)
    return place.put(load_into(network, weights)), side * 32


def _preprocessing(recipe: Recipe, size: int, name: str) -> Preprocessing:
    try:
        found = from_open_clip(recipe.preprocessing, (size, size))
    except (ValueError, TypeError, KeyError) as error:
        raise ExplorerError(f"How {name} prepares pictures is not understood.", detail=str(error)) from error
    if found.size != (size, size):
        raise ExplorerError(
            f"The configuration of {name} prepares pictures of {found.size} pixels; its model sees {size}."
        )
    return found


def _eps(config: Mapping[str, Any]) -> float:
    """The norms' epsilon."""
    values = config.get("norm_kwargs")
    return float(values.get("eps", 1e-5)) if isinstance(values, Mapping) else 1e-5


def _refuse_unusual(config: Mapping[str, Any], usual: Mapping[str, Any], half: str, name: str) -> None:
    for key, value in usual.items():
        found = config.get(key, value)
        if found != value and (found or value):
            raise ExplorerError(
                f"{name} has a {half} tower of a kind that is not built here ({key}: {found}).",
                "Known are CLIP's transformers and ResNets, and SigLIP's transformers.",
            )
