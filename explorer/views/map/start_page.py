"""What the window shows before anything is open: where to drop, the demo, recent files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.jobs import Job
from explorer.views.panels.form import heading, quiet
from explorer.views.theme import current_colours, icon

MOST_RECENT = 6
WIDEST = 520


class StartPage(QWidget):
    """The first thing a newcomer sees: one clear way in, and two more."""

    def __init__(
        self,
        session: Session,
        *,
        choose: Callable[[], None],
        index: Callable[[], None],
        demo: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.card = QFrame()
        self.card.setObjectName("drop")
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title = QLabel("Drop a checkpoint, word vectors,\nor a folder of pictures")
        title.setObjectName("startTitle")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title.setWordWrap(True)
        formats = quiet(
            "PyTorch, safetensors, Hugging Face folders, word2vec, GloVe, fastText, gensim, NumPy, "
            "CSV, JSON Lines, Parquet, TensorBoard.\nNothing a file holds is ever run."
        )
        formats.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.choose = QPushButton("Open file…")
        self.choose.setProperty("primary", True)
        self.choose.clicked.connect(lambda: choose())
        self.index = QPushButton("Index pictures…")
        self.index.setToolTip("A folder of pictures, made to be asked in words")
        self.index.clicked.connect(lambda: index())
        self.words = QPushButton("words")
        self.words.setToolTip("A small language model's table of words")
        self.words.setAccessibleName("Demo with words")
        self.words.clicked.connect(lambda: demo("word-lstm"))
        self.pictures = QPushButton("pictures")
        self.pictures.setAccessibleName("Demo with pictures")
        self.pictures.setToolTip("A small CLIP, and pictures to ask for in words")
        self.pictures.clicked.connect(lambda: demo("clip"))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(self.choose)
        buttons.addWidget(self.index)
        buttons.addStretch(1)
        demos = QHBoxLayout()
        demos.setSpacing(0)
        demos.addStretch(1)
        demos.addWidget(quiet("Or look at a demo:"))
        for button in (self.words, self.pictures):
            button.setProperty("flat", True)
            demos.addWidget(button)
        demos.addStretch(1)
        inside = QVBoxLayout(self.card)
        inside.setContentsMargins(24, 32, 24, 32)
        inside.setSpacing(12)
        for widget in (self.picture, title, formats):
            inside.addWidget(widget)
        inside.addSpacing(4)
        inside.addLayout(buttons)
        inside.addLayout(demos)
        self.busy = QProgressBar()
        self.busy.setRange(0, 0)
        self.busy.setTextVisible(False)
        self.doing = quiet()
        self.doing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        inside.addWidget(self.busy)
        inside.addWidget(self.doing)
        session.jobs.job_started.connect(self._started)
        session.jobs.job_ended.connect(self._ended)
        self._running: list[Job] = []
        self._show_running()
        self.recent = QVBoxLayout()
        self.recent.setSpacing(2)
        middle = QWidget()
        middle.setMaximumWidth(WIDEST)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(20)
        column.addStretch(2)
        column.addWidget(self.card)
        column.addLayout(self.recent)
        column.addStretch(3)
        across = QHBoxLayout(self)
        across.addStretch(1)
        across.addWidget(middle, 100)
        across.addStretch(1)
        self.refresh()

    def _started(self, job: Job) -> None:
        self._running.append(job)
        job.progressed.connect(self._progress)
        self._show_running()

    def _progress(self, fraction: float, stage: str, _seconds_left: float) -> None:
        self.busy.setRange(0, 0 if fraction < 0 else 1000)
        self.busy.setValue(round(max(fraction, 0) * 1000))
        self.doing.setText(stage)

    def _ended(self, job: Job) -> None:
        # What its end has started goes on: a file is open, its table is still loading.
        self._running = [running for running in self._running if running is not job]
        self._show_running()

    def _show_running(self) -> None:
        for widget in (self.busy, self.doing):
            widget.setVisible(bool(self._running))
        if self._running:
            self.busy.setRange(0, 0)
            self.doing.setText(self._running[-1].title + "…")

    def refresh(self) -> None:
        """Show the recent files that are still there, in the colours that hold now."""
        colours = current_colours()
        self.setStyleSheet(
            f"StartPage {{ background: {colours.map}; }}"
            f"#drop {{ border: 2px dashed {colours.line}; border-radius: 12px; "
            f"background: {colours.panel}; }}"
            "#startTitle { font-size: 20px; font-weight: 600; }"
        )
        self.picture.setPixmap(icon("drop", colours.accent, 48).pixmap(48, 48))
        while self.recent.count():
            gone = self.recent.takeAt(0).widget()
            gone.hide()
            gone.deleteLater()
        paths = [path for path in self._session.settings.recent if Path(path).exists()][:MOST_RECENT]
        if paths:
            self.recent.addWidget(heading("Recent"))
        for path in paths:
            room = WIDEST - 40
            button = QPushButton(
                self.fontMetrics().elidedText(_short(path), Qt.TextElideMode.ElideMiddle, room)
            )
            button.setProperty("flat", True)
            button.setToolTip(path)
            button.setStyleSheet("text-align: left;")
            button.clicked.connect(lambda _checked=False, path=path: self._session.opening.open([path]))
            self.recent.addWidget(button)


def _short(path: str) -> str:
    place = Path(path)
    return f"{place.name}   —   {place.parent.name or place.parent}"
