"""The whole table judged by its encoder: typed classes as colours, and how good it is at finding things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject

from explorer.commands.notices import Notices
from explorer.core.class_list import TEMPLATE, sentences_of
from explorer.core.encoder_info import EncodedParts
from explorer.core.errors import ExplorerError
from explorer.core.retrieval import Classified, Retrieval
from explorer.document import Document, ZeroShot
from explorer.document.colouring import ZERO_SHOT
from explorer.jobs import Job, Jobs

_MOST_NAMED = 3


class Judging(QObject):
    """Commands that have the encoder look at every row."""

    def __init__(self, document: Document, jobs: Jobs, notices: Notices) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._classifying: Job | None = None

    def zero_shot(self, classes: Sequence[str], template: str = TEMPLATE) -> None:
        """Colour the map by the class that each row is nearest to.

        Parameters
        ----------
        classes : sequence of str
        template : str
            The sentence that each class is put into, at ``{}``.
        """
        table, encoder = self._document.table, self._document.encoder
        wanted = tuple(classes)
        if table is None:
            return
        try:
            sentences = sentences_of(wanted, template)
        except ExplorerError as error:
            self._notices.error(error)
            return
        if encoder is None or not encoder.has_text:
            self._notices.error(
                ExplorerError("There is no encoder to read the classes.", "Choose one for this table.")
            )
            return
        key = table.key

        def encoded(parts: EncodedParts) -> None:
            self._tell_unknown(wanted, parts)
            self._classifying = job = self._jobs.classify(
                key,
                parts.vectors,
                encoder.similarity_kind,
                encoder.similarity_scale,
                encoder.similarity_bias,
            )
            job.finished.connect(classified)
            job.failed.connect(self._notices.error)

        def classified(found: Classified) -> None:
            shown = self._document.table
            if shown is not None and shown.key == key:
                trained = encoder.similarity_kind is not None
                self._document.set_zero_shot(ZeroShot(wanted, found.codes, found.probability, trained))
                colouring = self._document.colouring
                self._document.set_colouring(
                    replace(colouring, by=ZERO_SHOT, hidden=frozenset(), recoloured={})
                )

        if self._classifying is not None:
            self._classifying.cancel()  # the classes typed last count
        self._classifying = job = self._jobs.encoders.encode(encoder.path, sentences)
        job.finished.connect(encoded)
        job.failed.connect(self._notices.error)

    def _tell_unknown(self, classes: Sequence[str], parts: EncodedParts) -> None:
        """Say which classes the tokenizer has no words for: what is coloured by them says little."""
        strange = [
            name
            for name, notes in zip(classes, parts.notes, strict=True)
            if any(note.kind != "cut" for note in notes)
        ]
        if strange:
            named = ", ".join(f"“{name}”" for name in strange[:_MOST_NAMED])
            more = f" and {len(strange) - _MOST_NAMED:,} more" if len(strange) > _MOST_NAMED else ""
            self._notices.tell(f"The tokenizer does not know all words of {named}{more}: they say little.")

    def evaluate(self) -> Job | None:
        """Measure how well the shown index's captions and pictures find each other."""
        table = self._document.table
        if table is None:
            return None
        key = table.key
        job = self._jobs.encoders.evaluate(table.path)

        def arrived(retrieval: Retrieval) -> None:
            shown = self._document.table
            if shown is not None and shown.key == key:
                self._document.set_retrieval(retrieval)

        job.finished.connect(arrived)
        job.failed.connect(self._notices.error)
        return job
