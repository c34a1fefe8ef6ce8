"""The one truth of an open session: sources, table, layout, colours, questions, settings. No Qt."""

from explorer.document.answer import Answer, Question
from explorer.document.document import Document
from explorer.document.encoding import IndexRun, ZeroShot
from explorer.document.layout_stage import LayoutStage
from explorer.document.sources import Source
from explorer.document.staging import ModelView, StageInput, TokenPath

__all__ = [
    "Answer",
    "Document",
    "IndexRun",
    "LayoutStage",
    "ModelView",
    "Question",
    "Source",
    "StageInput",
    "TokenPath",
    "ZeroShot",
]
