"""Asking for nearest neighbours: from typed text to an answer in the document."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.commands.notices import Notices
from explorer.core.errors import ExplorerError
from explorer.core.label_index import LabelIndex
from explorer.core.query import RowTerm, format_label
from explorer.core.query_outline import outline
from explorer.core.results import SearchResult
from explorer.document import Answer, Document, Question
from explorer.document.settings import Settings
from explorer.jobs import Job, Jobs


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
        self._waiting: str | None = None
        self._draft: Question | None = None
        self._building: Generator[float, None, LabelIndex] | None = None
        self._index: LabelIndex | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._build_on)

    def begin(self) -> None:
        """Take up a new table: index its labels, a slice at a time so that the window stays free."""
        self._stop_search()
        self._waiting = None
        self._building = None
        self._index = None
        table = self._document.table
        if table is None or table.labels is None:
            self._timer.stop()
            self.index_ready.emit()
            return
        self._building = LabelIndex.in_slices(table.labels)
        self._timer.start()

    def _build_on(self) -> None:
        if self._building is None:
            self._timer.stop()
            return
        try:
            next(self._building)
        except StopIteration as ended:
            self._timer.stop()
            self._building = None
            self._index = ended.value
            self.index_ready.emit()
            if self._waiting is not None:
                self.ask(self._waiting)

    @property
    def index(self) -> LabelIndex | None:
        """The shown table's labels, ready to be searched; None while they are not, or without any."""
        table = self._document.table
        if self._index is None or table is None or self._index.labels is not table.labels:
            return None
        return self._index

    @property
    def is_indexing(self) -> bool:
        """Whether the labels are still being indexed."""
        return self._building is not None

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
        understood = outline(text, self.index, table.listing.rows)
        resolved = understood.resolved
        if resolved is None:
            assert understood.problem is not None
            raise understood.problem
        return self._with_options(Question(text.strip(), resolved.terms, resolved.matched, resolved.notes))

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
        """Ask what was typed; blank text clears the answer.

        Parameters
        ----------
        text : str
        settled : bool
            False for a text that is still being typed: it is not remembered among the earlier
            queries, and what it grows into takes its place in the history.
        """
        if not text.strip():
            self._stop_search()
            self._document.set_answer(None)
            return
        if self.is_indexing:
            self._waiting = text if settled else None
            return
        self._waiting = None
        try:
            question = self.question(text)
        except ExplorerError as error:
            self.rejected.emit(error)
            return
        if settled:
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
        return before.startswith(now) or now.startswith(before)

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
            self._put(self._with_options(Question(self.text_for(row), (RowTerm(1.0, row),))))

    def text_for(self, row: int) -> str:
        """The shortest text that asks for exactly this row."""
        table = self._document.table
        if (
            table is not None
            and table.labels is not None
            and self.index is not None
            and not table.labels.missing[row]
        ):
            label = format_label(table.labels[row])
            resolved = outline(label, self.index, table.listing.rows).resolved
            if resolved is not None and resolved.terms == (RowTerm(1.0, row),):
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
            self._put(question)

    def _put(self, question: Question, *, in_place: bool = False) -> None:
        table = self._document.table
        if table is None:
            return
        self._stop_search()
        job = self._jobs.search(
            table.key,
            question.terms,
            question.metric,
            question.k,
            all_rows=question.all_rows,
            include_query=question.include_query,
        )
        self._search = job

        def arrived(result: SearchResult) -> None:
            if self._search is job:
                self._search = None
                self._document.set_answer(Answer(question, result), in_place=in_place)

        def failed(error: ExplorerError) -> None:
            if self._search is job:
                self._search = None
            self.rejected.emit(error)

        job.finished.connect(arrived)
        job.failed.connect(failed)

    def _stop_search(self) -> None:
        if self._search is not None:
            self._search.cancel()
            self._search = None

    def close(self) -> None:
        """Stop what is under way."""
        self._timer.stop()
        self._stop_search()
