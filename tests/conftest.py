"""What every test must leave behind: no thread, no child process, no running timer, no warning."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

# No example fails for a slow machine's sake, and a run of tests is the same each time;
# --hypothesis-profile=explore draws others.
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("explore", settings.get_profile("steady"), derandomize=False)
settings.load_profile("steady")

_PATIENCE_SECONDS = 30.0
# Kept by libraries for the life of the process.
_LASTING_THREADS = ("pydevd", "QThread", "Dummy", "pytest", "execnet")
_STARTED_TIMERS: weakref.WeakSet = weakref.WeakSet()


@pytest.fixture(autouse=True)
def leaves_nothing_running(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a thread, a child process or a timer running.

    What a fixture of a wider scope has started may go on; a worker process that was killed and
    started again counts as the one it replaces.
    """
    threads, children, timers = _threads(), _children(), _timers()
    yield
    _process_events()  # a window that goes only now would take the keyboard from the next test's
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        left = [
            *(f"thread {name}" for name in _threads() - threads),
            *(f"child process {name}" for name in _children() - children),
            *(f"timer {timer!r} of {timer.parent()!r}" for timer in _timers() - timers),
        ]
        if not left or time.monotonic() > until:
            break
        gc.collect()
        _process_events()
        time.sleep(0.01)
    if left:
        pytest.fail(f"left running: {', '.join(sorted(left))}", pytrace=False)


@pytest.fixture(autouse=True)
def logs_no_warning(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test during which something was logged as a warning or worse; with caplog, it is expected."""
    heard: list[logging.LogRecord] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = heard.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)
    if heard and "caplog" not in request.fixturenames:
        pytest.fail("logged: " + "; ".join(record.getMessage() for record in heard), pytrace=False)


def _threads() -> Counter[str]:
    return Counter(
        thread.name for thread in threading.enumerate() if not thread.name.startswith(_LASTING_THREADS)
    )


def _children() -> Counter[str]:
    return Counter(child.name for child in multiprocessing.active_children())


def _process_events() -> None:
    """Let Qt deliver what was posted, the deletion of objects included."""
    if "PySide6.QtWidgets" in sys.modules:
        from PySide6.QtCore import QCoreApplication, QEvent

        if QCoreApplication.instance() is not None:
            QCoreApplication.processEvents()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _timers() -> set[object]:
    """The running timers of those that were started from Python; none before Qt is imported."""
    if "PySide6.QtCore" not in sys.modules:
        return set()
    import shiboken6
    from PySide6.QtCore import QTimer

    if not hasattr(QTimer.start, "watched"):
        QTimer.start = _watched(QTimer.start)
    return {timer for timer in _STARTED_TIMERS if shiboken6.isValid(timer) and timer.isActive()}


def _watched(start: Callable[..., None]) -> Callable[..., None]:
    def watched_start(timer: object, *arguments: object) -> None:
        _STARTED_TIMERS.add(timer)
        start(timer, *arguments)

    watched_start.watched = True
    return watched_start
