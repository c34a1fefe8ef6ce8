"""What the stages worker answers, of a model that is run stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from explorer.compute.protocol.messages import STAGES, Request, Source


@dataclass(frozen=True)
class StageRequest(Request):
    """What the stages worker answers, of the model in ``source``; see ``stages.open_stage_model``."""

    worker: ClassVar[str] = STAGES

    source: Source
    heads: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class OpenStageModel(StageRequest):
    """For a StageModelInfo."""


@dataclass(frozen=True)
class RunStages(StageRequest):
    """For a StageRun of a text, ids or a picture (a file); see ``stages.base.StageModel.run``."""

    text: str = ""
    ids: tuple[int, ...] | None = None
    picture: str | None = None
    side: str | None = None
    special: bool | None = None
    source_text: str = ""


@dataclass(frozen=True)
class FetchAttention(StageRequest):
    """For the weights of one layer of a run, float32, shape (heads, queries, keys)."""

    run: int
    name: str
    layer: int


@dataclass(frozen=True)
class FetchParts(StageRequest):
    """For ModelParts; the file need hold no model that can be run."""


@dataclass(frozen=True)
class EncodePhrases(StageRequest):
    """For Phrases."""

    phrases: tuple[str, ...]
    side: str | None = None


@dataclass(frozen=True)
class CompareWord(StageRequest):
    """For a tuple of TokenComparison."""

    first: str
    second: str
    word: str
    side: str | None = None
