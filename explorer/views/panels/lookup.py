"""One-hot beside learned: what a look-up does with a sentence, and how alike rows are before and after."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.labels import label_of
from explorer.core.sentence import Token, tokens_of
from explorer.jobs import Job
from explorer.views.label_text import shown_label
from explorer.views.panels.form import heading, quiet
from explorer.views.panels.matrix_pictures import OneHotPicture, Scale, ValuesPicture
from explorer.views.panels.neighbour_model import signed
from explorer.views.panels.similarity_histogram import SimilarityHistogram
from explorer.views.panels.token_chips import TokenChips
from explorer.views.sight import Sight

_HEIGHTS = 160, 2.0  # of a matrix at the most, and of its rows at the least
_MOST_TOKENS = 256
_READ_AFTER = 150


class LookupPanel(QWidget):
    """A sentence's tokens, their one-hot rows, the rows that these pick from the table."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._fetching: Job | None = None
        self._names: list[str] = []
        self.tokens: tuple[Token, ...] = ()
        self.field = QLineEdit()
        self.field.setPlaceholderText("Type a sentence")
        self.field.setAccessibleName("Sentence to look up")
        self.field.setClearButtonEnabled(True)
        self.chips = TokenChips()
        self.remark = quiet()
        self.one_hot = OneHotPicture(*_HEIGHTS)
        self.one_hot_shape, self.table_shape, self.values_shape = (_shape() for _ in range(3))
        self.one_hot_words = quiet()
        self.values = ValuesPicture(*_HEIGHTS)
        self.reach = quiet()
        self.scaled = quiet()
        self.histogram = SimilarityHistogram()
        self.histogram.setAccessibleName("Similarities of all pairs of rows")
        self.pairs = quiet()
        self.pairs_title = heading("How alike rows are, with one-hot at 0")
        self.pairs_title.setWordWrap(True)
        self._lay_out()
        self._sight = Sight(self)
        self._sight.came.connect(self._came)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_READ_AFTER)
        self._timer.timeout.connect(self.read)
        self.field.textEdited.connect(lambda: self._timer.start())
        self.field.returnPressed.connect(self.read)
        session.asking.index_ready.connect(self.read)
        document = session.document
        document.table_changed.connect(self._table_changed)
        document.answer_changed.connect(self._answer_changed)
        document.pairs_changed.connect(self._show_pairs)
        self._table_changed()

    def _lay_out(self) -> None:
        scale = QHBoxLayout()
        scale.setSpacing(8)
        scale.addWidget(Scale(), 0, Qt.AlignmentFlag.AlignVCenter)
        scale.addWidget(self.reach, 1)
        self.matrices = QWidget()
        column = QVBoxLayout(self.matrices)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(4)
        column.addLayout(_titled("One-hot", self.one_hot_shape))
        column.addWidget(self.one_hot)
        column.addWidget(self.one_hot_words)
        column.addSpacing(4)
        column.addLayout(_titled("@ table", self.table_shape))
        column.addSpacing(4)
        column.addLayout(_titled("= looked up", self.values_shape))
        column.addWidget(self.values)
        column.addLayout(scale)
        column.addWidget(self.scaled)
        self.below = QWidget()
        below = QVBoxLayout(self.below)
        below.setContentsMargins(0, 12, 0, 0)
        below.setSpacing(4)
        below.addWidget(self.pairs_title)
        below.addWidget(self.histogram)
        below.addWidget(self.pairs)
        body = QWidget()
        whole = QVBoxLayout(body)
        whole.setContentsMargins(12, 8, 12, 12)
        whole.setSpacing(8)
        for part in (self.field, self.chips, self.remark, self.matrices, self.below):
            whole.addWidget(part)
        whole.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(body)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        self.setMinimumWidth(240)

    @property
    def entrance(self) -> QWidget:
        """What takes the keys when one comes here."""
        return self.field

    # Reading

    def _table_changed(self) -> None:
        table = self._session.document.table
        self.setEnabled(table is not None)
        self.below.setVisible(table is not None)
        self.read()
        self._show_pairs()
        if self._sight.is_seen:
            self._session.mapping.measure_pairs()

    def _answer_changed(self) -> None:
        if not self.field.text().strip():
            self.read()

    def read(self) -> None:
        """Look up the sentence; where none is typed, the rows of the present question.

        Waits until the panel is seen: behind another tab nothing needs to be fetched.
        """
        self._timer.stop()
        if not self._sight.is_seen:
            return
        document = self._session.document
        table, answer = document.table, document.answer
        text = self.field.text()
        if table is None:
            tokens: tuple[Token, ...] = ()
        elif text.strip():
            tokens = tokens_of(text, self._session.asking.index, table.listing.rows)
        else:
            rows = () if answer is None else answer.question.rows
            tokens = tuple(Token(label_of(table.labels, row), row) for row in rows)
        self._cut = max(len(tokens) - _MOST_TOKENS, 0)
        self.tokens = tokens[:_MOST_TOKENS]
        self._show_tokens()

    @property
    def rows(self) -> list[int]:
        """The rows looked up, in order; tokens without one are passed over."""
        return [token.row for token in self.tokens if token.row is not None]

    def _show_tokens(self) -> None:
        table = self._session.document.table
        self.chips.show_tokens(self.tokens)
        self.chips.setVisible(bool(self.tokens))
        rows = self.rows
        self.remark.setText(self._remark(len(self.tokens) - len(rows)))
        self.remark.setVisible(bool(self.remark.text()))
        self.matrices.setVisible(bool(rows))
        if self._fetching is not None:
            # A result that is already on its way must not be taken for that of the next rows.
            self._fetching.finished.disconnect(self._show_values)
            self._fetching.cancel()
            self._fetching = None
        if table is None or not rows:
            return
        count, width, dim = len(rows), table.listing.rows, table.listing.dim
        names = [shown_label(label_of(table.labels, row)) for row in rows]
        tips = [f"{name}: 1 in column {row:,}, 0 elsewhere" for name, row in zip(names, rows, strict=True)]
        self.one_hot.show_columns(rows, width, tips)
        self.one_hot_shape.setText(f"{count:,} × {width:,}")
        self.table_shape.setText(f"{width:,} × {dim:,}")
        self.values_shape.setText(f"{count:,} × {dim:,}")
        ones = "one 1" if count == 1 else f"{count:,} ones"
        self.one_hot_words.setText(f"{ones}, {count * (width - 1):,} zeros")
        self.scaled.setText(f"Times √{dim} = {sqrt(dim):.3g}, as a Transformer's own lookup does.")
        self.scaled.setVisible(table.scaled)
        self._names = names
        self._fetching = self._session.jobs.rows(table.key, np.asarray(rows, np.int64))
        self._fetching.finished.connect(self._show_values)
        self._fetching.failed.connect(self._session.notices.error)

    def _show_values(self, values: NDArray[np.float32]) -> None:
        self._fetching = None
        lengths = np.sqrt(np.square(values.astype(np.float64)).sum(axis=1))
        tips = [f"{name}: length {length:.3g}" for name, length in zip(self._names, lengths, strict=True)]
        self.values.show_values(values, tips)
        self.reach.setText(f"−{self.values.reach:.2g} to {self.values.reach:.2g}")

    def _remark(self, unknown: int) -> str:
        if self._session.document.table is None:
            return ""
        if not self.tokens:
            return "The words of a sentence, or of the query, stand here as one-hot and as looked-up rows."
        parts = []
        if unknown:
            parts.append(
                f"{unknown} of {len(self.tokens)} tokens have no row."
                if unknown > 1
                else f"1 of {len(self.tokens)} tokens has no row."
            )
        if self._cut:
            parts.append(f"The first {_MOST_TOKENS} tokens are shown; {self._cut:,} more follow.")
        return " ".join(parts)

    # Pairs

    def _show_pairs(self) -> None:
        pairs = self._session.document.pairs
        if pairs is None:
            self.histogram.clear()
            self.pairs.setText("Counting pairs…")
            return
        self.histogram.show_values(pairs.counts, pairs.edges, line=0.0, unit="pairs")
        self.pairs.setText(
            "Every pair of one-hot rows: 0, equally far. Learned rows: "
            f"{signed(pairs.mean, 2)} ± {pairs.std:.2f} over {pairs.pairs:,} pairs."
        )

    def _came(self) -> None:
        self.read()
        self._session.mapping.measure_pairs()


def _shape() -> QLabel:
    label = QLabel()
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return label


def _titled(name: str, shape: QLabel) -> QHBoxLayout:
    line = QHBoxLayout()
    line.addWidget(heading(name))
    line.addWidget(shape, 1)
    return line
