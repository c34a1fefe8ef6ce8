"""The bar above the map: says what went wrong and offers a way on, without blocking anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QElapsedTimer, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from explorer.commands import Notice, Notices
from explorer.core.wording import counted
from explorer.views.theme import current_colours, error_colours, icon

NOTE_MS = 12_000
UNREAD_MS = 4_000
MOST_AT_ONCE, _MOST_DETAILS = 3, 20


class NoticeBar(QFrame):
    """Shows the latest notice until it is closed or no longer holds."""

    def __init__(self, notices: Notices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail = QLabel()
        self.detail.setWordWrap(True)
        self.detail.setTextFormat(Qt.TextFormat.PlainText)
        self.detail.setProperty("quiet", True)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.more = QPushButton("Details")
        self.more.setProperty("flat", True)
        self.more.setCheckable(True)
        self.more.toggled.connect(self.detail.setVisible)
        self.shut = QToolButton()
        self.shut.setAccessibleName("Close this message")
        self.shut.clicked.connect(self.hide)
        self._actions = QHBoxLayout()
        self._actions.setSpacing(8)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.text, 1)
        line.addLayout(self._actions)
        line.addWidget(self.more)
        line.addWidget(self.shut)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 6, 8, 6)
        column.setSpacing(4)
        column.addLayout(line)
        column.addWidget(self.detail)
        self.setAccessibleName("Message")
        notices.posted.connect(self.show_notice)
        notices.cleared.connect(lambda: None if self._is_unread else self.hide())
        self._serious = False
        self._told: list[Notice] = []
        self._shown = QElapsedTimer()
        self._fade = QTimer(self)
        self._fade.setSingleShot(True)
        self._fade.setInterval(NOTE_MS)
        self._fade.timeout.connect(self._had_its_time)
        self.hide()

    def show_notice(self, notice: Notice) -> None:
        """Show a notice in place of the last one; below it, if that is an error nobody can have read yet."""
        unread = self._is_unread
        self._told = [*self._told, notice] if unread else [notice]
        last = self._told[-MOST_AT_ONCE:]
        earlier = self._told[:-MOST_AT_ONCE]
        self._offer({text: act for each in last for text, act in each.actions})
        more = [f"{counted(len(earlier), 'earlier message')}: see Details."] if earlier else []
        self.text.setText("\n".join([*more, *(each.text for each in last)]))
        details = [*(each.text for each in earlier[-_MOST_DETAILS:]), *(each.detail for each in last)]
        self.detail.setText("\n".join(filter(None, details)))
        self.more.setChecked(False)
        self.more.setVisible(bool(self.detail.text()))
        self.detail.hide()
        self._serious = notice.serious or unread
        self._shown.start()
        self.restyle()
        self.show()
        if self._serious:
            self._fade.stop()
        else:
            self._fade.start()

    def _offer(self, actions: Mapping[str, Callable[[], None]]) -> None:
        """Put up the buttons of what is told; of several with the same words the last one's."""
        while self._actions.count():
            self._actions.takeAt(0).widget().deleteLater()
        for text, act in actions.items():
            button = QPushButton(text)
            button.clicked.connect(self.hide)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self._actions.addWidget(button)

    @property
    def _is_unread(self) -> bool:
        return self.isVisible() and self._serious and not self._shown.hasExpired(UNREAD_MS)

    def _had_its_time(self) -> None:
        """A note goes by itself; one under the cursor stays a while longer."""
        if self.underMouse():
            self._fade.start()
        else:
            self.hide()

    def restyle(self) -> None:
        """Take on the colours of the scheme that holds now."""
        colours = current_colours()
        ground = error_colours()[1] if self._serious else colours.accent_ground
        self.setStyleSheet(f"#notice {{ background: {ground}; border-bottom: 1px solid {colours.line}; }}")
        self.shut.setIcon(icon("close"))
