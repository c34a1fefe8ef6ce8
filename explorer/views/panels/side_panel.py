"""The left dock's content: what is open and how it is drawn."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.views.panels.colour import ColourSection
from explorer.views.panels.encoder import EncoderSection
from explorer.views.panels.form import quiet
from explorer.views.panels.index_run import IndexRunSection
from explorer.views.panels.layout import LayoutSection
from explorer.views.panels.sources import SourcesSection
from explorer.views.panels.table import TableSection
from explorer.views.panels.zero_shot import ZeroShotSection

WIDTH = 252
NARROWEST = 236


class SidePanel(QScrollArea):
    """Sections one under the other, scrolled where the window is low."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(NARROWEST)
        self.sources = SourcesSection(session)
        self.table = TableSection(session)
        self.index_run = IndexRunSection(session)
        self.encoder = EncoderSection(session)
        self.layout_section = LayoutSection(session)
        self.zero_shot = ZeroShotSection(session)
        self.colour = ColourSection(session)
        self.empty = quiet("Nothing is open yet.")
        self.empty.setContentsMargins(12, 0, 12, 0)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 4, 0, 8)
        column.setSpacing(4)
        for widget in (
            self.index_run,
            self.sources,
            self.empty,
            self.table,
            self.encoder,
            self.layout_section,
            self.colour,
            self.zero_shot,
        ):
            column.addWidget(widget)
        column.addStretch(1)
        self.setWidget(inside)
        document = session.document
        document.sources_changed.connect(lambda: self.empty.setVisible(not document.sources))

    @property
    def entrance(self) -> QWidget:
        """What takes the keys when one comes here."""
        return self.sources.tree

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)
