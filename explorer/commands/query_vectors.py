"""Texts and pictures that were asked, as vectors: encoded once, and summed to a query."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.encoder_info import EncodedParts, EncoderInfo
from explorer.core.errors import ExplorerError
from explorer.core.listing import LoadedTable
from explorer.core.query_sum import weighted_sum
from explorer.core.query_text import placed
from explorer.core.text_note import TextNote
from explorer.document import Question

_MOST = 500

_Part = tuple[str, str, str, int]  # encoder's fingerprint, kind, text or path, time of the file


class QueryVectors:
    """The last few hundred parts of queries that encoders have read."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Part, tuple[NDArray[np.float64], tuple[TextNote, ...]]] = OrderedDict()
        self._times: dict[str, int] = {}

    def missing(self, encoder: EncoderInfo, question: Question) -> tuple[list[str], list[str]]:
        """Texts and pictures of a question that are still to be encoded."""
        texts = dict.fromkeys(term.text for term in question.texts)
        paths = dict.fromkeys(term.path for term in question.pictures)
        self._times |= {path: _modified(path) for path in paths}
        return (
            [text for text in texts if _text(encoder, text) not in self._known],
            [path for path in paths if self._picture(encoder, path) not in self._known],
        )

    def put(
        self, encoder: EncoderInfo, texts: Sequence[str], pictures: Sequence[str], encoded: EncodedParts
    ) -> None:
        """Take in what was missing."""
        parts = [
            *(_text(encoder, text) for text in texts),
            *(self._picture(encoder, path) for path in pictures),
        ]
        notes = [*encoded.notes, *(() for _ in pictures)]
        for part, vector, own in zip(parts, encoded.vectors, notes, strict=True):
            self._known[part] = np.asarray(vector, np.float64), own
        while len(self._known) > _MOST:
            self._known.popitem(last=False)

    def sum(
        self, encoder: EncoderInfo, question: Question
    ) -> tuple[NDArray[np.float64], tuple[TextNote, ...]]:
        """The weighted sum of a question's texts and pictures, each of unit length, and notes on its text.

        Raises
        ------
        ExplorerError
            A part has no vector, or they cancel out.
        """
        parts: list[tuple[float, NDArray[np.floating]]] = []
        notes: list[TextNote] = []
        for term in question.texts:
            vector, own = self._known[_text(encoder, term.text)]
            parts.append((term.weight, vector))
            notes += (placed(note, term, question.text) for note in own)
        for picture in question.pictures:
            vector, _ = self._known[self._picture(encoder, picture.path)]
            parts.append((picture.weight, vector))
        return weighted_sum(parts, may_cancel=bool(question.terms)), tuple(notes)

    def _picture(self, encoder: EncoderInfo, path: str) -> _Part:
        """By the file's time when it was last asked for: another content is another part."""
        return encoder.fingerprint, "picture", path, self._times.get(path, 0)


def _text(encoder: EncoderInfo, text: str) -> _Part:
    return encoder.fingerprint, "text", text, 0


def _modified(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


def picture_without_vector(table: LoadedTable | None, question: Question) -> ExplorerError | None:
    """What to say of a row asked for whose picture could not be used; its numbers alone do not tell why."""
    if table is None or table.pictures is None:
        return None
    for row in question.rows:
        if not 0 <= row < table.listing.rows or table.health.healthy[row]:
            continue
        if reason := table.pictures.reason(row):
            return ExplorerError(f"Row #{row} ({table.pictures.name(row)}) has no vector: {reason}.")
    return None


def able(encoder: EncoderInfo | None, question: Question) -> EncoderInfo:
    """The encoder, where it can read all that is asked.

    Raises
    ------
    ExplorerError
    """
    if encoder is None:
        raise ExplorerError("There is no encoder for this table.", "Choose the one that made its vectors.")
    if question.pictures and not encoder.has_images:
        raise ExplorerError(f"{encoder.name} sees no pictures.", "Choose an encoder such as CLIP.")
    if question.texts and not encoder.has_text:
        raise ExplorerError(f"{encoder.name} reads no text.", "Choose an encoder such as CLIP.")
    return encoder
