"""A CLIP's tensors under Hugging Face's names, whoever saved them, whole or one tower alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from explorer.compute.encoders import openai_layout as layout
from explorer.compute.encoders.hugging_face import read_preprocessing
from explorer.compute.encoders.open_clip import recipe_of
from explorer.compute.encoders.preprocessing import Preprocessing, from_open_clip
from explorer.compute.encoders.stable_diffusion import family_of
from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.base import Opening
from explorer.core.errors import ExplorerError
from explorer.readers.hf_config import read_json
from explorer.readers.tensors import Tensor, from_array


@dataclass(frozen=True, eq=False)
class Named:
    """A CLIP's tensors under Hugging Face's names, and what they do not say.

    Attributes
    ----------
    name : str
        What it is, in words.
    text, vision : Weights or None
        Of each tower, without what stands before ``embeddings.``.
    text_config, vision_config : mapping
        Values of Hugging Face's configuration.
    text_projection, vision_projection : tensor or None
        Shape (shared dim, dim).
    preprocessing : Preprocessing or None
    notes : tuple of str
    """

    name: str
    text: Weights | None
    vision: Weights | None
    text_config: Mapping[str, Any]
    vision_config: Mapping[str, Any]
    text_projection: torch.Tensor | None = None
    vision_projection: torch.Tensor | None = None
    preprocessing: Preprocessing | None = None
    notes: tuple[str, ...] = ()


def layout_of(weights: Weights) -> str | None:
    """Whose names these are: ``"hf"``, ``"openai"`` or ``"sd"``."""
    if weights.has("text_model.encoder.layers.0.") or weights.has("vision_model.encoder.layers.0."):
        clip = weights.has("vision_model.pre_layrnorm.") or weights.has("text_model.final_layer_norm.")
        siglip = weights.has("vision_model.head.") or weights.has("text_model.head.")
        return "hf" if clip and not siglip else None
    if weights.has("visual.transformer.resblocks.0.") and weights.has("visual.ln_pre."):
        return "openai"
    return "sd" if family_of(weights) is not None else None


def named_of(opening: Opening) -> Named:
    """A CLIP's tensors under one set of names, whoever saved them.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    weights = opening.weights
    match layout_of(weights):
        case "hf":
            return _of_hugging_face(opening)
        case "openai":
            return _of_open_ai(opening)
    family = family_of(weights)
    assert family is not None
    part = family.parts[0]
    inner = weights.under(part.prefix)
    text = _under_state(inner, layout.text_state(inner)) if part.open_clip else inner.under("text_model.")
    width = text.shape("embeddings.token_embedding.weight")[1]
    notes = [f"The first text encoder of {family.name} ({part.name}), all of its layers."]
    if len(family.parts) > 1:
        notes.append(f"The file's other text encoder, {family.parts[1].name}, is not shown here.")
    config = {"hidden_act": "quick_gelu" if width == 768 else "gelu"}
    return Named(f"{family.name} text encoder", text, None, config, {}, notes=tuple(notes))


def _of_hugging_face(opening: Opening) -> Named:
    weights = opening.weights
    config = read_json(opening.folder / "config.json")
    config = config if isinstance(config, dict) else {}
    text, vision = (weights.under(f"{half}_model.") for half in ("text", "vision"))
    heads = {half: _inner(config, f"{half}_config") for half in ("text", "vision")}
    notes: tuple[str, ...] = ()
    if not config:
        notes = ("No configuration lies beside the file: QuickGELU is assumed, as in OpenAI's models.",)
    projections = {
        half: weights.read(f"{name}_projection.weight") if f"{name}_projection.weight" in weights else None
        for half, name in (("text", "text"), ("vision", "visual"))
    }
    return Named(
        "CLIP",
        text if text.tensors else None,
        vision if vision.tensors else None,
        heads["text"],
        heads["vision"],
        projections["text"],
        projections["vision"],
        read_preprocessing(opening.folder, _default(vision, heads["vision"])) if vision.tensors else None,
        notes,
    )


def _inner(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = config.get(name, config)
    return inner if isinstance(inner, Mapping) else {}


def _default(vision: Weights, config: Mapping[str, Any]) -> Preprocessing:
    size, told = _size(vision), config.get("image_size")
    side = vision.shape("embeddings.patch_embedding.weight")[-1]
    # The last pixels are not seen where patches do not fill the picture.
    return Preprocessing(
        (told, told) if isinstance(told, int) and told // side * side == size else (size, size)
    )


def _of_open_ai(opening: Opening) -> Named:
    weights, path = opening.weights, opening.path
    config = read_json(opening.folder / "open_clip_config.json")
    recipe = recipe_of(weights, config, f"{path.parent.name}/{path.name}")
    halves = weights.under("text.") if weights.has("text.token_embedding") else weights
    visual = weights.under("visual.")
    text = _under_state(halves, layout.text_state(halves))
    vision = _under_state(visual, layout.vision_state(visual))
    text_config = layout.text_config(
        layout.text_shape(halves), recipe.activation, heads=recipe.text.get("heads")
    )
    vision_config = layout.vision_config(
        layout.vision_shape(visual), recipe.activation, head_width=recipe.vision.get("head_width")
    )
    size = _size(vision)
    try:
        preprocessing = from_open_clip(recipe.preprocessing, (size, size))
    except (ValueError, TypeError, KeyError) as error:
        raise ExplorerError(
            f"How {path.name} prepares pictures is not understood.", detail=str(error)
        ) from error
    return Named(
        recipe.kind,
        text,
        vision,
        text_config,
        vision_config,
        layout.projection(halves, "text_projection"),
        layout.projection(visual, "proj"),
        preprocessing,
        recipe.notes,
    )


def _under_state(weights: Weights, state: Mapping[str, torch.Tensor]) -> Weights:
    """Tensors that are in memory already, as weights."""
    tensors: dict[str, Tensor] = {}
    for name, values in state.items():
        tensor = from_array(values.numpy())
        assert tensor is not None
        tensors[name] = tensor
    return Weights(weights.path, tensors)


def _size(vision: Weights) -> int:
    """Of what its patches cover of a picture, in pixels a side."""
    side = vision.shape("embeddings.patch_embedding.weight")[-1]
    places = vision.shape("embeddings.position_embedding.weight")[0]
    grid = math.isqrt(max(places - 1, 0))
    if grid * grid != places - 1 or not grid:
        raise ExplorerError(f"{vision.path.name} sees pictures that are not square: not known here.")
    return grid * side
