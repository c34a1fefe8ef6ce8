"""A CLIP trained from scratch on captions: ResNet-50, DistilBERT, and a projection head for each.

The state dict says nothing of how it is computed. Known of this model: pictures are squashed to 224 × 224 by
plain bilinear sampling and normalised as ImageNet's; a text's vector is the last hidden state at position 0;
a head is ``LayerNorm(fc(gelu(p)) + p)`` with ``p = projection(x)``; there is no trained temperature.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from explorer.compute.encoders import transformer
from explorer.compute.encoders.base import Encoder, ImageTower, TextTower
from explorer.compute.encoders.hugging_face import check_size
from explorer.compute.encoders.loading import load_into
from explorer.compute.encoders.placing import Place
from explorer.compute.encoders.preprocessing import IMAGENET_MEAN, IMAGENET_STD, Preprocessing
from explorer.compute.encoders.resnet import ResNet
from explorer.compute.encoders.tokenizer_files import find_cached, find_tokenizer
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.compute.encoders.weights import Weights

PREPROCESSING = Preprocessing((224, 224), "squash", "bilinear", IMAGENET_MEAN, IMAGENET_STD, antialias=False)
VOCABULARY_OF = ("distilbert-base-uncased", "bert-base-uncased")
_NO_TOKENIZER = (
    "There is no tokenizer beside the file and none of DistilBERT in the local model cache, so it encodes no "
    "text: put DistilBERT's vocab.txt or tokenizer.json beside it."
)


class ProjectionHead(nn.Module):
    """A projection into the shared space, and a small correction of it.

    Parameters
    ----------
    inner, dim : int
    """

    def __init__(self, inner: int, dim: int) -> None:
        super().__init__()
        self.projection = nn.Linear(inner, dim)
        self.fc = nn.Linear(dim, dim)
        self.layer_norm = nn.LayerNorm(dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, inner) to (n, dim)."""
        projected = self.projection(x)
        return self.layer_norm(self.fc(functional.gelu(projected)) + projected)  # type: ignore[no-any-return]


def is_scratch(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return {
        "image_encoder.model.conv1.weight",
        "text_encoder.model.embeddings.word_embeddings.weight",
        "image_projection.projection.weight",
        "text_projection.projection.weight",
    } <= set(weights)


def open_scratch(weights: Weights, path: Path, folder: Path, place: Place) -> Encoder:
    """An encoder from a state dict alone.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    image = place.put(image_model(weights))
    language, vocabulary, positions = _text_model(weights)
    language, head = place.put(language), place.put(read_head(weights, "text_projection."))
    found = find_tokenizer([folder]) or find_cached(vocabulary, VOCABULARY_OF)
    notes = []
    tower = None
    if found is None:
        notes.append(_NO_TOKENIZER)
    else:
        check_size(found, vocabulary)
        pad = found.id_of("pad_token", "[PAD]") or 0
        tokenizer = TextTokenizer(found.tokenizer, positions, pad, source=found.source)

        def text(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            hidden = language(input_ids=ids, attention_mask=mask.long()).last_hidden_state
            return head(hidden[:, 0])  # type: ignore[no-any-return]

        tower = TextTower(tokenizer, text)
        if found.path is not None and found.path.parent != folder:
            notes.append(f"The tokenizer is that of {found.source}: none lies beside the file.")
    return place.encoder(
        kind="CLIP trained from scratch",
        path=path,
        dim=weights.shape("image_projection.layer_norm.weight")[0],
        fingerprint=weights.fingerprint(kind="scratch"),
        text=tower,
        image=ImageTower(PREPROCESSING, image),
        notes=tuple(notes),
    )


def image_model(weights: Weights) -> nn.Sequential:
    """The ResNet and its head: shape (n, 3, 224, 224) to (n, dim).

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    inner = weights.under("image_encoder.model.")
    layers = [inner.count(rf"layer{stage}\.(\d+)\.") for stage in (1, 2, 3, 4)]
    with torch.device("meta"):
        network = ResNet(layers)
    return nn.Sequential(load_into(network, inner), read_head(weights, "image_projection."))


def read_head(weights: Weights, prefix: str) -> ProjectionHead:
    """A projection head, by what stands before its names.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    dim, inner = weights.shape(f"{prefix}projection.weight")
    with torch.device("meta"):
        head = ProjectionHead(inner, dim)
    return load_into(head, weights.under(prefix))


def _text_model(weights: Weights) -> tuple[nn.Module, int, int]:
    """DistilBERT, and its counts of tokens and positions."""
    inner = weights.under("text_encoder.model.")
    vocabulary, width = inner.shape("embeddings.word_embeddings.weight")
    positions = inner.shape("embeddings.position_embeddings.weight")[0]
    values = {
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
        "dim": width,
        "hidden_dim": inner.shape("transformer.layer.0.ffn.lin1.weight")[0],
        "n_layers": inner.count(r"transformer\.layer\.(\d+)\."),
        "n_heads": max(1, width // 64),
    }
    config = transformer.configuration("DistilBertConfig", values)
    model: nn.Module = transformer.build("DistilBertModel", config, inner.read_all(), weights)
    return model, vocabulary, positions
