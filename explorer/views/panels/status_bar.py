"""The bottom line: device and memory, each running job with its Cancel, the layout's trust."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QSizePolicy, QStatusBar, QWidget

from explorer.commands import Session
from explorer.core.device import DeviceInfo
from explorer.core.wording import counted, time_left
from explorer.jobs import Job
from explorer.views.theme import figures

SHOW_AFTER_MS = 150
HEIGHT = 31
"""As with a job's buttons in it: the window above must not move when one begins or ends."""


class StatusBar(QStatusBar):
    """Shows what the machine is doing for the session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setSizeGripEnabled(False)
        self.setMinimumHeight(HEIGHT)
        self.setFont(figures(self.font()))
        self.device = QLabel("starting…")
        self.device.setProperty("quiet", True)
        self.device.setContentsMargins(12, 0, 12, 0)
        self.addWidget(self.device)
        self.trust = QLabel("")
        self.trust.setProperty("quiet", True)
        self.trust.setContentsMargins(12, 0, 12, 0)
        self.addPermanentWidget(self.trust)
        self._lines: dict[Job, JobLine] = {}
        session.jobs.job_started.connect(self._started)
        session.jobs.job_ended.connect(self._ended)
        session.jobs.device_changed.connect(self._show_device)
        session.document.trust_changed.connect(self._show_trust)

    def _started(self, job: Job) -> None:
        QTimer.singleShot(SHOW_AFTER_MS, self, lambda: self._show_job(job))

    def _show_job(self, job: Job) -> None:
        if job.running and job not in self._lines:
            self._lines[job] = line = JobLine(job)
            self.addWidget(line)
            line.show()

    def _ended(self, job: Job) -> None:
        line = self._lines.pop(job, None)
        if line is not None:
            self.removeWidget(line)
            line.deleteLater()

    def _show_device(self, device: DeviceInfo) -> None:
        self.device.setText(device_words(device))

    def _show_trust(self) -> None:
        trust, sampled = self._session.document.trust, self._session.document.sampled
        laid_out = (
            [] if sampled is None else [f"{counted(sampled, 'row')} laid out, the others placed by them"]
        )
        if trust is None:
            self.trust.setText(" · ".join(laid_out))
            self.trust.setToolTip("")
            return
        measured = (
            f"trustworthiness {trust.trustworthiness:.2f} · continuity {trust.continuity:.2f}"
            f" · on {counted(trust.sample, 'row')}"
        )
        self.trust.setText(" · ".join([*laid_out, measured]))
        self.trust.setToolTip(
            f"How many map neighbours are true ones, and how many true ones were kept\n"
            f"(k = {trust.k}, on {trust.sample:,} rows; 1 is a perfect map)."
        )


class JobLine(QWidget):
    """One running job: what it is, how far, how long yet, Pause where it can, Cancel."""

    def __init__(self, job: Job, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        line = QHBoxLayout(self)
        line.setContentsMargins(8, 0, 8, 0)
        line.setSpacing(8)
        title = QLabel(job.title)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(120)
        self.bar.setRange(0, 0)
        self.bar.setAccessibleName(job.title)
        self._title = job.title
        self._job = job
        self.left = QLabel("")
        self.left.setProperty("quiet", True)
        cancel = QPushButton("Cancel")
        cancel.setVisible(job.cancellable)
        cancel.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        cancel.clicked.connect(job.cancel)
        self.pause = QPushButton("Pause")
        self.pause.setVisible(job.pausable)
        self.pause.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.pause.clicked.connect(lambda: job.resume() if job.is_paused else job.pause())
        for widget in (title, self.bar, self.left, self.pause, cancel):
            line.addWidget(widget)
        job.progressed.connect(self._progress)
        job.paused_changed.connect(self._paused)

    def _progress(self, fraction: float, stage: str, seconds_left: float) -> None:
        if fraction < 0:
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(fraction * 1000))
        self.bar.setToolTip(stage)
        if self._job.is_paused:
            return
        known = "" if stage == self._title else stage
        self.left.setText(time_left(seconds_left) if seconds_left >= 0 else known)

    def _paused(self, paused: bool) -> None:
        self.pause.setText("Resume" if paused else "Pause")
        self.left.setText("paused" if paused else "")


def device_words(device: DeviceInfo) -> str:
    """A device with its memory, e.g. ``"cpu · 0.4 of 24 GB"``."""
    used, total = device.used_bytes / 1e9, device.total_bytes / 1e9
    return f"{device.name} · {used:.1f} of {total:.0f} GB"
