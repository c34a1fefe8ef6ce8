"""The window's look: two colour schemes, one style sheet, icons in the text's colour."""

from __future__ import annotations

import math
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from explorer.core.resources import resource_path
from explorer.render.palette import DARK, LIGHT, Theme

ERROR = {"light": ("#b42335", "#fdecee"), "dark": ("#ff8f9c", "#3a2025")}
"""Text and ground of what went wrong."""
SCHEMES = {
    "system": Qt.ColorScheme.Unknown,
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
}


def apply_theme(application: QApplication, name: str) -> None:
    """Set the scheme (``system``, ``light`` or ``dark``) and the style sheet that goes with it."""
    application.setStyle("Fusion")
    application.setProperty("theme", name)
    application.styleHints().setColorScheme(SCHEMES[name])
    refresh_theme(application)


def refresh_theme(application: QApplication) -> None:
    """Fit palette, font and style sheet to the scheme that now holds."""
    colours = current_colours()
    application.setPalette(_palette(colours))
    font = application.font()
    if font.pixelSize() != 12:
        font.setPixelSize(12)
        application.setFont(font)
    application.setStyleSheet(style_sheet(colours))
    icon.cache_clear()


def is_dark() -> bool:
    """Whether the dark scheme holds now: the chosen one, else the system's."""
    application = QGuiApplication.instance()
    chosen = None if application is None else application.property("theme")
    if chosen in ("light", "dark"):
        return bool(chosen == "dark")
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def current_colours() -> Theme:
    """The colours of the scheme that holds now."""
    return DARK if is_dark() else LIGHT


def error_colours() -> tuple[str, str]:
    """Text and ground of an error in the scheme that holds now."""
    return ERROR[current_colours().name]


def figures(font: QFont) -> QFont:
    """The font with digits of equal width, for columns of numbers."""
    even = QFont(font)
    even.setFeature(QFont.Tag("tnum"), 1)
    return even


@lru_cache(maxsize=256)
def icon(name: str, colour: str | None = None, size: int = 18) -> QIcon:
    """An icon from ``resources/icons`` drawn in a colour (the text's where none is named)."""
    source = resource_path("icons", f"{name}.svg").read_text("utf-8")
    drawn = QIcon()
    colours = current_colours()
    # One drawing, as fine as the finest screen: it is only ever made smaller.
    scale = math.ceil(max(screen.devicePixelRatio() for screen in QGuiApplication.screens()))
    for mode, shade in ((QIcon.Mode.Normal, colour or colours.text), (QIcon.Mode.Disabled, colours.line)):
        renderer = QSvgRenderer(QByteArray(source.replace("#000", shade).encode()))
        pixmap = QPixmap(size * scale, size * scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(pixmap.rect()))
        painter.end()
        pixmap.setDevicePixelRatio(scale)
        drawn.addPixmap(pixmap, mode)
    return drawn


def _palette(colours: Theme) -> QPalette:
    palette = QPalette()
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, colours.panel),
        (roles.WindowText, colours.text),
        (roles.Base, colours.panel),
        (roles.AlternateBase, colours.ground),
        (roles.Text, colours.text),
        (roles.PlaceholderText, colours.quiet),
        (roles.Button, colours.panel),
        (roles.ButtonText, colours.text),
        (roles.ToolTipBase, colours.panel),
        (roles.ToolTipText, colours.text),
        (roles.Highlight, colours.accent_ground),
        (roles.HighlightedText, colours.accent),
        (roles.Link, colours.accent),
        (roles.Mid, colours.line),
        (roles.Light, colours.panel),
        (roles.Dark, colours.line),
        (roles.Accent, colours.accent),
    ):
        palette.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.quiet))
    return palette


def _picture(name: str, colours: Theme) -> str:
    """A style sheet takes a picture from a file alone, so there is one for each scheme."""
    return resource_path("icons", f"{name}-{colours.name}.svg").as_posix()


def style_sheet(colours: Theme) -> str:
    """The style sheet of the whole application."""
    c = colours
    return f"""
    QMainWindow, QMenuBar, QStatusBar {{ background: {c.panel}; }}
    QMainWindow::separator {{ background: {c.line}; width: 1px; height: 1px; }}
    QMenuBar {{ border-bottom: 1px solid {c.line}; padding: 2px 6px; }}
    QMenuBar::item {{ padding: 4px 8px; border-radius: 6px; background: transparent; }}
    QMenuBar::item:selected {{ background: {c.accent_ground}; color: {c.accent}; }}
    QMenu {{ background: {c.panel}; border: 1px solid {c.line}; padding: 4px; }}
    QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 4px; }}
    QMenu::item:selected {{ background: {c.accent_ground}; color: {c.accent}; }}
    QMenu::item:disabled {{ color: {c.quiet}; }}
    QMenu::separator {{ height: 1px; background: {c.line}; margin: 4px 6px; }}
    QToolTip {{ background: {c.panel}; color: {c.text}; border: 1px solid {c.line}; padding: 4px 6px; }}
    QStatusBar {{ border-top: 1px solid {c.line}; }}
    QStatusBar::item {{ border: none; }}
    QToolBar {{ background: {c.panel}; border: none; border-bottom: 1px solid {c.line}; spacing: 0; }}
    QScrollArea, QScrollArea > QWidget > QWidget {{ background: {c.panel}; border: none; }}
    QAbstractScrollArea::corner {{ background: {c.panel}; border: none; }}
    QLabel[quiet="true"] {{ color: {c.quiet}; }}
    QLabel[heading="true"] {{ color: {c.quiet}; font-weight: 600; font-size: 11px; }}
    QFrame[stage="true"] {{ border: 1px solid {c.line}; border-radius: 6px; background: {c.panel}; }}
    QFrame[stage="true"]:focus, QFrame[stage="true"]:hover {{ border-color: {c.quiet}; }}
    QFrame[stage="true"][marked="true"] {{ border-color: {c.accent}; }}
    QLabel[title="true"] {{ font-weight: 600; font-size: 13px; }}
    QPushButton, QToolButton[text="true"], QComboBox, QSpinBox, QDoubleSpinBox {{
        background: {c.panel}; border: 1px solid {c.line}; border-radius: 6px;
        padding: 2px 9px; min-height: 20px; }}
    QPushButton:hover, QComboBox:hover, QSpinBox:hover, QDoubleSpinBox:hover,
    QToolButton[text="true"]:hover {{ border-color: {c.quiet}; }}
    QPushButton:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus,
    QToolButton[text="true"]:focus {{ border-color: {c.accent}; }}
    QPushButton:pressed, QPushButton:checked {{
        background: {c.accent_ground}; color: {c.accent}; border-color: {c.accent}; }}
    QPushButton:disabled, QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled {{
        color: {c.quiet}; background: {c.ground}; }}
    QPushButton[primary="true"] {{ background: {c.accent}; color: {c.panel}; border-color: {c.accent}; }}
    QPushButton[primary="true"]:focus {{ border-color: {c.text}; }}
    QPushButton[flat="true"] {{ border: none; background: transparent; color: {c.accent}; padding: 3px 6px; }}
    QPushButton[flat="true"]:focus {{ background: {c.accent_ground}; }}
    QPushButton[primary="true"]:disabled {{
        color: {c.quiet}; background: {c.ground}; border-color: {c.line}; }}
    QPushButton[flat="true"]:disabled {{ color: {c.quiet}; }}
    QToolButton {{ border: none; border-radius: 6px; padding: 4px; background: transparent; }}
    QToolButton:hover {{ background: {c.ground}; }}
    QToolButton:focus {{ border: 1px solid {c.accent}; padding: 3px; }}
    QToolButton:checked {{ background: {c.accent_ground}; }}
    QComboBox, QSpinBox, QDoubleSpinBox {{ min-height: 18px; padding: 2px 8px; }}
    QComboBox {{ padding-right: 18px; }}
    QComboBox::drop-down {{ border: none; width: 18px; }}
    QComboBox::down-arrow {{ image: url({_picture("chevron", c)}); width: 12px; height: 12px; }}
    QComboBox QAbstractItemView {{ background: {c.panel}; border: 1px solid {c.line};
        selection-background-color: {c.accent_ground}; selection-color: {c.accent}; outline: none; }}
    QLineEdit, QPlainTextEdit {{ background: {c.panel}; border: 1px solid {c.line}; border-radius: 6px;
        padding: 3px 8px; selection-background-color: {c.accent}; selection-color: {c.panel}; }}
    QLineEdit:focus {{ border-color: {c.accent}; }}
    QTextEdit#query {{ background: {c.panel}; border: 1px solid {c.line}; border-radius: 8px; padding: 0 6px;
        selection-background-color: {c.accent}; selection-color: {c.panel}; }}
    QTextEdit#query:hover {{ border-color: {c.quiet}; }}
    QTextEdit#query:focus {{ border-color: {c.accent}; }}
    QTextEdit#query:disabled {{ background: {c.ground}; }}
    QTreeView, QListView, QTableView {{ background: {c.panel}; border: none; outline: none;
        selection-background-color: {c.accent_ground}; selection-color: {c.accent}; }}
    QListView[popup="true"] {{ border: 1px solid {c.line}; }}
    QTableView::item {{ padding: 0 8px; border: none; }}
    QHeaderView::section {{ background: {c.panel}; color: {c.quiet}; border: none; padding: 4px 11px; }}
    QTabBar {{ qproperty-drawBase: 0; }}
    QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
    QTabBar::tab {{ padding: 6px 12px; color: {c.quiet}; border: none; background: {c.panel}; }}
    QTabBar::tab:selected {{ color: {c.text}; border-bottom: 2px solid {c.accent}; }}
    QTabBar::tab:focus {{ color: {c.accent}; }}
    QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {c.quiet}; border-radius: 4px;
        background: {c.panel}; }}
    QCheckBox::indicator:hover, QCheckBox:focus::indicator {{ border-color: {c.accent}; }}
    QCheckBox::indicator:checked {{ background: {c.accent}; border-color: {c.accent};
        image: url({_picture("check", c)}); }}
    QProgressBar {{ background: {c.line}; border: none; border-radius: 3px;
        max-height: 6px; min-height: 6px; }}
    QProgressBar::chunk {{ background: {c.accent}; border-radius: 3px; }}
    QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
    QScrollBar::handle {{ background: {c.line}; border-radius: 4px; margin: 1px;
        min-height: 24px; min-width: 24px; }}
    QScrollBar::handle:hover {{ background: {c.quiet}; }}
    QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
        background: none; border: none; width: 0; height: 0; }}
    QFrame[card="true"] {{ background: {c.panel}; border: 1px solid {c.line}; border-radius: 8px; }}
    QFrame[rule="true"] {{ background: {c.line}; border: none; max-height: 1px; min-height: 1px; }}
    """
