"""Which family a model is of, by its tensors' names and shapes, and how it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Protocol

import torch

from explorer.compute.encoders.weights import Weights, read_weights
from explorer.compute.stages import (
    bart,
    bert,
    captioning,
    clip,
    clip_scratch,
    gpt,
    llama,
    neox,
    opt,
    t5,
    translator,
    vit,
    word_lstm,
)
from explorer.compute.stages.base import NotRun, Opening, StageModel
from explorer.compute.stages.lookup import open_lookup
from explorer.compute.stages.not_run import is_quantised, known_as
from explorer.compute.stages.outputs import generation_notes
from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers import open_file
from explorer.readers.vocabulary_files import read_vocabulary


class Family(Protocol):
    """What is asked of a family's module."""

    def matches(self, weights: Weights) -> bool:
        """Whether these are weights of this family, by names first, then shapes."""

    def open_model(self, opening: Opening) -> StageModel:
        """A model that is ready to run; raises ExplorerError."""


# Asked in this order: the most telling names first.
FAMILIES: tuple[Family, ...] = (
    translator,
    captioning,
    clip_scratch,
    clip,
    vit,
    gpt,
    llama,
    neox,
    t5,
    bart,
    opt,
    bert,
    word_lstm,
)
# Two models in one file, or a model beside its loss, stand under these names.
_WRAPPERS = (
    "model.",
    "module.",
    "_orig_mod.",
    "state_dict.",
    "model_state_dict.",
    "net.",
    "network.",
    "ema.",
)
_NEARLY_ALL = 0.9  # of all numbers: what lies beside is a loss, or counts of a metric
_LARGE = 30_000_000  # numbers in a model's layers
_NONSENSE = (TypeError, ValueError, KeyError, IndexError, ArithmeticError, RuntimeError, AssertionError)


def open_stage_model(
    path: str | Path,
    *,
    labels: str | Path | None = None,
    target_labels: str | Path | None = None,
    side: str | None = None,
    header: bool | None = None,
    heads: int | None = None,
) -> StageModel:
    """Open a model to run it stage by stage; nothing in its file is executed.

    Parameters
    ----------
    path : str or Path
        A checkpoint, or a folder that holds one.
    labels, target_labels : str or Path, optional
        Vocabularies chosen by hand; else those that lie beside the file.
    side : {"source", "target"}, optional
        Which side of a translator ``labels`` are for, where they name one side only; else the source.
    header : bool, optional
        Whether a label file's first line is a header.
    heads : int, optional
        Attention heads, where no shape tells and the usual number is wrong.

    Returns
    -------
    StageModel

    Raises
    ------
    ExplorerError
        The file is damaged, or neither of a family that is known here nor with a token table.
    """
    path, chosen = Path(path), None if labels is None else Path(labels)
    if side == "target" and labels is not None and target_labels is None and _names_one_side(Path(labels)):
        labels, target_labels = None, labels
    opened = open_file(path, labels=labels, target_labels=target_labels, header=header)
    weights = _weights_of(opened)
    family, place = find_family(weights)
    opening = Opening(opened.path, weights.under(place), opened, heads, chosen)
    try:
        model = _open_as(family, opening)
        beside = (
            ()
            if all(name.startswith(place) for name in weights)
            else (f"The file holds more than this model: what lies under “{place[:-1]}” is run.",)
        )
        unused = () if heads is None else ("How many heads there are is not a choice in this model.",)
        assumed = unused if model.heads is None else model.heads.notes
        notes = (*assumed, *model.notes, *beside, *generation_notes(opened, weights))
        return replace(model, notes=notes, threads=_threads_for(opening))
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise ExplorerError(f"{path.name} takes more memory than there is.", detail=str(error)) from error
    except _NONSENSE as error:
        raise ExplorerError(
            f"{path.name} is put together in a way that is not understood.",
            "Its tensors do not fit each other.",
            f"{type(error).__name__}: {error}",
        ) from error


def find_family(weights: Weights) -> tuple[Family | None, str]:
    """The family of some weights, and the prefix under which its model lies where there is more beside it.

    Returns
    -------
    Family or None
        None where it is none that is known here.
    str
    """
    for place in ("", *_places(weights)):
        own = weights.under(place)
        for family in FAMILIES:
            if family.matches(own):
                return family, place
    return None, ""


def _open_as(family: Family | None, opening: Opening) -> StageModel:
    """A family's model; the lookup alone where it is of none, or of one that is not run."""
    if family is not None and not is_quantised(opening.weights):
        try:
            return family.open_model(opening)
        except NotRun as known:
            return open_lookup(opening, known.name, known.message)
    name = known_as(opening.weights)
    if name is None:
        return open_lookup(opening)
    why = (
        f"{name[:1].upper()}{name[1:]}: its rows are looked up, what its layers make of them is not computed."
    )
    return open_lookup(opening, name, why)


def _places(weights: Weights, before: str = "") -> Iterator[str]:
    """Prefixes under which training code puts a model, each before those within it."""
    for wrapper in dict.fromkeys((*_WRAPPERS, *_nearly_all(weights.under(before)))):
        if weights.has(before + wrapper):
            yield before + wrapper
            yield from _places(weights, before + wrapper)


def _nearly_all(weights: Weights) -> Iterator[str]:
    """The name that a program has given its only model: ``gpt.`` of a Lightning module's ``self.gpt``."""
    sizes: dict[str, int] = {}
    for name, tensor in weights.tensors.items():
        first = name[: name.find(".") + 1]
        sizes[first] = sizes.get(first, 0) + prod(tensor.shape)
    total = sum(sizes.values())
    return (first for first, size in sizes.items() if first and size > _NEARLY_ALL * total)


def _weights_of(opened: OpenedFile) -> Weights:
    """A model's tensors; none where the file is a table of another kind."""
    try:
        return read_weights(opened.path)
    except ExplorerError:
        return Weights(opened.path, {})


def _threads_for(opening: Opening) -> int:
    """All threads for a large model; one for a small, where they would mostly wait for each other."""
    tables = {(table.rows, table.dim) for table in opening.opened.tables}
    numbers = sum(
        prod(tensor.shape)
        for tensor in opening.weights.tensors.values()
        if tensor.is_float and len(tensor.shape) == 2 and tensor.shape not in tables
    )
    return torch.get_num_threads() if numbers > _LARGE else 1


def _names_one_side(labels: Path) -> bool:
    """Whether a file of labels holds one vocabulary only."""
    found = None if labels.is_dir() else read_vocabulary(labels)
    return not isinstance(found, tuple) or len(found) == 1
