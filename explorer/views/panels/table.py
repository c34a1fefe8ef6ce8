"""The shown table: stored type, scaling, health in one line each."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from explorer.commands import Session
from explorer.core.health import HealthCounts
from explorer.views.panels.form import Section


class TableSection(Section):
    """Facts about the table on the map.

    Signals
    -------
    quarantined_wanted : the person wants to see the rows that are left out.
    """

    quarantined_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Table", parent)
        self._session = session
        self.dtype = QLabel("")
        self.labels = QLabel("")
        self.scaled = QCheckBox()
        self.scaled.toggled.connect(session.opening.scale_rows)
        self.quarantined = QPushButton("0")
        self.quarantined.setProperty("flat", True)
        self.quarantined.clicked.connect(self.quarantined_wanted)
        self.duplicates = QLabel("0")
        self.row("Type", self.dtype, "How the numbers are stored; computed in float32")
        self.row("Labels", self.labels)
        self.row("Scale rows by √dim", self.scaled, "As a Transformer's own lookup does")
        self.row(
            "Quarantined", self.quarantined, "Rows that are kept in place but left out of map and search"
        )
        self.row("Duplicates", self.duplicates, "Rows equal to an earlier row; one dot stands for them all")
        session.document.table_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the table that is on the map now."""
        table = self._session.document.table
        self.setVisible(table is not None)
        if table is None:
            return
        counts = table.health.counts
        self.dtype.setText(table.listing.dtype)
        self.labels.setText("none" if table.labels is None else f"{table.labels.count:,}")
        self.scaled.blockSignals(True)
        self.scaled.setChecked(table.scaled)
        self.scaled.blockSignals(False)
        left_out = counts.nan + counts.inf + counts.zero + counts.padding
        self.quarantined.setText(quarantine_words(counts))
        self.quarantined.setEnabled(left_out > 0)
        self.duplicates.setText(f"{counts.duplicates:,}")


def quarantine_words(counts: HealthCounts) -> str:
    """The quarantined rows by reason, e.g. ``"2 zero, 1 NaN"``."""
    parts = [
        f"{count:,} {name}"
        for count, name in (
            (counts.zero, "zero"),
            (counts.nan, "NaN"),
            (counts.inf, "infinite"),
            (counts.padding, "padding"),
        )
        if count
    ]
    return ", ".join(parts) or "none"
