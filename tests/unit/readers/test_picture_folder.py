"""A first look for pictures in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.core.errors import ExplorerError
from explorer.readers.picture_folder import count_by_name
from explorer.readers.registry import open_file


def test_that_pictures_are_counted_by_name_in_folders_too(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    for name in ("one.PNG", "a/two.jpeg", "a/b/three.webp", "notes.txt", ".four.png", ".hidden/five.png"):
        (tmp_path / name).touch()
    assert count_by_name(tmp_path) == 3


def test_that_a_first_look_stops_after_so_many_entries(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.png").touch()
    assert count_by_name(tmp_path, most=10) == 10


def test_that_a_folder_of_pictures_is_told_from_one_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("nothing here")
    with pytest.raises(ExplorerError, match="neither a checkpoint nor pictures"):
        open_file(tmp_path)
    (tmp_path / "one.png").touch()
    with pytest.raises(ExplorerError, match="holds pictures, but no checkpoint"):
        open_file(tmp_path)
