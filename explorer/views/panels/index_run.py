"""The run that is indexing a folder of pictures: how far, how fast, how long yet; pause and cancel."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from explorer.commands import Session
from explorer.core.wording import progress_words
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.form import Section, quiet
from explorer.views.theme import figures


class IndexRunSection(Section):
    """Shown while a folder is being indexed."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Indexing", parent)
        self._session = session
        self.name = ElidedLabel()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Indexing")
        self.words = quiet()
        self.words.setFont(figures(self.words.font()))
        self.pause = QPushButton("Pause")
        self.pause.clicked.connect(self._pause_or_resume)
        self.cancel = QPushButton("Stop")
        self.cancel.setToolTip("What is done is kept; the same folder goes on from there")
        self.cancel.clicked.connect(session.indexing.cancel)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.pause)
        buttons.addWidget(self.cancel)
        buttons.addStretch(1)
        self.body.setSpacing(4)
        for widget in (self.name, self.bar, self.words):
            self.body.addWidget(widget)
        self.body.addLayout(buttons)
        session.document.index_run_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show how far the run is."""
        run = self._session.document.index_run
        self.setVisible(run is not None)
        if run is None:
            return
        self.name.setText(f"{Path(run.folder).name} with {run.encoder}")
        self.name.setToolTip(f"{run.folder}\ninto {run.index}")
        if run.progress.total:
            self.bar.setRange(0, run.progress.total)
            self.bar.setValue(run.progress.done)
        else:
            self.bar.setRange(0, 0)
        self.words.setText(progress_words(run.progress, paused=run.paused))
        self.pause.setText("Resume" if run.paused else "Pause")

    def _pause_or_resume(self) -> None:
        run = self._session.document.index_run
        if run is not None:
            indexing = self._session.indexing
            (indexing.resume if run.paused else indexing.pause)()
