"""What the shown file holds beside its layers: positions, patch filters, output layers, what was assumed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.commands.staging import Staging
from explorer.core.model_parts import ModelParts, PositionTable
from explorer.views.panels.form import heading, narrow_combo
from explorer.views.panels.stages.curves import Curves
from explorer.views.panels.stages.heat_map import HeatMap
from explorer.views.panels.stages.tiles import Tiles, filter_tiles, grids
from explorer.views.panels.stages.wording import breakable, plain

MOST_PLACES = 512
"""Of a longer table the first are compared."""
_CURVES = 4


class PartsTab(QWidget):
    """What a model adds for a place, and what it makes of a patch."""

    def __init__(self, staging: Staging, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: ModelParts | None = None
        self._notes: tuple[str, ...] = ()
        self._is_stale = False
        self.empty = plain("This file has no position table and no patch projection.")
        self.tables = narrow_combo("Position table")
        self.kind = plain()
        self.alike_title = heading("How alike places are, as cosine")
        self.alike = HeatMap("Cosines of positions", staging)
        self.curves_title = heading("")
        self.curves = Curves()
        self.grid_title = heading("Each place's similarity to all others, where it lies")
        self.grid = Tiles("Similarity of positions as a grid of grids")
        self.filters_title = heading("")
        self.filters_title.setWordWrap(True)
        self.filters = Tiles("Patch filters")
        self.notes_title = heading("About this model")
        self.notes = plain()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        for part in (
            self.empty,
            self.tables,
            self.kind,
            self.alike_title,
            self.alike,
            self.grid_title,
            self.grid,
            self.curves_title,
            self.curves,
            self.filters_title,
            self.filters,
            self.notes_title,
            self.notes,
        ):
            column.addWidget(part)
        column.addStretch(1)
        self.tables.activated.connect(self._show_table)
        self._show()

    def show_parts(self, parts: ModelParts | None, notes: tuple[str, ...]) -> None:
        """Show a file's parts, None while they are not there, and what its model was taken for."""
        if parts is self._parts and notes == self._notes:
            return
        self._parts, self._notes = parts, notes
        self._is_stale = True
        if self.isVisible():
            self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._show()

    def _show(self) -> None:
        self._is_stale = False
        parts = self._parts
        self.tables.clear()
        if parts is not None:
            self.tables.addItems([table.name for table in parts.positions])
        self.tables.setVisible(parts is not None and len(parts.positions) > 1)
        self._show_table()
        filters = None if parts is None else parts.filters
        for part in (self.filters_title, self.filters):
            part.setVisible(filters is not None)
        if filters is not None and parts is not None:
            count, _, height, width = filters.shape
            self.filters_title.setText(
                f"{breakable(parts.filters_name)}: {count:,} filters of {height} × {width}"
            )
            self.filters.show_tiles(filter_tiles(filters))
        outputs = () if parts is None else parts.outputs
        said = dict.fromkeys([*(output.sentence for output in outputs), *self._notes])
        self.notes.setText("\n\n".join(map(breakable, said)))
        for part in (self.notes_title, self.notes):
            part.setVisible(bool(said))
        self.empty.setVisible(parts is not None and not parts.positions and filters is None)

    def _show_table(self) -> None:
        tables = () if self._parts is None else self._parts.positions
        at = self.tables.currentIndex()
        table = tables[at] if 0 <= at < len(tables) else None
        for part in (self.kind, self.alike_title, self.alike, self.curves_title, self.curves):
            part.setVisible(table is not None)
        for part in (self.grid_title, self.grid):
            part.setVisible(table is not None and table.grid is not None)
        if table is not None:
            self._show_positions(table)

    def _show_positions(self, table: PositionTable) -> None:
        places, dim = table.values.shape
        # A grid is compared whole; a sequence's later places tell nothing new.
        most = MOST_PLACES if table.grid is None else places
        alike = cosine_matrix(table.values[:most])
        cut = f"; the first {most:,} are compared" if places > most else ""
        self.kind.setText(f"{breakable(table.name)}: {places:,} × {dim:,}, {table.kind}{cut}.")
        self.alike.show_values(alike)
        columns = np.unique(np.linspace(0, dim - 1, min(_CURVES, dim)).astype(int)).tolist()
        named = ", ".join(map(str, columns))
        self.curves_title.setText(f"Columns {named} along the places")
        first = int(table.class_token)
        self.curves.show_curves(table.values[first : first + MOST_PLACES, columns].T)
        if table.grid is not None:
            rows, wide = table.grid
            self.grid.show_tiles(grids(alike[first:, first:], rows, wide), wide)


def cosine_matrix(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine of each row with each other, shape (rows, rows); 0 with a row of zeros."""
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    unit = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
    return unit @ unit.T
