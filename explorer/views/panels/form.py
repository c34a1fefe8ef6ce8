"""Small pieces that the panels share: headings, rows of a label and a control, quiet text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget


def heading(text: str) -> QLabel:
    """The small grey title over a section."""
    label = QLabel(text)
    label.setProperty("heading", True)
    return label


def quiet(text: str = "") -> QLabel:
    """Text that stays in the background; wraps."""
    label = QLabel(text)
    label.setProperty("quiet", True)
    label.setWordWrap(True)
    return label


class _WheelGuard(QObject):
    """Lets the wheel scroll the panel, rather than change what the cursor happens to pass over."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)


_WHEEL_GUARD = _WheelGuard()


def narrow_combo(name: str) -> QComboBox:
    """A combo box that takes the room there is, however long its texts are."""
    combo = QComboBox()
    combo.setAccessibleName(name)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(4)
    combo.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    return combo


class Section(QWidget):
    """A titled part of a panel: rows of a label at the left and a control at the right."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(12, 8, 12, 4)
        self.body.setSpacing(2)
        self.body.addWidget(heading(title))

    def row(self, text: str, control: QWidget, tip: str = "") -> QLabel:
        """Add a row; the label's buddy is the control."""
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        label = QLabel(text)
        label.setBuddy(control)
        label.setFixedHeight(26)
        control.setToolTip(tip)
        control.setAccessibleName(text)
        if control.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        control.installEventFilter(_WHEEL_GUARD)
        control.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        line.addWidget(label)
        line.addStretch(1)
        line.addWidget(control, 0, Qt.AlignmentFlag.AlignRight)
        self.body.addLayout(line)
        return label
