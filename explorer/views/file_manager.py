"""Shows a file where it lies, in the system's file manager. No shell ever reads its name."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QProcess
from PySide6.QtGui import QDesktopServices

from explorer.views.file_url import file_url

_SERVICE, _PATH = "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1"


def show_in_file_manager(path: Path) -> None:
    """Open the file's folder with the file marked, or the folder alone where that cannot be done."""
    if not path.exists():
        _open_folder(path)
    elif sys.platform == "win32":
        QProcess.startDetached("explorer.exe", ["/select,", str(path)])
    elif sys.platform == "darwin":
        QProcess.startDetached("/usr/bin/open", ["-R", str(path)])
    else:
        _ask_desktop(path)


def _open_folder(path: Path) -> None:
    there = next((folder for folder in path.parents if folder.is_dir()), None)
    if there is not None:
        QDesktopServices.openUrl(file_url(there))


def _ask_desktop(path: Path) -> None:
    """Ask the file manager over the desktop's own bus, as freedesktop.org's file manager interface says.

    Starting it can take seconds, which the window does not wait for.
    """
    try:
        from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher
    except ImportError:
        _open_folder(path)
        return
    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        _open_folder(path)
        return
    call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _SERVICE, "ShowItems")
    call.setArguments([[path.absolute().as_uri()], ""])
    watcher = QDBusPendingCallWatcher(bus.asyncCall(call), QCoreApplication.instance())

    def answered() -> None:
        if watcher.isError():
            _open_folder(path)
        watcher.deleteLater()

    watcher.finished.connect(answered)
