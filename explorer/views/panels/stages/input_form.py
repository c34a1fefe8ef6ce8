"""What a model is given: a text, a source to look at, a picture, a side, begin and end, a number of heads."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.core.stages import Needs, StageModelInfo
from explorer.core.wording import counted
from explorer.document import StageInput
from explorer.views.panels.stages.events import EventNames
from explorer.views.panels.stages.wording import plain

PICTURES = "Pictures (*.jpg *.jpeg *.png *.webp *.gif *.bmp *.tif *.tiff *.heic *.avif);;All files (*)"
_ASKS = {
    Needs.TEXT: "Type a sentence",
    Needs.EVENTS: "note_on_60 time_shift_100 note_off_60",
    Needs.PICTURE: "",
    Needs.PICTURE_AND_TEXT: "Type a caption for the picture",
    Needs.EITHER: "Type a sentence, or choose a picture",
}
_ROWS = "No vocabulary: type rows, 5 17 3"
_SOURCE = "Source sentence that it looks at"
_NAME = 16  # letters of a picture's name


class InputForm(QWidget):
    """The fields that the model at hand has a use for.

    Signals
    -------
    typed() : the text has changed; more may come.
    settled() : what is given is to be run now.
    """

    typed = Signal()
    settled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: StageModelInfo | None = None
        self._picture: str | None = None
        self.field = QLineEdit()
        self.field.setAccessibleName("Text for the model")
        self.field.setClearButtonEnabled(True)
        self.field.setAcceptDrops(False)  # a file dropped on it is opened, not named
        self.looks_at = plain("looks at")
        self.source = QLineEdit()
        self.source.setAccessibleName("Source sentence for the decoder")
        self.source.setClearButtonEnabled(True)
        self.source.setAcceptDrops(False)
        self.picture = QPushButton("Picture…")
        self.events = EventNames(self.field)
        self.side = QComboBox()
        self.side.setAccessibleName("Side")
        self.heads = QComboBox()
        self.heads.setAccessibleName("Heads")
        self.heads.setToolTip("Into how many heads the attention is split: the file does not say")
        self.on_map = QCheckBox("On the map")
        self.on_map.setChecked(True)
        self.on_map.setToolTip("Each token's way over the map, from stage to stage; of many, the first 24")
        self.special = QCheckBox("Begin and end")
        self.special.setToolTip("Within the tokens that begin and end a sequence, as in training")
        self._lay_out()
        for field in (self.field, self.source):
            field.textEdited.connect(lambda: self.typed.emit())
            field.returnPressed.connect(self.settled)
        self.events.entered.connect(self.settled)
        self.picture.clicked.connect(self.choose_picture)
        self.side.activated.connect(self._side_chosen)
        self.heads.activated.connect(lambda: self.settled.emit())
        self.special.toggled.connect(lambda: self.settled.emit())
        for combo in (self.side, self.heads):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._fill(None)
        self.show_model(None)

    def _lay_out(self) -> None:
        line, choices, checks = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for layout, spacing in ((line, 6), (choices, 6), (checks, 12)):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(spacing)
        line.addWidget(self.field, 1)
        line.addWidget(self.picture)
        line.addWidget(self.events)
        self.choices = QWidget()
        self.choices.setLayout(choices)
        for combo in (self.side, self.heads):
            choices.addWidget(combo)
        choices.addStretch(1)
        for check in (self.on_map, self.special):
            checks.addWidget(check)
        checks.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(line)
        looking = QHBoxLayout()
        looking.setSpacing(6)
        looking.addWidget(self.looks_at)
        looking.addWidget(self.source, 1)
        column.addLayout(looking)
        column.addWidget(self.choices)
        column.addLayout(checks)

    @property
    def entrance(self) -> QWidget:
        """Where the keyboard enters."""
        return self.picture if self.field.isHidden() else self.field

    @property
    def given(self) -> StageInput:
        """What is typed and chosen."""
        model = self._model
        if model is None:
            return StageInput(self.field.text(), self._picture)
        special, heads = self.special.isChecked(), self.heads.currentData()
        usual = None if model.heads is None else model.heads.count
        return StageInput(
            "" if model.needs is Needs.PICTURE else self.field.text(),
            None if model.needs in (Needs.TEXT, Needs.EVENTS) else self._picture,
            self.side.currentData() if model.sides else None,
            None if special == model.special else special,
            None if heads == usual else heads,
            "" if self.source.isHidden() else self.source.text(),
        )

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
        short = name if len(name) <= _NAME else f"{name[: _NAME - 5]}…{name[-4:]}"
        self.picture.setText("Picture…" if path is None else f"{short} ×")
        self.picture.setToolTip("" if path is None else f"{path}: click to take it away")
        self.settled.emit()

    def show_model(self, model: StageModelInfo | None) -> None:
        """Show the fields that a model has a use for; None while it is being opened."""
        is_new = model is not self._model
        self._model = model
        needs = Needs.TEXT if model is None else model.needs
        self.field.setVisible(needs is not Needs.PICTURE)
        self.picture.setVisible(needs not in (Needs.TEXT, Needs.EVENTS))
        self.events.setVisible(model is not None and bool(model.names))
        if is_new:
            self._fill(model)
        self._show_side()

    def _fill(self, model: StageModelInfo | None) -> None:
        blocked = [QSignalBlocker(each) for each in (self.side, self.heads, self.special)]
        self.events.show_names(() if model is None else model.names)
        self.side.clear()
        for side in () if model is None else model.sides:
            self.side.addItem(f"{side.capitalize()} side", side)
        self.heads.clear()
        split = None if model is None else model.heads
        if split is not None and not split.is_told:
            for count in split.choices:
                self.heads.addItem(counted(count, "head"), count)
            self.heads.setCurrentIndex(split.choices.index(split.count))
        self.special.setChecked(model is not None and model.special)
        self.side.setVisible(self.side.count() > 0)
        self.heads.setVisible(self.heads.count() > 0)
        self.choices.setVisible(self.side.count() + self.heads.count() > 0)
        del blocked

    def _show_side(self) -> None:
        """Show whether the chosen side can be read, and whether it names begin and end."""
        model = self._model
        side = (self.side.currentData() or "") if model is not None and model.sides else ""
        reads = model is None or side in model.reads
        self.field.setPlaceholderText(_ASKS[Needs.TEXT if model is None else model.needs] if reads else _ROWS)
        for part in (self.looks_at, self.source):
            part.setVisible(model is not None and side in model.source_of)
        other = "" if model is None else model.source_of.get(side, "")
        self.source.setPlaceholderText(
            _SOURCE if model is None or other in model.reads else f"{_SOURCE}: rows, 5 17 3"
        )
        self.special.setVisible(model is not None and side in model.wraps)

    def _side_chosen(self) -> None:
        self._show_side()
        self.settled.emit()
