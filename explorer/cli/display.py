"""Whether Qt can start here: asked beforehand, because Qt itself would end the process."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import os
import sys
from pathlib import Path

from explorer.core.errors import ExplorerError

# What Qt's Linux build asks of the system, by the names of Debian's and Ubuntu's packages.
_PACKAGES = (
    "libgl1 libegl1 libfontconfig1 libglib2.0-0 libdbus-1-3 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 "
    "libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-randr0 libxcb-xinerama0"
)
_INSTALL = f"Install Qt's system libraries: on Debian or Ubuntu, sudo apt install {_PACKAGES}."
_WITHOUT = (
    "Set QT_QPA_PLATFORM=offscreen to run without one, "
    "or use the commands that need no window: tables, neighbours and map."
)
_NEEDS_NO_DISPLAY = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs", "vkkhrdisplay")


def require_window() -> None:
    """Make sure that a window can be shown.

    Raises
    ------
    ExplorerError
        A system library or a display is missing; the hint names what to install or to set.
    """
    require_qt("PySide6.QtWidgets")
    if not _on_linux():
        return
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if platform.startswith(_NEEDS_NO_DISPLAY):
        return
    on_wayland = bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WAYLAND_SOCKET"))
    display = os.environ.get("DISPLAY")
    if platform != "wayland" and display:
        _require_plugin("libqxcb.so")
        if not _answers(display) and not on_wayland:
            raise ExplorerError(f"The display {display} does not answer.", _WITHOUT)
    elif on_wayland:
        _require_plugin("libqwayland.so")
    else:
        raise ExplorerError("There is no display to open a window on.", _WITHOUT)


def prepare_offscreen() -> None:
    """Make ready to paint pictures where there may be no display.

    Raises
    ------
    ExplorerError
        A system library is missing.
    """
    if _on_linux():
        # Windows and macOS need no display to paint, and have their fonts on their own platform only.
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    # What Qt has to say of fonts is no part of the answer.
    os.environ["QT_LOGGING_RULES"] = "*.warning=false"
    require_qt()


def require_qt(module: str = "PySide6.QtGui") -> None:
    """Make sure that a part of Qt can be loaded.

    Raises
    ------
    ExplorerError
        A system library is missing; the hint names what to install.
    """
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise ExplorerError(f"Qt cannot be loaded: {error}.", _INSTALL if _on_linux() else "") from error


def _on_linux() -> bool:
    return sys.platform == "linux"


def _require_plugin(name: str) -> None:
    import PySide6

    for plugin in Path(PySide6.__path__[0]).glob(f"**/plugins/platforms/{name}"):
        try:
            ctypes.CDLL(str(plugin))
        except OSError as error:
            raise ExplorerError(f"Qt cannot open a window: {error}.", _INSTALL) from error


def _answers(display: str) -> bool:
    """Whether an X server is behind the display; true where there is no way to ask."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(os.fsencode(display), None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed
