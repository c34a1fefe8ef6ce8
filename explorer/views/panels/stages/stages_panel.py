"""What the shown file's model makes of a sentence or picture: its stages, attention, positions, phrases."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QTabWidget, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.core.sentence import Token
from explorer.core.stages import Needs, StageRun, Stages
from explorer.views.dropped import picture_file_in
from explorer.views.panels.stages.attention_tab import AttentionTab
from explorer.views.panels.stages.input_form import InputForm
from explorer.views.panels.stages.parts_tab import PartsTab
from explorer.views.panels.stages.phrases_tab import PhrasesTab
from explorer.views.panels.stages.values_tab import ValuesTab
from explorer.views.panels.stages.wording import breakable, plain
from explorer.views.panels.token_chips import TokenChips
from explorer.views.sight import Sight

RUN_AFTER = 60
"""Milliseconds from the last key to a run."""
_LINES_OF_CHIPS = 3


class StagesPanel(QWidget):
    """A sentence's or picture's way through the model, from its rows to its vector."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._run: StageRun | None = None
        self._tokens_of_chips: list[int] = []
        self.form = InputForm()
        self.model = plain()
        hint = "Click to see its way over the map alone, and where it looks."
        self.chips = TokenChips(lines=_LINES_OF_CHIPS, choosable=True, hint=hint)
        self.remark = plain()
        self.values = ValuesTab(session.staging)
        self.attention = AttentionTab(session)
        self.parts = PartsTab(session.staging)
        self.phrases = PhrasesTab(session)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(RUN_AFTER)
        self._timer.timeout.connect(self.run)
        self.form.typed.connect(self._timer.start)
        self.form.settled.connect(self.run)
        self.form.on_map.toggled.connect(session.staging.paths.show)
        self.chips.chosen.connect(self._chip_chosen)
        self.values.row_chosen.connect(self.follow)
        self.attention.token_chosen.connect(self.follow)
        self.values.points_wanted.connect(session.staging.patches)
        self.setAcceptDrops(True)
        Sight(self).came.connect(session.staging.want)
        session.document.model_view_changed.connect(self.refresh)
        session.document.table_changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for name, tab in (
            ("Stages", self.values),
            ("Attention", self.attention),
            ("Parts", self.parts),
            ("Phrases", self.phrases),
        ):
            self.tabs.addTab(_scrolled(tab), name)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        column.addWidget(self.model)
        column.addWidget(self.form)
        column.addWidget(self.chips)
        column.addWidget(self.remark)
        column.addWidget(self.tabs, 1)
        self.setMinimumWidth(300)

    # Running

    @property
    def entrance(self) -> QWidget:
        """Where the keyboard enters the panel."""
        return self.form.entrance

    @property
    def is_waiting(self) -> bool:
        """Whether what was typed is still to be run."""
        return self._timer.isActive()

    def run(self) -> None:
        """Take what is typed and chosen through the model."""
        self._timer.stop()
        self._session.staging.run(self.form.given)

    def set_picture(self, path: str | None) -> None:
        """Give the model a picture; None takes it away."""
        self.form.set_picture(path)

    def follow(self, token: int) -> None:
        """Look at one token: its way over the map alone, and where it looks; -1 draws all ways."""
        self.chips.mark(self._chip_of(token))
        if token >= 0:
            self.attention.choose_token(token)
        self._session.staging.paths.follow(token if token >= 0 else None)

    def _chip_chosen(self, chip: int) -> None:
        self.follow(self._tokens_of_chips[chip] if chip >= 0 else -1)

    def _chip_of(self, token: int | None) -> int:
        return self._tokens_of_chips.index(token) if token in self._tokens_of_chips and token != -1 else -1

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        model = self._session.document.model_view.model
        sees = model is not None and model.needs not in (Needs.TEXT, Needs.EVENTS)
        if sees and picture_file_in(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = picture_file_in(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.set_picture(path)

    # Showing

    def refresh(self) -> None:
        """Show how far the model, and its last run, have come."""
        view, table = self._session.document.model_view, self._session.document.table
        self.setEnabled(table is not None)
        self.form.show_model(view.model)
        self._show_words()
        if view.run is not self._run:
            self._run = view.run
            self._show_run(view.run)
        self.parts.show_parts(view.parts, () if view.model is None else view.model.notes)
        self.phrases.show_comparison(view.comparison)
        reads = view.model is not None and bool(view.model.reads)
        encodes = reads and view.model is not None and view.model.needs is not Needs.PICTURE_AND_TEXT
        self.tabs.setTabVisible(self.tabs.count() - 1, encodes)

    def _show_words(self) -> None:
        view, table = self._session.document.model_view, self._session.document.table
        if table is None:
            self.model.setText("Open a checkpoint to look into its model.")
        elif view.model is not None:
            self.model.setText(view.model.name[:1].upper() + view.model.name[1:])
            self.model.setToolTip(view.model.path)
        else:
            self.model.setText("Opening the model…" if view.refusal is None else "")
        self.model.setVisible(bool(self.model.text()))
        # What holds of the model, whatever is run, stands with its parts.
        lasting = set(() if view.model is None else view.model.notes)
        notes = [] if view.run is None else [note for note in view.run.stages.notes if note not in lasting]
        if view.refusal is not None:
            notes = [str(view.refusal)]
        self.remark.setText(breakable(" ".join(notes)))
        self.remark.setVisible(bool(notes))
        if self.remark.property("quiet") != (view.refusal is None):
            self.remark.setProperty("quiet", view.refusal is None)
            self.remark.style().unpolish(self.remark)
            self.remark.style().polish(self.remark)

    def _show_run(self, run: StageRun | None) -> None:
        chips = [] if run is None else _chips(run.stages)
        self._tokens_of_chips = [token for token, _ in chips]
        followed = self._session.staging.paths.followed
        self.chips.show_tokens(tuple(chip for _, chip in chips), self._chip_of(followed))
        self.chips.setVisible(bool(chips))
        self.values.show_run(run)
        self.attention.show_run(run)


def _chips(stages: Stages) -> list[tuple[int, Token]]:
    """A typed text's tokens, each with its place; -1 for those that the model has no row for."""
    if all(stage.name != "ids" for stage in stages.stages):
        return []
    tokens = (Token(token.label, token.id if token.known else None) for token in stages.tokens)
    found = list(enumerate(tokens))
    for each in reversed(stages.left_out):
        found.insert(each.before, (-1, Token(each.label, None)))
    return found


def _scrolled(widget: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(widget)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area
