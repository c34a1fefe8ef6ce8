"""CLIP and SigLIP in Hugging Face's folders, whole or one half alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from explorer.compute.encoders import clip_vocabulary, transformer
from explorer.compute.encoders.base import Encoder, ImageTower, Similarity, TextTower
from explorer.compute.encoders.cleaning import canonical, in_lower_case
from explorer.compute.encoders.placing import Place
from explorer.compute.encoders.preprocessing import HALF, Preprocessing, from_hugging_face
from explorer.compute.encoders.tokenizer_files import FoundTokenizer, find_tokenizer, published_clip
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.compute.encoders.weights import Weights, read_weights
from explorer.core.errors import ExplorerError
from explorer.readers.hf_config import read_json

_NO_TOKENIZER = "There is no tokenizer in the folder, so it encodes no text: put its tokenizer.json there."


def open_clip_folder(folder: Path, place: Place) -> Encoder:
    """A ``CLIPModel``, ``CLIPTextModel[WithProjection]`` or ``CLIPVisionModel[WithProjection]``.

    Raises
    ------
    ExplorerError
    """
    values, weights = _read_config(folder), read_weights(folder)
    has_text = weights.has("text_model.") or weights.has("embeddings.token_embedding.")
    has_images = weights.has("vision_model.") or weights.has("embeddings.patch_embedding.")
    if has_text and has_images:
        return _whole_clip(folder, values, weights, place)
    return _half_clip(folder, values, weights, place, has_text)


def _whole_clip(folder: Path, values: dict[str, Any], weights: Weights, place: Place) -> Encoder:
    config = transformer.configuration("CLIPConfig", values)
    model = place.put(transformer.build("CLIPModel", config, weights.read_all(), weights))
    tokenizer, note = clip_text_tokenizer(folder, config.text_config)

    def text(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return model.text_projection(model.text_model(input_ids=ids).pooler_output)  # type: ignore[no-any-return]

    def image(pixels: torch.Tensor) -> torch.Tensor:
        return model.visual_projection(model.vision_model(pixel_values=pixels).pooler_output)  # type: ignore[no-any-return]

    scale = float(weights.read("logit_scale").exp()) if "logit_scale" in weights else None
    return place.encoder(
        kind="CLIP",
        path=folder,
        dim=config.projection_dim,
        fingerprint=weights.fingerprint(kind="CLIP", config=transformer.telling(values)),
        text=None if tokenizer is None else TextTower(tokenizer, text),
        image=ImageTower(read_preprocessing(folder, _clip_default(config.vision_config)), image),
        notes=note,
        similarity=None if scale is None else Similarity("softmax", scale),
    )


def _half_clip(folder: Path, values: dict[str, Any], weights: Weights, place: Place, text: bool) -> Encoder:
    projection = "text_projection.weight" if text else "visual_projection.weight"
    suffix = "WithProjection" if projection in weights else ""
    name = "CLIPText" if text else "CLIPVision"
    inner = values.get("text_config" if text else "vision_config")  # of a whole model's configuration
    config = transformer.configuration(f"{name}Config", inner if isinstance(inner, dict) else values)
    model = place.put(transformer.build(f"{name}Model{suffix}", config, weights.read_all(), weights))
    tokenizer, note = clip_text_tokenizer(folder, config) if text else (None, ())

    def features(**inputs: torch.Tensor) -> torch.Tensor:
        output = model(**inputs)
        if not suffix:
            return output.pooler_output  # type: ignore[no-any-return]
        return output.text_embeds if text else output.image_embeds  # type: ignore[no-any-return]

    if text and tokenizer is None:
        raise ExplorerError(f"{folder.name} holds a text encoder, but no tokenizer.", _NO_TOKENIZER)
    return place.encoder(
        kind="CLIP",
        path=folder,
        dim=config.projection_dim if suffix else config.hidden_size,
        fingerprint=weights.fingerprint(kind="CLIP", config=transformer.telling(values)),
        text=TextTower(tokenizer, lambda ids, mask: features(input_ids=ids)) if tokenizer else None,
        image=None
        if text
        else ImageTower(
            read_preprocessing(folder, _clip_default(config)), lambda pixels: features(pixel_values=pixels)
        ),
        notes=note,
    )


def clip_text_tokenizer(folder: Path, config: Any) -> tuple[TextTokenizer | None, tuple[str, ...]]:
    """A CLIP text model's tokenizer: in its folder, in ``tokenizer`` in or beside it, else the published one.

    Returns
    -------
    TextTokenizer or None
    tuple of str
        Notes on where it comes from.
    """
    second = "_2" if folder.name.endswith("_2") else ""
    near = [folder, folder / "tokenizer"]
    if folder.name.startswith("text_encoder"):
        near = [folder.parent / f"tokenizer{second}", folder]
    found = find_tokenizer(near)
    notes: tuple[str, ...] = ()
    if found is None and config.vocab_size == clip_vocabulary.SIZE:
        found = published_clip()
        notes = (
            "There is no tokenizer in the folder: CLIP's published one is used, which has as many tokens.",
        )
    if found is None:
        return None, (_NO_TOKENIZER,)
    return clip_tokenizer_of(found, config.max_position_embeddings, config.vocab_size), notes


def clip_tokenizer_of(found: FoundTokenizer, limit: int, vocabulary: int) -> TextTokenizer:
    """A found tokenizer as a CLIP text model uses it.

    Raises
    ------
    ExplorerError
        It has more tokens than the model.
    """
    check_size(found, vocabulary)
    # What stands after the end of the text cannot be seen by it: any id would do there.
    pad = found.id_of("pad_token", clip_vocabulary.END) or 0
    return TextTokenizer(found.tokenizer, limit, pad, source=found.source)


def check_size(found: FoundTokenizer, vocabulary: int) -> None:
    """Refuse a tokenizer whose ids the model does not all have.

    Raises
    ------
    ExplorerError
    """
    highest = max(found.tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if highest >= vocabulary:
        raise ExplorerError(
            f"The tokenizer ({found.source}) has ids up to {highest:,}, but the model {vocabulary:,} tokens.",
            "Put the model's own tokenizer beside it.",
        )


def open_siglip_folder(folder: Path, place: Place) -> Encoder:
    """A ``SiglipModel`` (SigLIP, and SigLIP 2 of fixed resolution).

    Raises
    ------
    ExplorerError
    """
    values, weights = _read_config(folder), read_weights(folder)
    config = transformer.configuration("SiglipConfig", values)
    state = weights.read_all()
    tokenizer, notes = _siglip_tokenizer(folder, config.text_config)
    preprocessing = read_preprocessing(folder, _siglip_default(config.vision_config))
    fingerprint = weights.fingerprint(kind="SigLIP", config=transformer.telling(values))
    return siglip_encoder(config, state, weights, place, folder, tokenizer, preprocessing, fingerprint, notes)


def siglip_encoder(
    config: Any,
    state: Mapping[str, torch.Tensor],
    weights: Weights,
    place: Place,
    path: Path,
    tokenizer: TextTokenizer | None,
    preprocessing: Preprocessing,
    fingerprint: str,
    notes: tuple[str, ...],
    kind: str = "SigLIP",
) -> Encoder:
    """A ``SiglipModel`` from its configuration and tensors."""
    model = place.put(transformer.build("SiglipModel", config, state, weights))

    def text(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return model.text_model(input_ids=ids).pooler_output  # type: ignore[no-any-return]

    def image(pixels: torch.Tensor) -> torch.Tensor:
        return model.vision_model(pixel_values=pixels).pooler_output  # type: ignore[no-any-return]

    similarity = None
    if {"logit_scale", "logit_bias"} <= state.keys():
        similarity = Similarity("sigmoid", float(state["logit_scale"].exp()), float(state["logit_bias"]))
    return place.encoder(
        kind=kind,
        path=path,
        dim=config.vision_config.hidden_size,
        fingerprint=fingerprint,
        text=None if tokenizer is None else TextTower(tokenizer, text),
        image=ImageTower(preprocessing, image),
        notes=notes,
        similarity=similarity,
    )


def _siglip_tokenizer(folder: Path, config: Any) -> tuple[TextTokenizer | None, tuple[str, ...]]:
    """SigLIP's is a SentencePiece model, its texts cleaned; SigLIP 2's is Gemma's, in lower case."""
    found = find_tokenizer([folder, folder / "tokenizer"], unigram_first=True)
    if found is None:
        return None, (_NO_TOKENIZER,)
    check_size(found, config.vocab_size)
    gemma = any(name in str(found.config.get("tokenizer_class")) for name in ("Gemma", "Siglip2"))
    pad = found.id_of("pad_token", "<pad>" if gemma else "</s>")
    clean = in_lower_case if gemma else canonical
    tokenizer = TextTokenizer(
        found.tokenizer,
        config.max_position_embeddings,
        config.pad_token_id if pad is None else pad,
        fill=True,
        clean=clean,
        source=found.source,
    )
    return tokenizer, ()


def _read_config(folder: Path) -> dict[str, Any]:
    values = read_json(folder / "config.json")
    if not isinstance(values, dict):
        raise ExplorerError(
            f"The configuration config.json in {folder.name} cannot be read.", "Download it again."
        )
    return values


def read_preprocessing(folder: Path, default: Preprocessing) -> Preprocessing:
    """How a folder says that its model sees pictures.

    Parameters
    ----------
    folder : Path
    default : Preprocessing
        Of the model's family and size, for what the folder leaves out.

    Raises
    ------
    ExplorerError
        It is not understood, or for pictures of another size.
    """
    values = read_json(folder / "preprocessor_config.json")
    values = values if isinstance(values, dict) else {}
    if isinstance(values.get("image_processor"), dict):
        values = values["image_processor"]
    try:
        found = from_hugging_face(values, default)
    except (ValueError, KeyError, TypeError) as error:
        raise ExplorerError(
            f"How {folder.name} prepares pictures (preprocessor_config.json) is not understood.",
            detail=str(error),
        ) from error
    if found.size != default.size:
        raise ExplorerError(
            f"{folder.name} prepares pictures of {found.size} pixels, but its model sees {default.size}."
        )
    return found


def _clip_default(vision: Any) -> Preprocessing:
    return Preprocessing(_square(vision.image_size))


def _siglip_default(vision: Any) -> Preprocessing:
    return Preprocessing(_square(vision.image_size), "squash", mean=HALF, std=HALF)


def _square(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))
