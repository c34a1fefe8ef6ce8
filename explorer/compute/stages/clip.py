"""CLIP's two towers, whole or one alone, by Hugging Face's, OpenAI's, OpenCLIP's or Stable Diffusion's names.

Both towers norm before each step. A text's vector is the hidden state at its end-of-text token, a picture's
that of the class token, each normed and projected into the shared space (Radford et al., 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from explorer.compute.encoders.preprocessing import Preprocessing
from explorer.compute.encoders.tokenizer_files import FoundTokenizer, find_tokenizer, published_clip
from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import activation_of
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.clip_names import Named, layout_of, named_of
from explorer.compute.stages.linear import (
    Linear,
    Lookup,
    Norm,
    read_linear,
    read_lookup,
    read_norm,
    read_shaped,
)
from explorer.compute.stages.picture import see
from explorer.compute.stages.prenorm import PreNormLayer, run_layers
from explorer.compute.stages.text_side import TextSide
from explorer.compute.stages.tokenizers import FileTokenizer, tokenizer_folders
from explorer.compute.stages.vit import cut
from explorer.core.labels import Labels
from explorer.core.stages import Attention, Needs, Of, Patches, Stage

_HEAD = 64  # usual width of a head


@dataclass(frozen=True, eq=False)
class _TextTower:
    table: Lookup
    places: torch.Tensor
    layers: tuple[PreNormLayer, ...]
    last: Norm
    projection: torch.Tensor | None
    end: int

    def run(self, ids: torch.Tensor) -> tuple[list[Stage], tuple[Attention, ...]]:
        x = self.table(ids)
        stages = [stage("looked up", x, "rows of token_embedding")]
        x = x + self.places[: len(x)]
        stages.append(stage("with position", x, "+ rows of position_embedding"))
        x, after, looked = run_layers(x, self.layers, causal=True)
        x = self.last(x)
        stages += [*after, stage("final norm", x, "LayerNorm after the last layer")]
        found = (ids == self.end).nonzero()
        place = int(found[0]) if len(found) else len(ids) - 1
        how = "the end-of-text token" if len(found) else "the last token"
        stages.append(stage("pooled", x[place], how))
        if self.projection is not None:
            stages.append(stage("projected", self.projection @ x[place], "text_projection of it"))
        return stages, (attention(looked),)


@dataclass(frozen=True, eq=False)
class _VisionTower:
    patches: Linear
    side: int
    class_token: torch.Tensor
    places: torch.Tensor
    first: Norm
    layers: tuple[PreNormLayer, ...]
    last: Norm
    projection: torch.Tensor | None
    preprocessing: Preprocessing

    def run(self, image: Image.Image) -> tuple[list[Stage], tuple[Attention, ...], Patches]:
        seen = see(image, self.preprocessing, self.side, class_token=True)
        x = cut(seen.pixels, self.patches, self.side)
        stages = [stage("patches projected", x, "patch_embedding on each patch", Of.PATCHES, 1)]
        x = torch.cat([self.class_token, x]) + self.places
        stages.append(stage("with position", x, "+ the learned position, class token first", Of.PATCHES))
        x = self.first(x)
        stages.append(stage("first norm", x, "LayerNorm before the first layer", Of.PATCHES))
        x, after, looked = run_layers(x, self.layers, of=Of.PATCHES)
        pooled = self.last(x[0])
        stages += [*after, stage("pooled", pooled, "the class token, normed")]
        if self.projection is not None:
            stages.append(stage("projected", self.projection @ pooled, "visual_projection of it"))
        return stages, (attention(looked, queries=Of.PATCHES, keys=Of.PATCHES),), seen.patches


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return layout_of(weights) is not None


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes, or a tower is of another kind.
    """
    named = named_of(opening)
    text = None if named.text is None else _text_tower(named, opening)
    vision = None if named.vision is None else _vision_tower(named)

    def compute(given: Input) -> Computed:
        seen = None if given.picture is None or vision is None else vision.run(given.picture)
        read = None if given.ids is None or text is None else text.run(given.ids)
        return joined(seen, read)

    needs = Needs.EITHER if text and vision else Needs.TEXT if text else Needs.PICTURE
    texts = {} if text is None or named.text is None else {"": _way_in(opening, named.text, text)}
    return StageModel(named.name, opening.path, needs, compute, texts, named.notes)


def joined(
    seen: tuple[list[Stage], tuple[Attention, ...], Patches | None] | None,
    read: tuple[list[Stage], tuple[Attention, ...]] | None,
) -> Computed:
    """What a picture, a text or both come to; where there are both, the picture's names say so."""
    if seen is None:
        stages, attentions = read or ([], ())
        return Computed(tuple(stages), attentions)
    stages, attentions, patches = seen
    if read is None:
        return Computed(tuple(stages), attentions, patches)
    marked = [replace(each, name=_of_picture(each.name)) for each in stages]
    looked = [replace(each, name=f"picture {each.name}") for each in attentions]
    return Computed(
        (*marked, *read[0]), (*looked, *read[1]), patches, _alike(stages[-1].values, read[0][-1].values)
    )


def _of_picture(name: str) -> str:
    return name if name.startswith("patches") else f"picture {name}"


def _alike(picture: NDArray | None, text: NDArray | None) -> tuple[str, ...]:
    """What the two vectors say of each other, where they lie in one space."""
    if picture is None or text is None or picture.shape != text.shape:
        return ()
    cosine = float(text @ picture / (np.linalg.norm(text) * np.linalg.norm(picture)))
    return (f"The text's vector and the picture's have a cosine of {cosine:.3f}.",)


def _text_tower(named: Named, opening: Opening) -> _TextTower:
    weights, config = named.text, named.text_config
    assert weights is not None
    rows, dim = weights.shape("embeddings.token_embedding.weight")
    places = weights.shape("embeddings.position_embedding.weight")[0]
    end = config.get("eos_token_id")
    # Configurations of the first models name 2; their end is the largest id, as in OpenAI's code.
    end = end if isinstance(end, int) and end != 2 else rows - 1
    return _TextTower(
        read_lookup(weights, "embeddings.token_embedding.weight"),
        read_shaped(weights, "embeddings.position_embedding.weight", (places, dim)),
        _layers(weights, dim, config, opening.heads),
        read_norm(weights, "final_layer_norm", dim, _eps(config)),
        named.text_projection,
        end,
    )


def _vision_tower(named: Named) -> _VisionTower:
    weights, config, preprocessing = named.vision, named.vision_config, named.preprocessing
    assert weights is not None
    assert preprocessing is not None
    filters = weights.read("embeddings.patch_embedding.weight")
    dim, side = filters.shape[0], filters.shape[-1]
    places = weights.shape("embeddings.position_embedding.weight")[0]
    return _VisionTower(
        Linear(filters.reshape(dim, -1), None),
        side,
        weights.read("embeddings.class_embedding").reshape(1, dim),
        read_shaped(weights, "embeddings.position_embedding.weight", (places, dim)),
        read_norm(weights, "pre_layrnorm", dim, _eps(config)),
        _layers(weights, dim, config, None),
        read_norm(weights, "post_layernorm", dim, _eps(config)),
        named.vision_projection,
        preprocessing,
    )


def _layers(
    weights: Weights, dim: int, config: Mapping[str, Any], asked: int | None
) -> tuple[PreNormLayer, ...]:
    told = config.get("num_attention_heads")
    heads = heads_of(dim, asked, max(1, dim // _HEAD), told).count
    activation = activation_of(config.get("hidden_act", "quick_gelu"))
    layers = []
    for number in range(weights.count(r"encoder\.layers\.(\d+)\.")):
        own = weights.under(f"encoder.layers.{number}.")
        inner = read_linear(own, "mlp.fc1", dim)
        query, key, value, output = (
            read_linear(own, f"self_attn.{part}_proj", dim, dim) for part in ("q", "k", "v", "out")
        )
        layers.append(
            PreNormLayer(
                heads,
                read_norm(own, "layer_norm1", dim, _eps(config)),
                query,
                key,
                value,
                output,
                read_norm(own, "layer_norm2", dim, _eps(config)),
                inner,
                read_linear(own, "mlp.fc2", len(inner.weight), dim),
                activation,
            )
        )
    return tuple(layers)


def _eps(config: Mapping[str, Any]) -> float:
    found = config.get("layer_norm_eps", 1e-5)
    return float(found) if isinstance(found, (int, float)) else 1e-5


def _way_in(opening: Opening, weights: Weights, tower: _TextTower) -> TextSide:
    rows = weights.shape("embeddings.token_embedding.weight")[0]
    found = find_tokenizer(tokenizer_folders(opening))
    if found is None or found.size > rows:
        published = published_clip()
        found = published if published.size == rows else None
    if found is None:
        missing = "There is no tokenizer for this model."
        return TextSide(rows, len(tower.places), missing=missing, special=True)
    labels = names_from(found, rows)
    return TextSide(rows, len(tower.places), labels, FileTokenizer(found, labels), special=True)


def names_from(found: FoundTokenizer, rows: int) -> Labels:
    """A tokenizer's tokens as the names of a table's rows."""
    names: list[str | None] = [None] * rows
    for token, row in found.tokenizer.get_vocab(with_added_tokens=True).items():
        if 0 <= row < rows:
            names[row] = token
    return Labels.from_texts(names, found.source)
