"""A CLIP trained from scratch on captions: ResNet-50, DistilBERT, and a projection head for each.

A ResNet cuts no patches: what comes out of its last layers is a grid of places, read row by row. A text's
vector is the last hidden state at its first token.
"""

from __future__ import annotations

import numpy as np
import torch
from PIL import Image

from explorer.compute.decoding import within_reason
from explorer.compute.encoders.resnet import ResNet
from explorer.compute.encoders.scratch import (
    PREPROCESSING,
    VOCABULARY_OF,
    ProjectionHead,
    image_model,
    is_scratch,
    read_head,
)
from explorer.compute.encoders.tokenizer_files import find_cached, find_tokenizer
from explorer.compute.stages.attention import attention
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.bert import Bert, read_bert
from explorer.compute.stages.clip import joined, names_from
from explorer.compute.stages.text_side import TextSide
from explorer.compute.stages.tokenizers import FileTokenizer, tokenizer_folders
from explorer.core.stages import Attention, Needs, Of, Patches, Stage

matches = is_scratch


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    weights = opening.weights
    bert, heads = read_bert(weights.under("text_encoder.model."), opening.heads, {})
    text_head = read_head(weights, "text_projection.")
    resnet, image_head = image_model(weights)
    assert isinstance(resnet, ResNet)
    assert isinstance(image_head, ProjectionHead)

    def compute(given: Input) -> Computed:
        seen = None if given.picture is None else _see(given.picture, resnet, image_head)
        read = None if given.ids is None else _read(given.ids, bert, text_head)
        return joined(seen, read)

    text = _way_in(opening, bert)
    name = "CLIP trained from scratch"
    return StageModel(name, opening.path, Needs.EITHER, compute, {"": text}, heads=heads)


def _see(
    image: Image.Image, resnet: ResNet, head: ProjectionHead
) -> tuple[list[Stage], tuple[Attention, ...], Patches]:
    pixels = PREPROCESSING.prepare(within_reason(image, PREPROCESSING))
    grid = resnet.places(torch.from_numpy(PREPROCESSING.normalise(pixels))[None])[0]
    pooled, (rows, columns) = grid.mean((1, 2)), grid.shape[1:]
    patches = Patches(np.ascontiguousarray(pixels.transpose(1, 2, 0)), rows, columns, class_token=False)
    stages = [
        stage("encoder output", grid.flatten(1).T, "the ResNet's last grid, a row a place", Of.PATCHES),
        stage("pooled", pooled, "the mean over all places"),
        stage("projected", head(pooled), "image_projection of it"),
    ]
    return stages, (), patches


def _read(ids: torch.Tensor, bert: Bert, head: ProjectionHead) -> tuple[list[Stage], tuple[Attention, ...]]:
    x, stages, looked = bert.run(ids)
    stages += [
        stage("hidden states", x, "the last layer's"),
        stage("pooled", x[0], "the first token's hidden state"),
        stage("projected", head(x[0]), "text_projection of it"),
    ]
    return stages, (attention(looked),)


def _way_in(opening: Opening, bert: Bert) -> TextSide:
    rows = len(bert.table.stored)
    found = find_tokenizer(tokenizer_folders(opening)) or find_cached(rows, VOCABULARY_OF)
    if found is None or found.size > rows:
        missing = "There is no tokenizer beside the file and none of DistilBERT in the local model cache."
        return TextSide(rows, len(bert.places), missing=missing, special=True)
    labels = names_from(found, rows)
    return TextSide(rows, len(bert.places), labels, FileTokenizer(found, labels), special=True)
