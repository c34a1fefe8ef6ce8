"""Vision Transformers (Dosovitskiy et al., 2021): patches and a class token through pre-norm layers.

Three sets of names are known: that of a small model written from scratch (a linear layer for each head, tanh
GELU, no final norm), that of ``transformers`` and that of timm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from explorer.compute.encoders.preprocessing import HALF, Preprocessing, from_hugging_face
from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import activation_of, gelu_tanh
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import Linear, Norm, read_linear, read_norm, read_shaped, thirds_of
from explorer.compute.stages.picture import see
from explorer.compute.stages.prenorm import PreNormLayer, run_layers
from explorer.core.errors import ExplorerError
from explorer.core.stages import Heads, Needs, Of
from explorer.readers.hf_config import read_json

_PREFIXES = ("vit.", "deit.", "")
_HEAD = 64  # usual width of a head
_BOOK_PATCHES = "embedding.patch_embeddings.projection"
_HF_PATCHES = "embeddings.patch_embeddings.projection"
_TIMM_PATCHES = "patch_embed.proj"


@dataclass(frozen=True, eq=False)
class Vit:
    """A model's parts.

    Attributes
    ----------
    patches : Linear
        From a patch's values (channels, rows, columns) to dim.
    side : int
        A patch's side in pixels.
    class_token : tensor, shape (1, dim), or None
    places : tensor, shape (n, dim)
    layers : tuple of PreNormLayer
    last : Norm or None
    classifier : Linear or None
    """

    patches: Linear
    side: int
    class_token: torch.Tensor | None
    places: torch.Tensor
    layers: tuple[PreNormLayer, ...]
    last: Norm | None
    classifier: Linear | None

    @property
    def size(self) -> int:
        """Of the pictures that it sees, in pixels a side."""
        return math.isqrt(len(self.places) - (self.class_token is not None)) * self.side


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _reader_of(weights) is not None


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    found = _reader_of(opening.weights)
    assert found is not None
    read, weights = found
    config = read_json(opening.folder / "config.json")
    vit, heads = read(weights, opening.heads, config if isinstance(config, dict) else {})
    grid = math.isqrt(len(vit.places) - (vit.class_token is not None))
    if grid * grid != len(vit.places) - (vit.class_token is not None):
        raise ExplorerError(f"{opening.path.name} sees pictures that are not square: not known here.")
    preprocessing, how = _preprocessing(opening, vit.size)

    def compute(given: Input) -> Computed:
        assert given.picture is not None
        seen = see(given.picture, preprocessing, vit.side, class_token=vit.class_token is not None)
        x = cut(seen.pixels, vit.patches, vit.side)
        first = int(vit.class_token is not None)
        stages = [stage("patches projected", x, "a linear layer on each patch", Of.PATCHES, first)]
        if vit.class_token is not None:
            x = torch.cat([vit.class_token, x])
        x = x + vit.places
        stages.append(stage("with position", x, "+ the learned position, class token first", Of.PATCHES))
        x, after, looked = run_layers(x, vit.layers, of=Of.PATCHES)
        stages += after
        if vit.last is not None:
            x = vit.last(x)
            stages.append(stage("final norm", x, "LayerNorm after the last layer", Of.PATCHES))
        pooled = x[0] if first else x.mean(0)
        stages.append(stage("pooled", pooled, "the class token" if first else "the mean over all patches"))
        said = (how, *(() if vit.classifier is None else (_guess(vit.classifier(pooled)),)))
        return Computed(
            tuple(stages),
            (attention(looked, queries=Of.PATCHES, keys=Of.PATCHES),),
            seen.patches,
            said,
        )

    return StageModel("ViT", opening.path, Needs.PICTURE, compute, heads=heads)


def cut(pixels: torch.Tensor, patches: Linear, side: int) -> torch.Tensor:
    """Non-overlapping square patches, each through a linear layer, read row by row.

    Parameters
    ----------
    pixels : tensor, shape (1, channels, height, width)
    patches : Linear
        On a patch's values in the order channels, rows, columns.
    side : int

    Returns
    -------
    tensor, shape (patches, dim)
    """
    return patches(functional.unfold(pixels, side, stride=side)[0].T)


def _guess(scores: torch.Tensor) -> str:
    chance = scores.softmax(-1)
    best = int(chance.argmax())
    return (
        f"The classifier, which is an output layer, takes it for class {best} of {len(scores):,} "
        f"(probability {float(chance[best]):.2f})."
    )


def _preprocessing(opening: Opening, size: int) -> tuple[Preprocessing, str]:
    default = Preprocessing((size, size), "shortest", "bilinear", HALF, HALF)
    values: Any = read_json(opening.folder / "preprocessor_config.json")
    if isinstance(values, dict):
        try:
            found = from_hugging_face(values, default)
        except (ValueError, KeyError, TypeError):
            found = default
        if found.size == (size, size):
            return found, f"The picture is brought to {size} × {size} pixels as its folder says."
    return default, (
        f"The picture's middle is brought to {size} × {size} pixels, and its values to between −1 and 1."
    )


def _reader_of(weights: Weights) -> tuple[Any, Weights] | None:
    if {f"{_BOOK_PATCHES}.weight", "encoder.blocks.0.attention.heads.0.query.weight"} <= set(weights):
        return _read_own, weights
    for prefix in _PREFIXES:
        own = weights.under(prefix)
        if {f"{_HF_PATCHES}.weight", "encoder.layer.0.attention.attention.query.weight"} <= set(own):
            return _read_hugging_face, Weights(
                own.path,
                {
                    **own.tensors,
                    **{
                        name: weights.tensors[name]
                        for name in ("classifier.weight", "classifier.bias")
                        if name in weights
                    },
                },
                own.unreadable,
            )
    if {f"{_TIMM_PATCHES}.weight", "pos_embed", "blocks.0.attn.qkv.weight"} <= set(weights):
        return _read_timm, weights
    return None


def _patches(weights: Weights, name: str) -> tuple[Linear, int]:
    shape = weights.shape(f"{name}.weight")
    if len(shape) != 4 or shape[1] != 3 or shape[2] != shape[3]:
        raise ExplorerError(
            f"{weights.path.name} is not the model that it seems: its patch filters have the shape {shape}."
        )
    weight = weights.read(f"{name}.weight").reshape(shape[0], -1)
    bias = read_shaped(weights, f"{name}.bias", (shape[0],)) if f"{name}.bias" in weights else None
    return Linear(weight, bias), shape[2]


def _row(weights: Weights, name: str, dim: int) -> torch.Tensor | None:
    """A class token, however many axes it comes with: shape (1, dim)."""
    if name not in weights:
        return None
    if math.prod(weights.shape(name)) != dim:
        raise ExplorerError(
            f"{weights.path.name} is not the model that it seems: {name} has the shape {weights.shape(name)}."
        )
    return weights.read(name).reshape(1, dim)


def _places(weights: Weights, name: str, dim: int) -> torch.Tensor:
    """Shape (n, dim)."""
    shape = weights.shape(name)
    if shape[-1:] != (dim,) or math.prod(shape[:-2]) != 1:
        raise ExplorerError(
            f"{weights.path.name} is not the model that it seems: {name} has the shape {shape}."
        )
    return weights.read(name).reshape(-1, dim)


def _classifier(weights: Weights, name: str, dim: int) -> Linear | None:
    return read_linear(weights, name, dim) if f"{name}.weight" in weights else None


def _read_own(weights: Weights, heads: int | None, config: dict[str, Any]) -> tuple[Vit, Heads | None]:
    """The small model: how many heads there are stands in its names."""
    patches, side = _patches(weights, _BOOK_PATCHES)
    dim = len(patches.weight)
    layers = []
    for number in range(weights.count(r"encoder\.blocks\.(\d+)\.")):
        block = weights.under(f"encoder.blocks.{number}.")
        count = block.count(r"attention\.heads\.(\d+)\.")
        if not count or dim % count:
            raise ExplorerError(f"Block {number} of {weights.path.name} has {count} heads for {dim} numbers.")
        inner = read_linear(block, "mlp.dense_1", dim)
        query, key, value = (_joined(block, part, count, dim) for part in ("query", "key", "value"))
        layers.append(
            PreNormLayer(
                count,
                read_norm(block, "layernorm_1", dim),
                query,
                key,
                value,
                read_linear(block, "attention.output_projection", dim, dim),
                read_norm(block, "layernorm_2", dim),
                inner,
                read_linear(block, "mlp.dense_2", len(inner.weight), dim),
                gelu_tanh,
            )
        )
    vit = Vit(
        patches,
        side,
        _row(weights, "embedding.cls_token", dim),
        _places(weights, "embedding.position_embeddings", dim),
        tuple(layers),
        None,
        _classifier(weights, "classifier", dim),
    )
    return vit, None


def _joined(block: Weights, part: str, heads: int, dim: int) -> Linear:
    """The heads' own linear layers as one, head by head."""
    each = [read_linear(block, f"attention.heads.{h}.{part}", dim, dim // heads) for h in range(heads)]
    biases = [one.bias for one in each if one.bias is not None]
    if len(biases) not in (0, heads):
        raise ExplorerError(f"{block.path.name} is not whole: some heads of its {part} have no bias.")
    return Linear(torch.cat([one.weight for one in each]), torch.cat(biases) if biases else None)


def _read_hugging_face(
    weights: Weights, heads: int | None, config: dict[str, Any]
) -> tuple[Vit, Heads | None]:
    patches, side = _patches(weights, _HF_PATCHES)
    dim = len(patches.weight)
    told, eps = config.get("num_attention_heads"), config.get("layer_norm_eps")
    eps = float(eps) if isinstance(eps, (int, float)) else 1e-12
    split = heads_of(dim, heads, max(1, dim // _HEAD), told)
    activation = activation_of(config.get("hidden_act", "gelu"))
    layers = []
    for number in range(weights.count(r"encoder\.layer\.(\d+)\.")):
        block = weights.under(f"encoder.layer.{number}.")
        inner = read_linear(block, "intermediate.dense", dim)
        query, key, value = (
            read_linear(block, f"attention.attention.{part}", dim, dim) for part in ("query", "key", "value")
        )
        layers.append(
            PreNormLayer(
                split.count,
                read_norm(block, "layernorm_before", dim, eps),
                query,
                key,
                value,
                read_linear(block, "attention.output.dense", dim, dim),
                read_norm(block, "layernorm_after", dim, eps),
                inner,
                read_linear(block, "output.dense", len(inner.weight), dim),
                activation,
            )
        )
    vit = Vit(
        patches,
        side,
        _row(weights, "embeddings.cls_token", dim),
        _places(weights, "embeddings.position_embeddings", dim),
        tuple(layers),
        read_norm(weights, "layernorm", dim, eps),
        _classifier(weights, "classifier", dim),
    )
    return vit, split


def _read_timm(weights: Weights, heads: int | None, config: dict[str, Any]) -> tuple[Vit, Heads | None]:
    patches, side = _patches(weights, _TIMM_PATCHES)
    dim = len(patches.weight)
    split = heads_of(dim, heads, max(1, dim // _HEAD))
    layers = []
    for number in range(weights.count(r"blocks\.(\d+)\.")):
        block = weights.under(f"blocks.{number}.")
        inner = read_linear(block, "mlp.fc1", dim)
        layers.append(
            PreNormLayer(
                split.count,
                read_norm(block, "norm1", dim, 1e-6),
                *thirds_of(read_linear(block, "attn.qkv", dim, 3 * dim)),
                read_linear(block, "attn.proj", dim, dim),
                read_norm(block, "norm2", dim, 1e-6),
                inner,
                read_linear(block, "mlp.fc2", len(inner.weight), dim),
                functional.gelu,
            )
        )
    vit = Vit(
        patches,
        side,
        _row(weights, "cls_token", dim),
        _places(weights, "pos_embed", dim),
        tuple(layers),
        read_norm(weights, "norm", dim, 1e-6),
        _classifier(weights, "head", dim),
    )
    return vit, split
