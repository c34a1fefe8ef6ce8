"""What the shown file's model makes of a sentence or picture: its stages, attention, positions, phrases."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDockWidget,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.sentence import Token
from explorer.core.stages import Needs, StageModelInfo, StageRun
from explorer.document import StageInput
from explorer.views.dropped import picture_file_in
from explorer.views.panels.form import quiet
from explorer.views.panels.stages.attention_tab import AttentionTab
from explorer.views.panels.stages.parts_tab import PartsTab
from explorer.views.panels.stages.phrases_tab import PhrasesTab
from explorer.views.panels.stages.values_tab import ValuesTab
from explorer.views.panels.token_chips import TokenChips

PICTURES = "Pictures (*.jpg *.jpeg *.png *.webp *.gif *.bmp *.tif *.tiff *.heic *.avif);;All files (*)"
RUN_AFTER = 150
"""Milliseconds from the last key to a run."""
_MOST_CHIPS = 256
_ASKS = {
    Needs.TEXT: "Type a sentence",
    Needs.EVENTS: "note_on_60 time_shift_10 note_off_60",
    Needs.PICTURE: "",
    Needs.PICTURE_AND_TEXT: "Type a caption for the picture",
    Needs.EITHER: "Type a sentence, or choose a picture",
}


class StagesPanel(QWidget):
    """A sentence's or picture's way through the model, from its rows to its vector."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._seen = False
        self._dock: QDockWidget | None = None
        self._run: StageRun | None = None
        self.field = QLineEdit()
        self.field.setAccessibleName("Text for the model")
        self.field.setClearButtonEnabled(True)
        self.picture = QPushButton("Picture…")
        self.side = QComboBox()
        self.side.setAccessibleName("Side")
        self.special = QCheckBox("Begin and end")
        self.special.setToolTip("Within the tokens that begin and end a sequence, as in training")
        self.on_map = QCheckBox("On the map")
        self.on_map.setChecked(True)
        self.on_map.setToolTip("Each token's way over the map, from stage to stage")
        self.model = quiet()
        self.chips = TokenChips()
        self.remark = quiet()
        self.values = ValuesTab()
        self.attention = AttentionTab(session)
        self.parts = PartsTab()
        self.phrases = PhrasesTab(session)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(RUN_AFTER)
        self._timer.timeout.connect(self.run)
        self.field.textEdited.connect(lambda: self._timer.start())
        self.field.returnPressed.connect(self.run)
        self.picture.clicked.connect(self.choose_picture)
        self.side.activated.connect(self.run)
        self.special.toggled.connect(self.run)
        self.on_map.toggled.connect(session.staging.paths.show)
        self.values.points_wanted.connect(session.staging.patches)
        self.setAcceptDrops(True)
        self._picture: str | None = None
        session.document.model_view_changed.connect(self.refresh)
        session.document.table_changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(self.field, 1)
        line.addWidget(self.picture)
        choices = QHBoxLayout()
        choices.setSpacing(12)
        for part in (self.side, self.special, self.on_map):
            choices.addWidget(part)
        choices.addStretch(1)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for name, tab in (
            ("Stages", self.values),
            ("Attention", self.attention),
            ("Positions", self.parts),
            ("Phrases", self.phrases),
        ):
            self.tabs.addTab(_scrolled(tab), name)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        column.addWidget(self.model)
        column.addLayout(line)
        column.addLayout(choices)
        column.addWidget(self.chips)
        column.addWidget(self.remark)
        column.addWidget(self.tabs, 1)
        self.setMinimumWidth(300)

    # Running

    @property
    def entrance(self) -> QWidget:
        """Where the keyboard enters the panel."""
        return self.field if self.field.isVisibleTo(self) and self.field.isEnabled() else self.picture

    @property
    def given(self) -> StageInput:
        """What is typed and chosen."""
        model = self._session.document.model_view.model
        side = self.side.currentData() if model is not None and model.sides else None
        special = (
            None if model is None or self.special.isChecked() == model.special else self.special.isChecked()
        )
        return StageInput(self.field.text(), self._picture, side, special)

    def run(self) -> None:
        """Take what is typed and chosen through the model."""
        self._timer.stop()
        self._session.staging.run(self.given)

    def choose_picture(self) -> None:
        """Choose a picture's file, or take the chosen one away."""
        if self._picture is not None:
            self.set_picture(None)
            return
        path, _ = QFileDialog.getOpenFileName(self, "Picture", "", PICTURES)
        if path:
            self.set_picture(path)

    def set_picture(self, path: str | None) -> None:
        """Give the model a picture; None takes it away."""
        self._picture = path
        name = "" if path is None else Path(path).name
        self.picture.setText("Picture…" if path is None else f"{name[:14]}{'…' if len(name) > 14 else ''} ×")
        self.picture.setToolTip("" if path is None else f"{path}: click to take it away")
        self.run()

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
        self._show_model(view.model)
        self._show_words()
        if view.run is not self._run:
            self._run = view.run
            self._show_run(view.run)
        self.parts.show_parts(view.parts)
        self.phrases.show_comparison(view.comparison)

    def _show_model(self, model: StageModelInfo | None) -> None:
        needs = Needs.TEXT if model is None else model.needs
        reads = model is not None and bool(model.reads)
        self.field.setVisible(needs is not Needs.PICTURE)
        # What is typed while the model is being opened is run as soon as it is.
        self.field.setEnabled(reads or model is None)
        self.field.setPlaceholderText(
            _ASKS[needs] if reads or model is None else "No vocabulary: give the file its labels"
        )
        self.picture.setVisible(needs not in (Needs.TEXT, Needs.EVENTS))
        self.special.setVisible(reads and needs is not Needs.EVENTS)
        sides = () if model is None else model.sides
        if [self.side.itemData(i) for i in range(self.side.count())] != list(sides):
            self.side.clear()
            for side in sides:
                self.side.addItem(f"{side.capitalize()} side", side)
            self.special.blockSignals(True)
            self.special.setChecked(model is not None and model.special)
            self.special.blockSignals(False)
        self.side.setVisible(bool(sides))
        self.tabs.setTabVisible(self.tabs.count() - 1, reads and needs is not Needs.PICTURE_AND_TEXT)

    def _show_words(self) -> None:
        view, table = self._session.document.model_view, self._session.document.table
        if table is None:
            self.model.setText("Open a checkpoint to look into its model.")
        elif view.model is not None:
            self.model.setText(f"{view.model.name} · {Path(view.model.path).name}")
        else:
            self.model.setText("Opening the model…" if view.refusal is None else "")
        self.model.setVisible(bool(self.model.text()))
        notes = list(view.run.stages.notes if view.run is not None else ())
        if view.refusal is not None:
            notes = [str(view.refusal)]
        elif view.model is not None and view.run is None:
            notes = list(view.model.notes)
        self.remark.setText(" ".join(notes).replace(".", ".\u200b"))
        self.remark.setVisible(bool(notes))

    def _show_run(self, run: StageRun | None) -> None:
        tokens = () if run is None else run.stages.tokens[:_MOST_CHIPS]
        typed = run is not None and any(stage.name == "ids" for stage in run.stages.stages)
        self.chips.show_tokens(
            tuple(Token(token.label, token.id if token.known else None) for token in tokens) if typed else ()
        )
        self.chips.setVisible(typed)
        self.values.show_run(run)
        self.attention.show_run(run)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        dock = self.parentWidget()
        if not isinstance(dock, QDockWidget):
            self._set_seen(True)
        elif self._dock is not dock:
            # Behind another tab a dock counts as shown; only its own signal tells.
            self._dock = dock
            dock.visibilityChanged.connect(self._set_seen)
            self._set_seen(not self.visibleRegion().isEmpty())

    def _set_seen(self, seen: bool) -> None:
        if seen and not self._seen:
            self._seen = True
            self._session.staging.want()


def _scrolled(widget: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(widget)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area
