"""The layout's parameters, with its run in place."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QMenu, QPushButton, QSpinBox, QWidget

from explorer.commands import Session
from explorer.core.results import Metric
from explorer.core.table import MODALITY
from explorer.document import LayoutStage
from explorer.jobs import Job
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.form import Section, quiet

METHODS = {"UMAP": "umap", "PCA": "pca"}
DIMENSIONS = {"2-D": 2, "3-D": 3}
CENTRED = {"as they are": False, "each centred": True}


class LayoutSection(Section):
    """How the map is laid out."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Layout", parent)
        self._session = session
        self._running = False
        mapping = session.mapping
        self.method = QComboBox()
        self.method.addItems(list(METHODS))
        self.dimensions = QComboBox()
        self.dimensions.addItems(list(DIMENSIONS))
        self.centred = QComboBox()
        self.centred.addItems(list(CENTRED))
        self.neighbours = _spin(2, 200)
        self.min_dist = QDoubleSpinBox()
        self.min_dist.setRange(0.0, 0.99)
        self.min_dist.setSingleStep(0.05)
        self.min_dist.setDecimals(2)
        self.min_dist.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.metrics = QComboBox()
        self.metrics.addItems([Metric.COSINE.value, Metric.EUCLIDEAN.value])
        self.epochs = _spin(0, 5000)
        self.epochs.setSpecialValueText("auto")
        self.epochs.setSingleStep(50)
        self.seed = _spin(0, 2**31 - 1)
        self.rows = [
            self.row("Method", self.method),
            self.row("Dimensions", self.dimensions, "Drag the map to turn three; the other button moves it"),
            self.row(
                "Modalities",
                self.centred,
                "Both as they are, or each less its mean: for the picture only, never for search",
            ),
            self.row(
                "Neighbours", self.neighbours, "How many neighbours hold a row in place: fewer show detail"
            ),
            self.row("Minimum distance", self.min_dist, "How closely points may pack"),
            self.row("Metric", self.metrics, "What counts as near"),
            self.row("Epochs", self.epochs, "How long the layout goes on; auto chooses by size"),
            self.row("Seed", self.seed, "The same seed gives the same map"),
        ]
        self.gap = quiet()
        self.gap.setToolTip(
            "Distance between the means of both kinds' rows at unit length; 0 where they share a centre"
        )
        self.body.addWidget(self.gap)
        self.start = QPushButton("Start")
        self.stop = QPushButton("Stop")
        self.keep = QPushButton("Keep")
        self.keep.setToolTip("Remember this map, to come back to it")
        self.kept = QPushButton("Kept maps")
        self.kept.setMenu(QMenu(self.kept))
        self.progress = ElidedLabel()
        self.progress.setProperty("quiet", True)
        self.body.addSpacing(4)
        self.body.addLayout(_side_by_side(self.start, self.stop, self.keep))
        below = QHBoxLayout()
        below.setSpacing(8)
        below.addWidget(self.kept)
        below.addWidget(self.progress, 1)
        self.body.addSpacing(2)
        self.body.addLayout(below)
        self.method.currentTextChanged.connect(lambda text: mapping.change(method=METHODS[text]))
        self.dimensions.textActivated.connect(lambda text: mapping.lay_out_as(dimensions=DIMENSIONS[text]))
        self.centred.textActivated.connect(lambda text: mapping.lay_out_as(centred=CENTRED[text]))
        self.neighbours.valueChanged.connect(lambda value: mapping.change(neighbours=value))
        self.min_dist.valueChanged.connect(lambda value: mapping.change(min_dist=value))
        self.metrics.currentTextChanged.connect(lambda text: mapping.change(metric=Metric(text)))
        self.epochs.valueChanged.connect(lambda value: mapping.change(epochs=value or None))
        self.seed.valueChanged.connect(lambda value: mapping.change(seed=value))
        self.start.clicked.connect(mapping.start)
        self.stop.clicked.connect(mapping.stop)
        self.keep.clicked.connect(mapping.keep)
        mapping.layout_job_changed.connect(self._follow)
        session.document.layout_changed.connect(self.refresh)
        session.document.table_changed.connect(self.refresh)
        session.document.modality_gap_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the document's settings and how far the layout has come."""
        document = self._session.document
        self.setVisible(document.table is not None)
        settings = document.settings
        controls = (self.method, self.neighbours, self.min_dist, self.metrics, self.epochs, self.seed)
        self.dimensions.setCurrentText(
            next(text for text, count in DIMENSIONS.items() if count == settings.dimensions)
        )
        for control in controls:
            control.blockSignals(True)
        self.method.setCurrentText(next(text for text, name in METHODS.items() if name == settings.method))
        both = document.table is not None and MODALITY in document.table.metadata
        for widget in (self.rows[2], self.centred):
            widget.setVisible(both)
        self.centred.setCurrentText(next(text for text, on in CENTRED.items() if on == settings.centred))
        self.gap.setVisible(both and document.modality_gap is not None)
        if document.modality_gap is not None:
            self.gap.setText(f"Modality gap {document.modality_gap:.2f}")
        self.neighbours.setValue(settings.neighbours)
        self.min_dist.setValue(settings.min_dist)
        self.metrics.setCurrentText(settings.metric.value)
        self.epochs.setValue(settings.epochs or 0)
        self.seed.setValue(settings.seed)
        for control in controls:
            control.blockSignals(False)
        for control in controls[1:5]:
            control.setEnabled(settings.method == "umap")
        self.start.setText("Restart" if document.positions is not None else "Start")
        self.start.setEnabled(document.positions is not None)
        self.stop.setEnabled(self._running)
        self.keep.setEnabled(document.positions is not None)
        if not self._running:
            self._say(_words(document.stage))
        self._offer_kept()

    def _follow(self, job: Job | None) -> None:
        self._running = job is not None
        self.refresh()
        if job is not None:
            self._say("")
            job.progressed.connect(lambda _fraction, stage, _left: self._say(stage))

    def _say(self, text: str) -> None:
        self.progress.setText(text)
        self.progress.setVisible(bool(text))

    def _offer_kept(self) -> None:
        menu = self.kept.menu()
        menu.clear()
        kept = self._session.document.kept
        for place, (name, _) in enumerate(kept):
            menu.addAction(name, lambda place=place: self._session.mapping.show_kept(place))
        self.kept.setVisible(bool(kept))


def _side_by_side(*widgets: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(8)
    for widget in widgets:
        line.addWidget(widget)
    line.addStretch(1)
    return line


def _words(stage: LayoutStage) -> str:
    return {LayoutStage.STOPPED: "stopped", LayoutStage.WAITING: "first picture…"}.get(stage, "")


def _spin(low: int, high: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(low, high)
    box.setKeyboardTracking(False)
    box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
    return box
