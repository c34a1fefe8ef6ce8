"""Asking for nearest neighbours: from typed text to an answer in the document."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from explorer.commands.label_indexing import LabelIndexing
from explorer.commands.notices import Notices
from explorer.commands.query_vectors import QueryVectors, able, picture_without_vector
from explorer.core.encoder_info import EncodedParts, EncoderInfo
from explorer.core.errors import ExplorerError
from explorer.core.label_index import LabelIndex
from explorer.core.query import RowTerm, format_label, parse_partial
from explorer.core.query_outline import outline
from explorer.core.query_text import PictureTerm, Understood, understand
from explorer.core.results import SearchResult
from explorer.core.table import Role
from explorer.core.text_note import TextNote
from explorer.core.wording import counted
from explorer.document import Answer, Document, Question
from explorer.document.settings import Settings
from explorer.jobs import Job, Jobs

_OF_PICTURES = (Role.IMAGES, Role.JOINT)
LONGEST_TYPED = 200
"""A longer label is none to type: its row is asked for by number."""
_MOST_IN_MEAN = 20_000
_MOST_NAMED = 5


class Asking(QObject):
    """Commands that put questions to the table on the map.

    Signals
    -------
    index_ready : the table's labels can be completed and asked for.
    rejected(ExplorerError) : what was typed cannot be asked; shown by the query line.
    suggested(str, tuple of str) : an unknown label and those closest to it.
    """

    index_ready = Signal()
    rejected = Signal(object)
    suggested = Signal(str, object)

    def __init__(self, document: Document, jobs: Jobs, notices: Notices, settings: Settings) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._settings = settings
        self._search: Job | None = None
        self._suggesting: Job | None = None
        self._waiting: tuple[str, bool] | None = None
        self._encoder_loading = False
        self._draft: Question | None = None
        self._parts = QueryVectors()
        self._pasted: tempfile.TemporaryDirectory[str] | None = None
        self._labels = LabelIndexing()
        self._labels.ready.connect(self._labels_ready)

    def begin(self) -> None:
        """Take up a new table: index its labels."""
        self._stop_search()
        self._waiting = None
        table = self._document.table
        self._labels.begin(None if table is None else table.labels)

    def _labels_ready(self) -> None:
        self.index_ready.emit()
        self._ask_waiting()

    def encoder_loading(self, loading: bool) -> None:
        """Have words wait for an encoder that is on its way, or ask what has waited for it."""
        self._encoder_loading = loading
        self._ask_waiting()

    def _ask_waiting(self) -> None:
        if self._waiting is not None and not self.is_indexing:
            text, settled = self._waiting
            self.ask(text, settled=settled)

    @property
    def index(self) -> LabelIndex | None:
        """The shown table's labels, ready to be searched; None while they are not, or without any."""
        table = self._document.table
        return None if table is None or table.labels is None else self._labels.of(table.labels)

    @property
    def is_indexing(self) -> bool:
        """Whether the labels are still being indexed."""
        return self._labels.is_building

    def question(self, text: str) -> Question:
        """What a typed text asks for, with the present options.

        Raises
        ------
        ExplorerError
            Where the text does not parse or names something that is not there. What is closest to
            an unknown label is not looked for here; ``suggest`` does so outside the window's thread.
        """
        table = self._document.table
        if table is None:
            raise ExplorerError("There is no table to ask.", "Open a file first.")
        typed = text.strip()
        found = self._understood(typed) if typed else Understood(())
        question = Question(typed, found.rows, found.matched, found.notes, texts=found.texts)
        return self._with_options(replace(question, pictures=self._document.query_pictures))

    def _understood(self, text: str) -> Understood:
        """Rows and texts of what was typed: texts only where an encoder reads them."""
        table, encoder = self._document.table, self._document.encoder
        assert table is not None
        if encoder is not None and encoder.has_text:
            return understand(text, self.index, table.listing.rows, words_first=self.words_first)
        labels = outline(text, self.index, table.listing.rows)
        if labels.resolved is None:
            assert labels.problem is not None
            if table.listing.role in _OF_PICTURES and parse_partial(text).problem is None:
                raise ExplorerError(
                    f"There is no encoder to read “{text}”.", "Choose the one that made these vectors."
                )
            raise labels.problem
        resolved = labels.resolved
        return Understood(resolved.terms, (), resolved.matched, resolved.notes)

    @property
    def words_first(self) -> bool:
        """Whether plain words go to the encoder even where they are a label: rows are pictures."""
        table, encoder = self._document.table, self._document.encoder
        reads = encoder is not None and encoder.has_text
        return reads and table is not None and table.listing.role in _OF_PICTURES

    def _with_options(self, question: Question) -> Question:
        document = self._document
        return replace(
            question,
            metric=document.metric,
            k=document.k,
            all_rows=document.all_rows,
            include_query=document.include_query,
        )

    def ask(self, text: str, *, settled: bool = True) -> None:
        """Ask what was typed, together with the pictures that are attached; nothing at all clears the answer.

        Parameters
        ----------
        text : str
        settled : bool
            False for a text that is still being typed: it is not remembered among the earlier
            queries, and what it grows into takes its place in the history.
        """
        if not text.strip() and not self._document.query_pictures:
            self._waiting = None
            self._stop_search()
            self._document.set_answer(None)
            return
        if self.is_indexing:
            self._waiting = (text, True) if settled else None
            return
        self._waiting = None
        try:
            question = self.question(text)
        except ExplorerError as error:
            if self._encoder_loading:
                self._waiting = text, settled
            else:
                self.rejected.emit(error)
            return
        if settled and question.text:
            self._settings.remember_query(question.text)
        in_place = self._grew_from_draft(question)
        self._draft = None if settled else question
        shown = self._document.answer
        if self._search is None and shown is not None and shown.question == question:
            return
        self._put(question, in_place=in_place)

    def _grew_from_draft(self, question: Question) -> bool:
        """Whether the answer shown is to this very text, half typed."""
        shown = self._document.answer
        if self._draft is None or shown is None or shown.question != self._draft:
            return False
        before, now = self._draft.text, question.text
        grew = before.startswith(now) or now.startswith(before)
        return grew and self._draft.pictures == question.pictures

    def suggest(self, text: str) -> None:
        """Look for the labels closest to an unknown one; ``suggested`` follows, for the last text only."""
        table = self._document.table
        if self._suggesting is not None:
            self._suggesting.cancel()
            self._suggesting = None
        if table is None or table.labels is None:
            return
        job = self._jobs.suggest(table.key, text)
        self._suggesting = job

        def arrived(labels: tuple[str, ...]) -> None:
            if self._suggesting is job:
                self._suggesting = None
                self.suggested.emit(text, labels)

        job.finished.connect(arrived)
        job.failed.connect(self._notices.error)

    def ask_row(self, row: int) -> None:
        """Ask for the neighbours of one row, as a click on it does."""
        table = self._document.table
        if table is not None and 0 <= row < table.listing.rows:
            self._document.set_query_pictures(())
            self._put(self._with_options(Question(self.text_for(row), (RowTerm(1.0, row),))))

    def ask_mean(self, rows: np.ndarray) -> None:
        """Ask for the neighbours of some rows' mean; of very many rows, of that of an even sample."""
        table = self._document.table
        if table is None:
            return
        healthy = rows[table.health.healthy[rows]]
        if not len(healthy):
            self._notices.tell("None of these rows can be asked for: all are quarantined.")
            return
        asked = healthy[:: -(-len(healthy) // _MOST_IN_MEAN)].tolist()
        text = f"mean of {counted(len(healthy), 'row')}"
        if len(asked) <= _MOST_NAMED:
            text = " + ".join(map(self.text_for, asked))
        weight = 1.0 / len(asked)
        self._document.set_query_pictures(())
        self._put(self._with_options(Question(text, tuple(RowTerm(weight, row) for row in asked))))

    def text_for(self, row: int) -> str:
        """The shortest text that asks for exactly this row."""
        table = self._document.table
        if (
            table is not None
            and table.labels is not None
            and self.index is not None
            and not table.labels.missing[row]
            and len(name := table.labels[row]) <= LONGEST_TYPED
            and "\n" not in name
        ):
            label = format_label(name, quoted=self.words_first)
            found = understand(label, self.index, table.listing.rows, words_first=self.words_first)
            if found.rows == (RowTerm(1.0, row),) and not found.texts:
                return label
        return f"#{row}"

    def again(self) -> None:
        """Ask the present question again with the present options."""
        if self._document.answer is not None:
            self._put(self._with_options(self._document.answer.question), in_place=True)

    def more(self, k: int) -> None:
        """Ask the present question again for more of its nearest rows, unless a question is under way."""
        answer = self._document.answer
        if answer is not None and self._search is None and k > answer.question.k:
            self._put(replace(answer.question, k=k), in_place=True)

    def can_go(self, steps: int) -> bool:
        """Whether there is a question to go back (negative) or forward to."""
        questions = self._document.questions
        if steps < 0:
            return questions.can_go_back or (self._is_cleared and questions.current is not None)
        return questions.can_go_forward

    @property
    def _is_cleared(self) -> bool:
        """Whether the answer was taken away: the last question is one step back, then."""
        return self._document.answer is None

    def go(self, steps: int) -> None:
        """Go back (negative) or forward through the questions asked."""
        if steps < 0 and self._is_cleared:
            steps += 1
        question = self._document.questions.go(steps)
        if question is not None:
            self._document.set_query_pictures(question.pictures)
            self._put(question)

    def _put(self, question: Question, *, in_place: bool = False) -> None:
        """Have a question answered; what it has for the encoder is encoded first."""
        self._stop_search()
        if (lacking := picture_without_vector(self._document.table, question)) is not None:
            self.rejected.emit(lacking)
            return
        if not question.texts and not question.pictures:
            self._find(question, None, (), in_place)
            return
        encoder = self._document.encoder
        try:
            encoder = able(encoder, question)
        except ExplorerError as error:
            self.rejected.emit(error)
            return
        texts, pictures = self._parts.missing(encoder, question)
        if not texts and not pictures:
            self._find_sum(encoder, question, in_place)
            return
        job = self._jobs.encoders.encode(encoder.path, texts, pictures)
        self._search = job

        def arrived(encoded: EncodedParts) -> None:
            self._parts.put(encoder, texts, pictures, encoded)
            if self._search is job:
                self._find_sum(encoder, question, in_place)

        job.finished.connect(arrived)
        job.failed.connect(lambda error: self._refuse(job, error))

    def _find_sum(self, encoder: EncoderInfo, question: Question, in_place: bool) -> None:
        self._search = None
        try:
            vector, notes = self._parts.sum(encoder, question)
        except ExplorerError as error:
            self.rejected.emit(error)
            return
        self._find(question, vector, notes, in_place)

    def _find(
        self, question: Question, vector: np.ndarray | None, notes: tuple[TextNote, ...], in_place: bool
    ) -> None:
        table = self._document.table
        if table is None:
            return
        job = self._jobs.search(
            table.key,
            question.terms,
            question.metric,
            question.k,
            all_rows=question.all_rows,
            include_query=question.include_query,
            vector=vector,
        )
        self._search = job

        def arrived(result: SearchResult) -> None:
            if self._search is job:
                self._search = None
                self._document.set_answer(Answer(question, result, notes), in_place=in_place)

        job.finished.connect(arrived)
        job.failed.connect(lambda error: self._refuse(job, error))

    def _refuse(self, job: Job, error: ExplorerError) -> None:
        if self._search is job:
            self._search = None
        self.rejected.emit(error)

    def _stop_search(self) -> None:
        if self._search is not None:
            self._search.cancel()
            self._search = None

    # Pictures

    def ask_picture(self, path: str, weight: float = 1.0, text: str = "") -> None:
        """Ask for what is nearest to a picture file, together with a text where one is typed.

        The picture stays attached to what is asked next, until ``remove_pictures``.
        """
        self._document.set_query_pictures((PictureTerm(weight, str(Path(path).absolute())),))
        self.ask(text)

    def paste_picture(self, data: bytes, text: str = "") -> None:
        """Ask for what is nearest to a picture that no file holds, given as a PNG's or JPEG's bytes."""
        if self._pasted is None:
            self._pasted = tempfile.TemporaryDirectory(prefix="embedding-explorer-pasted-")
        number = len(list(Path(self._pasted.name).iterdir()))
        folder = Path(self._pasted.name, str(number))
        folder.mkdir()
        (folder / "pasted picture").write_bytes(data)
        self.ask_picture(str(folder / "pasted picture"), text=text)

    def more_like(self, row: int) -> None:
        """Ask for what is nearest to a row's picture."""
        self.ask_row(row)

    def close(self) -> None:
        """Stop what is under way."""
        self._labels.close()
        self._stop_search()
        if self._pasted is not None:
            self._pasted.cleanup()
            self._pasted = None
