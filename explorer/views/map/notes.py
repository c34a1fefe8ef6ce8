"""What stands at the map's top left, on screen and in saved pictures."""

from __future__ import annotations

from explorer.core.table import MODALITY, Role
from explorer.document import Document

DRAWN_AS_THEY_ARE = 2
"""Tables of so few dimensions are not projected."""


def note_of(document: Document) -> str:
    """What must be known to read the map at all; blank for most tables.

    Vectors of pictures and of captions lie in two cones apart from each other: whether that is shown, or was
    taken away for the picture, is said wherever the map is.
    """
    table = document.table
    if table is None or MODALITY not in table.metadata or document.positions is None:
        return ""
    kinds = "Pictures and captions" if table.listing.role is Role.JOINT else "Modalities"
    if document.drawn.centred:
        return f"{kinds}, each centred (for the picture only)"
    if document.modality_gap is None:
        return f"{kinds} as they are"
    return f"{kinds} as they are: their means lie {document.modality_gap:.2f} apart"


def subtitle_of(document: Document) -> str:
    """What was asked and how the rows were laid out, for pictures that leave the window."""
    drawn, parts = document.drawn, []
    if document.answer is not None:
        question = document.answer.question
        parts.append(f"nearest to {question.title} ({question.metric.value})")
    if document.table is not None and document.table.listing.dim <= DRAWN_AS_THEY_ARE:
        parts.append("the two numbers of each row")
    elif drawn.method == "umap":
        parts.append(f"UMAP, {drawn.neighbours} neighbours, minimum distance {drawn.min_dist:g}")
        parts.append(f"seed {drawn.seed}")
    else:
        parts.append("PCA")
    if document.trust is not None:
        parts.append(f"trustworthiness {document.trust.trustworthiness:.2f}")
    note = note_of(document)
    return " · ".join([*parts, note[0].lower() + note[1:]] if note else parts)
