"""A robot that waits as long as a slow machine needs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

# Five minutes in milliseconds. What comes in time costs no more for it; what never comes fails for certain.
PATIENCE = 300_000


class PatientBot(QtBot):
    """pytest-qt's robot, whose waits are bounded by `PATIENCE` alone.

    Wait for states that last. One that passes by itself can pass between two looks, which are 10 ms apart:
    record a signal's every emission instead.
    """

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal, *, timeout: int = PATIENCE, raising=None, check_params_cb=None):  # noqa: N802
        return super().waitSignal(signal, timeout=timeout, raising=raising, check_params_cb=check_params_cb)

    def waitExposed(self, widget: QWidget, *, timeout: int = PATIENCE):  # noqa: N802
        return super().waitExposed(widget, timeout=timeout)

    def activate(self, window: QWidget) -> None:
        """Make a window the active one, as often as another takes that from it."""
        self.waitUntil(lambda: (window.activateWindow(), window.isActiveWindow())[1])

    def focus(self, widget: QWidget) -> None:
        """Give a widget the keyboard, in the active window."""
        self.activate(widget.window())
        self.waitUntil(lambda: (widget.setFocus(), widget.hasFocus())[1])
