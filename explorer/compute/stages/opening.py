"""Which family a model is of, by its tensors' names and shapes, and how it is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch

from explorer.compute.encoders.weights import Weights, read_weights
from explorer.compute.stages import word_lstm
from explorer.compute.stages.base import Opening, StageModel
from explorer.core.errors import ExplorerError
from explorer.readers import open_file
from explorer.readers.vocabulary_files import read_vocabulary


class Family(Protocol):
    """What is asked of a family's module."""

    def matches(self, weights: Weights) -> bool:
        """Whether these are weights of this family, by names first, then shapes."""

    def open_model(self, opening: Opening) -> StageModel:
        """A model that is ready to run; raises ExplorerError."""


# Asked in this order: the most telling names first.
FAMILIES: tuple[Family, ...] = (word_lstm,)
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
        The file is of no family that is known here, or damaged.
    """
    path = Path(path)
    if side == "target" and labels is not None and target_labels is None and _names_one_side(Path(labels)):
        labels, target_labels = None, labels
    opened = open_file(path, labels=labels, target_labels=target_labels, header=header)
    weights = read_weights(opened.path)
    family = recognise(weights)
    try:
        return family.open_model(Opening(opened.path, weights, opened, heads))
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise ExplorerError(f"{path.name} takes more memory than there is.", detail=str(error)) from error
    except _NONSENSE as error:
        raise ExplorerError(
            f"{path.name} is put together in a way that is not understood.",
            "Its tensors do not fit each other.",
            f"{type(error).__name__}: {error}",
        ) from error


def recognise(weights: Weights) -> Family:
    """The family of some weights.

    Raises
    ------
    ExplorerError
        It is none that is known here.
    """
    for family in FAMILIES:
        if family.matches(weights):
            return family
    names = sorted(weights)
    raise ExplorerError(
        f"What {weights.path.name} does after the lookup is not known here.",
        "Known are the word LSTM, translators, GPT and music models, ViT, captioning models, CLIP and BERT.",
        "Its tensors: " + ", ".join(names[:5]) + (" …" if len(names) > 5 else ""),
    )


def _names_one_side(labels: Path) -> bool:
    """Whether a file of labels holds one vocabulary only."""
    found = None if labels.is_dir() else read_vocabulary(labels)
    return not isinstance(found, tuple) or len(found) == 1
