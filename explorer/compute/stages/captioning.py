"""An image-captioning Transformer: an encoder of patches, and a decoder of captions that looks at them.

Each step is added to what came in and normed after; ELU stands between the two layers of an MLP; the decoder
adds positions of a half of sines, then a half of cosines. How many heads there are the file does not say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from explorer.compute.encoders.preprocessing import IMAGENET_MEAN, IMAGENET_STD, Preprocessing
from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.attention import Looked, attend, attention, heads_of
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import (
    Linear,
    Lookup,
    Norm,
    read_linear,
    read_lookup,
    read_norm,
    read_shaped,
    thirds_of,
)
from explorer.compute.stages.picture import see
from explorer.compute.stages.positions import halves
from explorer.compute.stages.text_side import LONGEST, TextSide
from explorer.compute.stages.tokenizers import tokenizer_for
from explorer.compute.stages.vit import cut
from explorer.core.errors import ExplorerError
from explorer.core.stages import Attention, Needs, Of, Stage

_TABLE = "decoder.embedding.weight"
_PROJECTION = "encoder.fc_in"
_PLACES = "encoder.pos_embedding"
_DECODER = "The decoder also looks at a picture, so it is not run on a caption alone."
_USUAL_HEADS = 8
_CHANNELS = 3


@dataclass(frozen=True, eq=False)
class _Look:
    """Attention over several heads with the layers of ``nn.MultiheadAttention``."""

    heads: int
    query: Linear
    key: Linear
    value: Linear
    output: Linear

    def __call__(
        self, x: torch.Tensor, at: torch.Tensor, *, causal: bool = False
    ) -> tuple[torch.Tensor, Looked]:
        mixed, looked = attend(self.query(x), self.key(at), self.value(at), self.heads, causal=causal)
        return self.output(mixed), looked


@dataclass(frozen=True, eq=False)
class _Block:
    """Self-attention, in a decoder attention to the patches, then an MLP."""

    own: _Look
    own_norm: Norm
    cross: _Look | None
    cross_norm: Norm | None
    inner: Linear
    outer: Linear
    last_norm: Norm

    def __call__(
        self, x: torch.Tensor, patches: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Looked, Looked | None]:
        mixed, own = self.own(x, x, causal=self.cross is not None)
        x = self.own_norm(mixed + x)
        cross = None
        if self.cross is not None and self.cross_norm is not None and patches is not None:
            mixed, cross = self.cross(x, patches)
            x = self.cross_norm(mixed + x)
        return self.last_norm(self.outer(functional.elu(self.inner(x))) + x), own, cross


@dataclass(frozen=True, eq=False)
class _Eye:
    """The encoder: how it cuts a picture, and its blocks."""

    patches: Linear
    side: int
    places: torch.Tensor
    blocks: tuple[_Block, ...]
    preprocessing: Preprocessing


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return {
        _TABLE,
        _PLACES,
        f"{_PROJECTION}.weight",
        "decoder.blocks.0.attn2.multihead_attn.in_proj_weight",
    } <= set(weights)


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    weights = opening.weights
    table = read_lookup(weights, _TABLE)
    rows, dim = table.stored.shape
    heads = heads_of(dim, opening.heads, _USUAL_HEADS)
    eye = _eye(weights, dim, heads.count)
    blocks = _blocks(weights.under("decoder."), dim, heads.count, decoder=True)
    side = eye.preprocessing.size[0]
    how = f"The picture's middle is brought to {side} × {side} pixels and normalised as ImageNet's pictures."

    def compute(given: Input) -> Computed:
        if given.picture is None:
            assert given.ids is not None
            return Computed(tuple(_look_up(table, given.ids)[1]), notes=(_DECODER,))
        seen = see(given.picture, eye.preprocessing, eye.side, class_token=False)
        patches, stages, attentions = _encode(eye, seen.pixels)
        if given.ids is not None:
            further, looked = _decode(table, blocks, given.ids, patches)
            stages, attentions = [*stages, *further], [*attentions, *looked]
        return Computed(tuple(stages), tuple(attentions), seen.patches, (how,))

    text = _text(opening, rows)
    return StageModel(
        "captioning model", opening.path, Needs.PICTURE_AND_TEXT, compute, {"": text}, heads=heads
    )


def _text(opening: Opening, rows: int) -> TextSide:
    labels = opening.labels(_TABLE)
    return TextSide(
        rows,
        LONGEST,
        labels,
        tokenizer_for(opening, labels),
        "There is no vocabulary for this model's captions.",
    )


def _encode(eye: _Eye, pixels: torch.Tensor) -> tuple[torch.Tensor, list[Stage], list[Attention]]:
    x = cut(pixels, eye.patches, eye.side)
    stages = [stage("patches projected", x, f"{_PROJECTION} on each patch", Of.PATCHES)]
    x = x + eye.places
    stages.append(stage("with position", x, "+ the learned position", Of.PATCHES))
    looked = []
    for number, block in enumerate(eye.blocks, 1):
        x, own, _ = block(x)
        looked.append(own)
        stages.append(stage(f"after layer {number}", x, "self-attention, then an MLP", Of.PATCHES))
    stages.append(stage("encoder output", x, "what the decoder looks at", Of.PATCHES))
    return x, stages, [attention(looked, queries=Of.PATCHES, keys=Of.PATCHES)]


def _look_up(table: Lookup, ids: torch.Tensor) -> tuple[torch.Tensor, list[Stage]]:
    """A caption's rows as the decoder's first layer gets them, shape (n, dim), and the stages up to there."""
    looked_up = table(ids)
    placed = looked_up + torch.from_numpy(halves(*looked_up.shape))
    return placed, [
        stage("looked up", looked_up, f"rows of {_TABLE}"),
        stage("decoder with position", placed, "+ sines, then cosines, of the place"),
    ]


def _decode(
    table: Lookup, blocks: Sequence[_Block], ids: torch.Tensor, patches: torch.Tensor
) -> tuple[list[Stage], list[Attention]]:
    x, stages = _look_up(table, ids)
    own, cross = [], []
    for number, block in enumerate(blocks, 1):
        x, looked, across = block(x, patches)
        assert across is not None
        own.append(looked)
        cross.append(across)
        stages.append(
            stage(
                f"after decoder layer {number}",
                x,
                "self-attention on what came before, attention to the patches, an MLP",
            )
        )
    return stages, [
        attention(cross, "cross-attention", keys=Of.PATCHES),
        attention(own, "caption self-attention"),
    ]


def _eye(weights: Weights, dim: int, heads: int) -> _Eye:
    values = weights.shape(f"{_PROJECTION}.weight")[-1]
    side = math.isqrt(values // _CHANNELS)
    count = weights.shape(_PLACES)[-2]
    grid = math.isqrt(count)
    if side * side * _CHANNELS != values or grid * grid != count:
        raise ExplorerError(
            f"{weights.path.name} sees no square patches of a square picture: not known here."
        )
    size = grid * side
    return _Eye(
        read_linear(weights, _PROJECTION, values, dim),
        side,
        read_shaped(weights, _PLACES, (1, count, dim))[0],
        _blocks(weights.under("encoder."), dim, heads, decoder=False),
        Preprocessing((size, size), "shortest", "bilinear", IMAGENET_MEAN, IMAGENET_STD, crop_half="even"),
    )


def _blocks(weights: Weights, dim: int, heads: int, *, decoder: bool) -> tuple[_Block, ...]:
    found = []
    for number in range(weights.count(r"blocks\.(\d+)\.")):
        block = weights.under(f"blocks.{number}.")
        inner = read_linear(block, "mlp.0", dim)
        found.append(
            _Block(
                _look(block, "attn1", dim, heads),
                read_norm(block, "norm1", dim),
                _look(block, "attn2", dim, heads) if decoder else None,
                read_norm(block, "norm2", dim) if decoder else None,
                inner,
                read_linear(block, "mlp.2", len(inner.weight), dim),
                read_norm(block, "norm_mlp", dim),
            )
        )
    return tuple(found)


def _look(block: Weights, name: str, dim: int, heads: int) -> _Look:
    own = block.under(f"{name}.multihead_attn.")
    weight = read_shaped(own, "in_proj_weight", (3 * dim, dim))
    bias = read_shaped(own, "in_proj_bias", (3 * dim,)) if "in_proj_bias" in own else None
    return _Look(heads, *thirds_of(Linear(weight, bias)), read_linear(own, "out_proj", dim, dim))
