"""What is open: files with their tables, the shown one marked."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from explorer.commands import Session
from explorer.core.listing import TableListing
from explorer.core.table import Role
from explorer.document import Source
from explorer.views.panels.form import Section
from explorer.views.theme import current_colours, figures

PATH, TABLE, AT_RIGHT, IS_QUIET, SHORT = (Qt.ItemDataRole.UserRole + place for place in range(5))
MOST_ROWS = 12
ROW_HEIGHT = 26
_PLAIN = (Role.TOKEN, Role.IMAGES, Role.JOINT, Role.OTHER)  # shown with their shape, not their role


class SourcesSection(Section):
    """The tree of open files.

    Signals
    -------
    labels_wanted(path) : the person wants to choose a vocabulary for that file.
    """

    labels_wanted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Sources", parent)
        self._session = session
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Open files and their tables")
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(12)
        self.tree.setRootIsDecorated(True)
        self.tree.setUniformRowHeights(True)
        # The delegate draws the selection, round and beside the branch.
        self.tree.setStyleSheet("QTreeView { selection-background-color: transparent; }")
        self.tree.setItemDelegate(_TwoTexts(self.tree))
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._menu)
        self.tree.itemActivated.connect(self._chosen)
        self.tree.itemClicked.connect(self._chosen)
        self.body.addWidget(self.tree)
        document = session.document
        document.sources_changed.connect(self.refresh)
        document.table_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what is open now."""
        folded = {
            self.tree.topLevelItem(i).data(0, PATH)
            for i in range(self.tree.topLevelItemCount())
            if not self.tree.topLevelItem(i).isExpanded()
        }
        self.tree.clear()
        for source in self._session.document.sources:
            item = self._file_item(source)
            self.tree.addTopLevelItem(item)
            item.setExpanded(source.path not in folded)
        self._mark_shown()
        self._fit_height()

    def _mark_shown(self) -> None:
        shown = self._session.document.table
        for place in range(self.tree.topLevelItemCount()):
            item = self.tree.topLevelItem(place)
            for child in map(item.child, range(item.childCount())):
                named = (child.data(0, PATH), child.data(0, TABLE))
                if shown is not None and named == (shown.path, shown.listing.name):
                    self.tree.setCurrentItem(child)

    def _file_item(self, source: Source) -> QTreeWidgetItem:
        item = QTreeWidgetItem([Path(source.path).name or source.path])
        item.setData(0, PATH, source.path)
        item.setToolTip(0, f"{source.path}\n{source.listing.format}")
        for table in source.listing.tables:
            child = QTreeWidgetItem(item, [table.name])
            child.setData(0, PATH, source.path)
            child.setData(0, TABLE, table.name)
            child.setData(0, SHORT, short_name(table.name, [each.name for each in source.listing.tables]))
            child.setData(0, AT_RIGHT, _at_right(table))
            child.setData(0, IS_QUIET, table.role not in _PLAIN)
            child.setToolTip(0, _tip(table))
        for label_source, count in dict.fromkeys(
            (table.labels_source, table.labels_count)
            for table in source.listing.tables
            if table.labels_source is not None
        ):
            child = QTreeWidgetItem(item, [f"labels: {label_source}"])
            child.setData(0, PATH, source.path)
            child.setData(0, AT_RIGHT, f"{count:,}")
            child.setData(0, IS_QUIET, True)
        return item

    def _fit_height(self) -> None:
        rows = sum(
            1 + (item.childCount() if item.isExpanded() else 0)
            for item in map(self.tree.topLevelItem, range(self.tree.topLevelItemCount()))
        )
        self.tree.setFixedHeight(min(rows, MOST_ROWS) * ROW_HEIGHT + 4)

    def _chosen(self, item: QTreeWidgetItem) -> None:
        name = item.data(0, TABLE)
        shown = self._session.document.table
        if name is None or (
            shown is not None and (shown.path, shown.listing.name) == (item.data(0, PATH), name)
        ):
            return
        self._session.opening.choose_table(item.data(0, PATH), name)

    def _menu(self, place: QPoint) -> None:
        item = self.tree.itemAt(place)
        if item is None:
            return
        path, name = item.data(0, PATH), item.data(0, TABLE)
        menu = QMenu(self)
        if name is not None:
            menu.addAction("Show on the map", lambda: self._session.opening.choose_table(path, name))
            menu.addAction(
                "Show with rows × √dim",
                lambda: self._session.opening.choose_table(path, name, scaled=True),
            )
        menu.addAction("Choose table…", lambda: self._session.opening.picker_wanted.emit(path))
        menu.addAction("Labels…", lambda: self.labels_wanted.emit(path))
        menu.addSeparator()
        menu.addAction("Close file", lambda: self._session.opening.close_source(path))
        menu.exec(self.tree.viewport().mapToGlobal(place))


def short_name(name: str, names: list[str]) -> str:
    """The shortest end of a tensor's name that tells it from the others, without its ``.weight``.

    ``embeddings.word_embeddings.weight`` is ``…word_embeddings`` beside the position table of the same model.
    """
    others = {other.removesuffix(".weight") for other in names if other != name}
    parts = name.removesuffix(".weight").split(".")
    for count in range(1, len(parts)):
        end = ".".join(parts[-count:])
        if not any(other == end or other.endswith("." + end) for other in others):
            return "…" + end
    return ".".join(parts)


def _at_right(table: TableListing) -> str:
    if table.role in _PLAIN:
        return f"{table.rows:,} × {table.dim}"
    return str(table.role)


def _tip(table: TableListing) -> str:
    lines = [f"{table.name} · {table.role}", f"{table.rows:,} rows × {table.dim} · {table.dtype}"]
    if table.aliases:
        lines.append("tied with " + ", ".join(table.aliases))
    return "\n".join([*lines, *table.notes])


class _TwoTexts(QStyledItemDelegate):
    """A row with its name at the left and its shape or role at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(super().sizeHint(option, index).width(), ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = current_colours()
        selected = bool(option.state & QStyle.StateFlag.State_Selected) and index.data(TABLE) is not None
        painter.save()
        box = QRect(option.rect).adjusted(0, 0, -2, 0)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if selected or focused:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QColor(colours.accent) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_ground) if selected else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        at_right = index.data(AT_RIGHT) or ""
        small = figures(QFont(option.font))
        small.setPixelSize(11)
        painter.setFont(small)
        painter.setPen(QColor(colours.quiet))
        inner = box.adjusted(6, 0, -6, 0)
        painter.drawText(inner, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, at_right)
        taken = painter.fontMetrics().horizontalAdvance(at_right) + 8 if at_right else 0
        painter.setFont(option.font)
        quiet = bool(index.data(IS_QUIET))
        shade = colours.accent if selected else colours.quiet if quiet else colours.text
        painter.setPen(QColor(shade))
        room = inner.adjusted(0, 0, -taken, 0)
        metrics, name = painter.fontMetrics(), index.data()
        if index.data(SHORT) is not None and metrics.horizontalAdvance(name) > room.width():
            name = index.data(SHORT)
        name = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.restore()
