"""Showing a file where it lies: the system's own way on each system, and never through a shell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl

from explorer.views import file_manager

NAME = "a; rm -rf $HOME & 'b' \"c\" %20.png"


class Outside:
    """Stands where the system begins: what would be started or opened."""

    def __init__(self) -> None:
        self.started: list[tuple[str, list[str]]] = []
        self.opened: list[str] = []

    def startDetached(self, program: str, arguments: list[str]) -> bool:  # noqa: N802 - Qt's name
        self.started.append((program, arguments))
        return True

    def openUrl(self, url: QUrl) -> bool:  # noqa: N802 - Qt's name
        self.opened.append(url.toLocalFile())
        return True


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Outside:
    made = Outside()
    monkeypatch.setattr(file_manager, "QProcess", made)
    monkeypatch.setattr(file_manager, "QDesktopServices", made)
    return made


@pytest.mark.parametrize(
    ("platform", "program", "before"),
    [("win32", "explorer.exe", "/select,"), ("darwin", "/usr/bin/open", "-R")],
)
def test_that_the_file_goes_as_one_argument_whatever_its_name(
    outside: Outside,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    platform: str,
    program: str,
    before: str,
) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"x")
    monkeypatch.setattr(sys, "platform", platform)
    file_manager.show_in_file_manager(path)
    assert outside.started == [(program, [before, str(path)])]


def test_that_without_a_desktop_bus_the_folder_is_opened(
    outside: Outside, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"x")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    file_manager.show_in_file_manager(path)
    assert outside.opened == [str(tmp_path)]


def test_that_of_a_file_that_is_gone_the_nearest_folder_is_opened(outside: Outside, tmp_path: Path) -> None:
    file_manager.show_in_file_manager(tmp_path / "gone" / "too" / "a.png")
    assert outside.opened == [str(tmp_path)]
