"""The composition root: joins document, jobs, commands and window, and runs them."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from explorer.cli.options import Options
from explorer.commands import Notice, Session
from explorer.core.errors import ExplorerError
from explorer.core.resources import resource_path
from explorer.document import Document, LayoutStage
from explorer.document.settings import load_settings
from explorer.jobs import Jobs
from explorer.views.clipboard import let_go
from explorer.views.main_window import MainWindow
from explorer.views.theme import apply_theme

SETTLED_MS = 300
OFFSCREEN_SIZE = (1440, 900)


def run(
    files: list[Path],
    *,
    options: Options,
    theme: str | None = None,
    screenshot: Path | None = None,
    demo: str | None = None,
) -> int:
    """Open the window on some files and run until it is closed.

    Parameters
    ----------
    files : list of Path
    options : Options
        What the command line says about the files.
    theme : {"system", "light", "dark"}, optional
        Else as it was last.
    screenshot : Path, optional
        Save a picture of the window there once the layout is done, and exit.
    demo : str, optional
        A bundled demo to open, by name.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    ExplorerError
        A screenshot could not be taken, or there was nothing to take one of.
    """
    application = QApplication.instance() or QApplication(sys.argv[:1])
    window = make_window(application, options, theme)
    session = window.session
    _show_faults(session)
    window.show()
    camera = None if screenshot is None else Camera(window, screenshot)
    if application.platformName() == "offscreen":
        window.resize(*OFFSCREEN_SIZE)  # its screen is a small one of no meaning
    if files:
        session.opening.open(
            [str(file) for file in files],
            table=options.table,
            labels=None if options.labels is None else str(options.labels),
            target_labels=None if options.target_labels is None else str(options.target_labels),
            header=options.header,
            scaled=options.scaled,
        )
    elif demo is not None:
        window.files.open_demo(demo)
    elif camera is not None:
        camera.take()
    status = application.exec()
    window.close()
    session.jobs.shutdown()
    let_go()
    sys.excepthook = sys.__excepthook__
    if camera is not None and camera.failure is not None:
        raise camera.failure
    return status


def make_window(application: QApplication, options: Options, theme: str | None = None) -> MainWindow:
    """The window with a session of its own, not shown yet."""
    application.setApplicationName("Embedding Explorer")
    application.setDesktopFileName("embedding-explorer")
    application.setWindowIcon(QIcon(str(resource_path("icons", "app.svg"))))
    settings = load_settings()
    apply_theme(application, theme or settings.theme)
    document = Document()
    document.set_asking(all_rows=options.all_rows, include_query=options.include_query)
    return MainWindow(Session(document, Jobs(options.device), settings))


def _show_faults(session: Session) -> None:
    """Show a fault of the program itself in the bar, and go on."""

    def hook(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        text = "".join(traceback.format_exception(kind, fault, trace))
        print(text, file=sys.stderr)
        session.notices.posted.emit(
            Notice("Something went wrong in the program itself. What is open stays open.", text, serious=True)
        )

    sys.excepthook = hook


class Camera(QObject):
    """Takes one picture of the window when its work is done, and closes it."""

    def __init__(self, window: MainWindow, path: Path) -> None:
        super().__init__(window)
        self._window = window
        self._path = path
        self.failure: ExplorerError | None = None
        self._busy = 0
        jobs = window.session.jobs
        jobs.job_started.connect(self._started)
        jobs.job_ended.connect(self._ended)
        window.session.notices.posted.connect(self._told)

    def _started(self) -> None:
        self._busy += 1

    def _ended(self) -> None:
        self._busy -= 1
        QTimer.singleShot(SETTLED_MS, self, self._look)

    def _look(self) -> None:
        done = self._window.session.document.stage in (LayoutStage.DONE, LayoutStage.STOPPED)
        if self._busy == 0 and done:
            self.take()

    def _told(self, notice: Notice) -> None:
        if notice.serious:
            self._fail(notice.error or ExplorerError(notice.text, detail=notice.detail))

    def take(self) -> None:
        """Save the picture now."""
        picture = self._window.grab()
        if not picture.save(str(self._path)):
            name = "Choose a folder that is there and a name that ends in .png."
            self._fail(ExplorerError(f"{self._path} cannot be written.", name))
            return
        self._window.close()

    def _fail(self, failure: ExplorerError) -> None:
        self.failure = failure
        self._window.close()
