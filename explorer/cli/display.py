"""Whether Qt can start here: asked beforehand, because Qt itself would end the process."""

from __future__ import annotations

import ctypes
import importlib
import os
import socket
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
# Where each of Qt's platforms that show windows finds its display.
_VARIABLES = {"xcb": "DISPLAY", "wayland": "WAYLAND_DISPLAY"}


def require_window() -> None:
    """Make sure that a window can be shown.

    Raises
    ------
    ExplorerError
        A system library or a display is missing; the hint names what to install or to set.
    """
    require_qt("PySide6.QtWidgets")
    if os.environ.get("QT_QPA_PLATFORM", "").startswith("offscreen"):
        _keep_qt_quiet()
    if not _on_linux():
        return
    # As Qt reads it: several to try in turn, each with settings of its own behind a colon.
    wished = [name.split(":")[0] for name in os.environ.get("QT_QPA_PLATFORM", "").split(";") if name]
    present = [name for name, variable in _VARIABLES.items() if os.environ.get(variable)]
    faults = [_fault_of(platform) for platform in wished or present or ["xcb"]]
    if None not in faults:
        raise next(fault for fault in faults if fault is not None)


def _fault_of(platform: str) -> ExplorerError | None:
    """Why Qt could not open a window on one of its platforms; None where it can."""
    plugin = _plugins().get("wayland" if platform.startswith("wayland-") else platform)
    if plugin is None:
        return ExplorerError(f"Qt has no platform “{platform}”.", "Change QT_QPA_PLATFORM or unset it.")
    if plugin.stem.removeprefix("libq") not in _VARIABLES:
        return None
    variable = _VARIABLES[plugin.stem.removeprefix("libq")]
    display = os.environ.get(variable)
    if not display:
        return ExplorerError("There is no display to open a window on.", _WITHOUT)
    if not (_x_server_answers if variable == "DISPLAY" else _socket_answers)(display):
        return ExplorerError(f"The display {display} does not answer.", _WITHOUT)
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return ExplorerError(f"Qt cannot open a window: {error}.", _INSTALL)
    return None


def _plugins() -> dict[str, Path]:
    """Qt's platforms by name, each a library of its own."""
    from PySide6.QtCore import QLibraryInfo

    folders = [Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath), "platforms")]
    if chosen := os.environ.get("QT_QPA_PLATFORM_PLUGIN_PATH"):
        folders.append(Path(chosen))
    found = [path for folder in folders for path in folder.glob("libq*.so")]
    return {path.stem.removeprefix("libq"): path for path in found}


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
    _keep_qt_quiet()
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


def _keep_qt_quiet() -> None:
    """What Qt has to say of fonts, or of an offscreen window's size, is no part of the answer."""
    os.environ["QT_LOGGING_RULES"] = "*.warning=false"


def _on_linux() -> bool:
    return sys.platform == "linux"


def _x_server_answers(display: str) -> bool:
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        # Said with what to install when the plugin cannot be loaded.
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(os.fsencode(display), None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed


def _socket_answers(name: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), name))
        except OSError:
            return False
        return True
