"""A model that is being looked into: what it was given, and what it made of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.model_parts import ModelParts
from explorer.core.stages import StageModelInfo, StageRun, TokenComparison


@dataclass(frozen=True)
class StageInput:
    """What a model is given.

    Attributes
    ----------
    text : str
    picture : str or None
        A file.
    side : str or None
        ``"source"`` or ``"target"``; None for the model's own first.
    special : bool or None
        Whether the text is wrapped in the tokens that begin and end a sequence; None as is usual.
    heads : int or None
        Into how many the model's attention is split, where a person has said.
    source : str
        The sentence that a translator's target side looks at.
    """

    text: str = ""
    picture: str | None = None
    side: str | None = None
    special: bool | None = None
    heads: int | None = None
    source: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to run."""
        return not self.text.strip() and self.picture is None


@dataclass(frozen=True, eq=False)
class TokenPath:
    """A token's way over the map, stage by stage.

    Attributes
    ----------
    label : str
    stages : tuple of str
        Names of the stages that have a place.
    places : float32 array, shape (stages, dimensions)
        Where each lies, in the map's own coordinates.
    """

    label: str
    stages: tuple[str, ...]
    places: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ModelView:
    """How far looking into the shown file's model has come.

    Attributes
    ----------
    model : StageModelInfo or None
        None while it is not open.
    refusal : ExplorerError or None
        Why there is no model, or why its last input could not be run.
    given : StageInput
    run : StageRun or None
        Of ``given``, or of what was given before it.
    parts : ModelParts or None
    comparison : tuple of TokenComparison
    """

    model: StageModelInfo | None = None
    refusal: ExplorerError | None = None
    given: StageInput = field(default_factory=StageInput)
    run: StageRun | None = None
    parts: ModelParts | None = None
    comparison: tuple[TokenComparison, ...] = ()
