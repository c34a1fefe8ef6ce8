"""How many neighbours: a number that takes no more room than it needs."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QAbstractSpinBox, QSizePolicy, QSpinBox

MOST = 100_000_000


class CountBox(QSpinBox):
    """``k 50``: as wide as its number, any number."""

    def __init__(self) -> None:
        super().__init__()
        self.setPrefix("k ")
        self.setRange(1, MOST)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)
        self.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.lineEdit().textChanged.connect(self.updateGeometry)
        self.valueChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self.lineEdit().text()) + 32
        return QSize(max(width, 60), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
