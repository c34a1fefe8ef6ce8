"""What the colours mean, in which palette, and how many labels the map shows."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QSpinBox, QWidget

from explorer.commands import Session
from explorer.commands.filtering import AT_ONCE
from explorer.core.clustering import HDBSCAN, K_MEANS
from explorer.core.columns import Column, Kind
from explorer.document.colouring import CLUSTER, PALETTES, SCALES, ZERO_SHOT, choices
from explorer.document.look import LABEL_STEPS
from explorer.views.panels.form import Section

FIRST_ITEM = "first item"
MOST_ITEMS = 500
"""More items than a list can be looked through are found by typing."""
WIDEST = 150
MOST_CLUSTERS, LARGEST_GROUP = 100, 1_000_000


class ColourSection(Section):
    """Choices for colours and labels; those that the colours at hand have no use for are away."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Colour", parent)
        self._session = session
        self.by = _choice()
        self.method = _choice(K_MEANS, HDBSCAN)
        self.count = QSpinBox()
        self.count.setRange(2, MOST_CLUSTERS)
        self.smallest = QSpinBox()
        self.smallest.setRange(0, LARGEST_GROUP)
        self.smallest.setSpecialValueText("auto")
        for box in (self.count, self.smallest):
            # What is typed counts when it is whole, not digit by digit.
            box.setKeyboardTracking(False)
            box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.scale = _choice(*SCALES)
        self.item = _choice()
        self.item.setEditable(True)
        self.item.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.palette_choice = _choice(*PALETTES)
        self.labels = _choice(*LABEL_STEPS)
        self._column: Column | None = None
        self._rows: dict[str, tuple[QLabel, QWidget]] = {}
        for name, control, tip in (
            ("By", self.by, "What the colour of a point says"),
            ("Groups", self.method, "k-means parts all rows; HDBSCAN finds what is dense on the map"),
            ("How many", self.count, "How many clusters there are"),
            ("Smallest", self.smallest, "How many rows make a cluster; the others are grey"),
            ("Numbers as", self.scale, "Along a scale of colours, or each number in a colour of its own"),
            ("With", self.item, "Colour the rows whose list holds this; or by each list's first item"),
            ("Palette", self.palette_choice, "Colours that tell apart for all eyes, or the window's own"),
            ("Labels", self.labels, "How many names the map shows; they never overlap"),
        ):
            self._rows[name] = (self.row(name, control, tip), control)
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        session, document = self._session, self._session.document
        self.by.textActivated.connect(self._colour_by)
        self.method.textActivated.connect(lambda method: session.grouping.cluster(method=method))
        self.count.valueChanged.connect(lambda count: session.grouping.cluster(count=count))
        self.smallest.valueChanged.connect(lambda smallest: session.grouping.cluster(smallest=smallest))
        self.scale.textActivated.connect(lambda scale: self._change(scale=scale))
        self.item.textActivated.connect(lambda item: self._change(item="" if item == FIRST_ITEM else item))
        self.palette_choice.textActivated.connect(lambda name: self._change_palette(name))
        self.labels.textActivated.connect(lambda many: document.set_look(replace(document.look, labels=many)))
        document.table_changed.connect(self.refresh)
        document.colours_changed.connect(self.refresh)
        document.look_changed.connect(self._look_changed)
        session.jobs.job_ended.connect(lambda _job: self._refresh_column())

    def _look_changed(self) -> None:
        self.labels.setCurrentText(self._session.document.look.labels)

    def refresh(self) -> None:
        """Show the document's choices."""
        document = self._session.document
        self.setVisible(document.table is not None)
        if document.table is None:
            return
        names = choices(document.table)
        if document.zero_shot is not None:
            names = (ZERO_SHOT, *names)
        colouring = document.colouring
        large = document.table.listing.rows > AT_ONCE
        # A large table's columns are read beside the window's thread: its job's end leads here again.
        column = document.columns.known(colouring.by) if large else document.columns.get(colouring.by)
        _fill(self.by, names, colouring.by)
        self.method.setCurrentText(colouring.clustering.method)
        for box, value in (
            (self.count, colouring.clustering.count),
            (self.smallest, colouring.clustering.smallest),
        ):
            box.blockSignals(True)
            box.setValue(value)
            box.blockSignals(False)
        self.scale.setCurrentText(colouring.scale)
        if column is not None and large and column.kind is Kind.LIST and not column.has_items:
            column = None  # recognised, but still being read
        if column is not None and column.kind is Kind.LIST:
            _fill(self.item, (FIRST_ITEM, *column.items.names[:MOST_ITEMS]), colouring.item or FIRST_ITEM)
        self.palette_choice.setCurrentText(colouring.palette)
        self.labels.setCurrentText(document.look.labels)
        self._column = column
        self._show_rows(colouring.by, column, colouring.clustering.method)

    def _refresh_column(self) -> None:
        document = self._session.document
        column = document.columns.known(document.colouring.by)
        if column is not None and column is not self._column:
            self.refresh()

    def _show_rows(self, by: str, column: Column | None, method: str) -> None:
        clusters = by == CLUSTER
        shown = {
            "Groups": clusters,
            "How many": clusters and method == K_MEANS,
            "Smallest": clusters and method == HDBSCAN,
            "Numbers as": column is not None and column.kind in (Kind.NUMBER, Kind.DATE),
            "With": column is not None and column.kind is Kind.LIST,
        }
        for name, wanted in shown.items():
            for widget in self._rows[name]:
                widget.setVisible(wanted)

    def _colour_by(self, name: str) -> None:
        # What was hidden or recoloured stood for something else.
        self._change(by=name, item="")

    def _change(self, **changes: object) -> None:
        document = self._session.document
        document.set_colouring(replace(document.colouring, hidden=frozenset(), recoloured={}, **changes))

    def _change_palette(self, name: str) -> None:
        document = self._session.document
        document.set_colouring(replace(document.colouring, palette=name))


def _choice(*names: str) -> QComboBox:
    box = QComboBox()
    box.addItems(list(names))
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    box.setMaximumWidth(WIDEST)
    return box


def _fill(box: QComboBox, names: tuple[str, ...], current: str) -> None:
    """Offer these names, touched only where they are others than before."""
    if names != tuple(box.itemText(place) for place in range(box.count())):
        box.clear()
        box.addItems(list(names))
    box.setCurrentText(current)
