"""The text encoders inside Stable Diffusion: single files by their prefixes, and diffusers' folders.

What conditions the denoiser differs by family:

- SD 1: CLIP ViT-L's last layer, through the final norm.
- SD 2: OpenCLIP ViT-H's last layer but one, through the final norm (diffusers stores 23 layers for that).
- SDXL: ViT-L's and OpenCLIP ViT-bigG's last layers but one, without the final norm, side by side; the pooled
  vector is bigG's, projected. The refiner has bigG alone.
- SD 3: the same two, both pooled vectors projected and side by side; the sequence is filled up to T5's 4096
  and T5's own tokens would follow, which are not computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.encoders import clip_vocabulary, transformer
from explorer.compute.encoders import openai_layout as layout
from explorer.compute.encoders.base import Encoder, TextTower
from explorer.compute.encoders.hugging_face import clip_text_tokenizer
from explorer.compute.encoders.placing import Place
from explorer.compute.encoders.prompts import Conditioner, PromptTower
from explorer.compute.encoders.tokenizer_files import FoundTokenizer, find_tokenizer, published_clip
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.compute.encoders.weights import Weights, read_contents, read_weights
from explorer.core.errors import ExplorerError
from explorer.readers.hf_config import read_json

_T5_WIDTH, _SD2_WIDTH = 4096, 1024
_QUICK_WIDTH = 768  # of OpenAI's ViT-L, the only text tower here that was trained with QuickGELU
_KNOWN_TOKEN = "embeddings.token_embedding.weight"


@dataclass(frozen=True)
class Part:
    """Where a tower lies in a single file, and what is taken from it.

    Attributes
    ----------
    name : str
    prefix : str
    open_clip : bool
        Whether its names are OpenCLIP's, not Hugging Face's.
    """

    name: str
    prefix: str
    open_clip: bool = False


@dataclass(frozen=True)
class Family:
    """A generation of Stable Diffusion.

    Attributes
    ----------
    name : str
    parts : tuple of Part
        In the order of their vectors.
    penultimate, final_norm : bool
    pooled : tuple of int
        Which parts' pooled vectors are used.
    fill : int
        To how many numbers a position is filled up; 0 for as many as there are.
    """

    name: str
    parts: tuple[Part, ...]
    penultimate: bool
    final_norm: bool
    pooled: tuple[int, ...]
    fill: int = 0


_SD1 = Family("SD 1", (Part("clip_l", "cond_stage_model.transformer."),), False, True, (0,))
_SD2 = Family("SD 2", (Part("clip_h", "cond_stage_model.model.", True),), True, True, (0,))
_SDXL = Family(
    "SDXL",
    (
        Part("clip_l", "conditioner.embedders.0.transformer."),
        Part("clip_g", "conditioner.embedders.1.model.", True),
    ),
    True,
    False,
    (1,),
)
_REFINER = Family(
    "SDXL refiner", (Part("clip_g", "conditioner.embedders.0.model.", True),), True, False, (0,)
)
_SD3 = Family(
    "SD 3",
    (
        Part("clip_l", "text_encoders.clip_l.transformer."),
        Part("clip_g", "text_encoders.clip_g.transformer."),
    ),
    True,
    False,
    (0, 1),
    _T5_WIDTH,
)
_FAMILIES = (_SD1, _SD2, _SDXL, _REFINER, _SD3)
_PIPELINES = (("StableDiffusion3", _SD3), ("StableDiffusionXL", _SDXL), ("StableDiffusion", _SD1))


def family_of(weights: Weights) -> Family | None:
    """Which Stable Diffusion a single file is; None where it holds none of their text encoders."""
    return next(
        (family for family in _FAMILIES if all(weights.has(part.prefix) for part in family.parts)), None
    )


def open_single_file(weights: Weights, path: Path, folder: Path, place: Place) -> Encoder:
    """The text encoder of a single file.

    Raises
    ------
    ExplorerError
        It is not there, or not whole.
    """
    family = family_of(weights)
    if family is None:
        raise ExplorerError(f"{path.name} holds no text encoder of Stable Diffusion.")
    found = find_tokenizer([folder]) if family is _SD1 else None
    if found is None or found.size != clip_vocabulary.SIZE:
        found = published_clip()
    towers = [_tower(weights.under(part.prefix), part, family, found, place) for part in family.parts]
    prints = [weights.under(part.prefix).fingerprint(family=family.name) for part in family.parts]
    return _encoder(family, towers, prints, path, place, ())


def open_diffusers(folder: Path, place: Place) -> Encoder:
    """The text encoders of a diffusers folder.

    Raises
    ------
    ExplorerError
        There are none, or they are not CLIP's.
    """
    index = read_json(folder / "model_index.json")
    pipeline = str(index.get("_class_name")) if isinstance(index, dict) else ""
    names = [
        name for name in ("text_encoder", "text_encoder_2", "text_encoder_3") if (folder / name).is_dir()
    ]
    configs = {name: read_json(folder / name / "config.json") for name in names}
    clips = [
        name for name in names if isinstance(c := configs[name], dict) and "clip" in str(c.get("model_type"))
    ]
    if not clips:
        raise ExplorerError(f"{folder.name} ({pipeline or 'a diffusers folder'}) has no CLIP text encoder.")
    family = next((each for start, each in _PIPELINES if pipeline.startswith(start)), _SD1)
    if len(clips) < len(family.parts):
        family = replace(_REFINER, name=f"{family.name} with one text encoder")
    elif family is _SD1:
        family = replace(_SD1, name="SD 2" if configs[clips[0]].get("hidden_size") == _SD2_WIDTH else "SD 1")
    parts = [Part("clip_g" if name == "text_encoder_2" else "clip_l", "") for name in clips]
    towers, prints = [], []
    notes: list[str] = []
    for name, part in zip(clips, parts, strict=True):
        tower, weights, note = _folder_tower(folder / name, part, family, place)
        towers.append(tower)
        prints.append(weights.fingerprint(family=family.name, config=transformer.telling(configs[name])))
        notes += note
    if not pipeline.startswith("StableDiffusion"):
        notes.append(f"{pipeline} may use its text encoder in another way than Stable Diffusion does.")
    return _encoder(family, towers, prints, folder, place, tuple(dict.fromkeys(notes)))


def open_text_file(weights: Weights, path: Path, folder: Path, place: Place) -> Encoder:
    """A diffusion model's text encoder in a file of its own, e.g. ``clip_l.safetensors``.

    Raises
    ------
    ExplorerError
    """
    found = find_tokenizer([folder])
    found = found if found is not None and found.size == clip_vocabulary.SIZE else published_clip()
    family = replace(_SD1, name="CLIP")
    table = weights.shape(f"text_model.{_KNOWN_TOKEN}")
    part = Part("clip_l" if table[-1] == _QUICK_WIDTH else "clip_g", "")
    tower = _tower(weights, part, family, found, place)
    name = "QuickGELU" if tower.model.config.hidden_act == "quick_gelu" else "GELU"
    note = (
        f"No configuration lies beside the file: {name} is assumed, as in the published model of this width."
    )
    return _encoder(family, [tower], [weights.fingerprint(family="CLIP")], path, place, (note,))


def with_inversions(encoder: Encoder, paths: Sequence[Path]) -> Encoder:
    """An encoder that also knows textual inversions; their tokens stand at the end of its token table.

    Parameters
    ----------
    encoder : Encoder
        With a ``conditioner``.
    paths : sequence of Path
        Files of learned vectors. A file that does not name its token goes by its own name.

    Raises
    ------
    ExplorerError
        A file holds no such vectors, or they belong to another text encoder.
    """
    conditioner = encoder.conditioner
    if conditioner is None:
        raise ExplorerError(f"{encoder.name} takes no textual inversions.")
    tokens = [read_inversion(path, conditioner) for path in paths]
    try:
        longer = conditioner.with_tokens(tokens)
    except ValueError as error:
        names = ", ".join(path.name for path in paths)
        raise ExplorerError(f"{names} cannot be added to {encoder.name}: {error}.") from error
    return replace(encoder, conditioner=longer, text=_text_tower(longer))


def read_inversion(path: Path, conditioner: Conditioner) -> tuple[str, dict[str, NDArray[np.float32]]]:
    """A learned token's text, and its vectors of shape (n, width) by tower.

    Raises
    ------
    ExplorerError
        The file holds no such vectors.
    """
    by_width = {tower.width: tower.name for tower in conditioner.towers}
    contents, vectors, text = read_contents(path), {}, None
    for table in contents.tables:
        if (name := by_width.get(table.tensor.shape[1])) is not None:
            vectors[name] = np.array(table.tensor.read(), np.float32)
            text = text or (table.texts[0] if table.texts else None)
    if not vectors:
        widths = " or ".join(map(str, by_width))
        raise ExplorerError(
            f"{path.name} holds no learned token of {widths} numbers.",
            "Open a textual inversion made for this model.",
        )
    return (text if text not in (None, "*") else path.stem), vectors


def _encoder(
    family: Family,
    towers: Sequence[PromptTower],
    prints: Sequence[str],
    path: Path,
    place: Place,
    notes: tuple[str, ...],
) -> Encoder:
    width = sum(tower.width for tower in towers)
    conditioner = Conditioner(tuple(towers), family.pooled, place.device, max(family.fill, width))
    if family is _SD3:
        notes = (
            *notes,
            "T5, the third text encoder of SD 3, is not computed: its part of the sequence is missing.",
        )
    return place.encoder(
        kind=f"{family.name} text encoder" if family.name == "CLIP" else "Stable Diffusion text encoder",
        path=path,
        dim=conditioner.pooled_dim,
        fingerprint="".join(each[: 32 // len(prints)] for each in prints),
        text=_text_tower(conditioner),
        notes=(f"{family.name}: " + ", ".join(f"{t.name} {t.width}" for t in towers) + ".", *notes),
        conditioner=conditioner,
    )


def _text_tower(conditioner: Conditioner) -> TextTower:
    """The pooled vector as the vector of a text."""
    towers = [conditioner.towers[i] for i in conditioner.pooled]

    def text(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        # All towers share one vocabulary; what fills up stands after the end and is not seen by it.
        end = mask.sum(1) - 1
        return torch.cat([tower.forward(ids, end)[1] for tower in towers], -1)

    return TextTower(towers[0].tokenizer, text)


def _tower(weights: Weights, part: Part, family: Family, found: FoundTokenizer, place: Place) -> PromptTower:
    if part.open_clip:
        shape, state = layout.text_shape(weights), layout.text_state(weights)
        projection = layout.projection(weights, "text_projection")
    else:
        inner = weights.under("text_model.") if weights.has("text_model.") else weights
        shape = _hugging_face_shape(inner)
        state = {
            name: tensor
            for name, tensor in inner.read_all().items()
            if name.startswith(("embeddings.", "encoder.", "final_layer_norm."))
        }
        name = "text_projection.weight"
        projection = weights.read(name) if name in weights else None
    activation = "quick_gelu" if shape.width == _QUICK_WIDTH else "gelu"
    config = transformer.configuration("CLIPTextConfig", layout.text_config(shape, activation))
    model = place.put(transformer.build("CLIPTextModel", config, state, weights))
    # OpenAI's tower is filled up with the end token, OpenCLIP's with the token of id 0.
    pad = shape.vocabulary - 1 if part.name == "clip_l" else 0
    tokenizer = TextTokenizer(found.tokenizer, shape.context, pad, fill=True, source=found.source)
    if found.size > shape.vocabulary:
        raise ExplorerError(
            f"{weights.path.name} has {shape.vocabulary:,} tokens, the tokenizer {found.size:,}."
        )
    return PromptTower(
        part.name,
        model,
        tokenizer,
        family.penultimate,
        family.final_norm,
        None if projection is None else projection.to(place.device, place.dtype),
    )


def _hugging_face_shape(weights: Weights) -> layout.TextShape:
    vocabulary, width = weights.shape(_KNOWN_TOKEN)
    return layout.TextShape(
        width,
        weights.count(r"encoder\.layers\.(\d+)\."),
        weights.shape("embeddings.position_embedding.weight")[0],
        vocabulary,
        weights.shape("encoder.layers.0.mlp.fc1.weight")[0],
    )


def _folder_tower(
    folder: Path, part: Part, family: Family, place: Place
) -> tuple[PromptTower, Weights, tuple[str, ...]]:
    weights = read_weights(folder)
    inner = weights.under("text_model.") if weights.has("text_model.") else weights
    values: dict[str, Any] = dict(read_json(folder / "config.json"))
    config = transformer.configuration("CLIPTextConfig", values)
    state = {
        name: tensor for name, tensor in inner.read_all().items() if not name.startswith("text_projection")
    }
    model = place.put(transformer.build("CLIPTextModel", config, state, weights))
    tokenizer, notes = clip_text_tokenizer(folder, config)
    if tokenizer is None:
        raise ExplorerError(f"{folder.parent.name} has no tokenizer for {folder.name}.", " ".join(notes))
    projection = weights.read("text_projection.weight") if "text_projection.weight" in weights else None
    tower = PromptTower(
        part.name,
        model,
        replace(tokenizer, fill=True),
        family.penultimate,
        family.final_norm,
        None if projection is None else projection.to(place.device, place.dtype),
    )
    return tower, weights, notes
