"""Files of weights, each by its content, and the shards that an index lists."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from explorer.core.errors import ExplorerError
from explorer.readers import other_kinds, safetensors_file, torch_legacy, torch_zip
from explorer.readers.contents import Contents
from explorer.readers.hf_config import read_json

_HEAD = 4096
_READERS = (safetensors_file, torch_zip, torch_legacy)


def is_weights(path: Path) -> bool:
    """Whether a file holds weights."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return any(reader.sniff(path, head) for reader in _READERS)


def read_weight_file(path: Path) -> Contents | None:
    """What one file of weights holds; nothing in it is executed. None where it is no such file.

    Raises
    ------
    ExplorerError
        It is damaged, or of a kind that is known and not opened.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for reader in _READERS:
        if reader.sniff(path, head):
            contents: Contents = reader.read_contents(path)
            return contents
    if other_kinds.sniff(path, head):
        other_kinds.read(path)
    return None


def read_weight_files(paths: Iterable[Path]) -> Contents:
    """What several files of weights, the shards of one model, hold together.

    Raises
    ------
    ExplorerError
        One is no file of weights, or damaged.
    """
    contents = Contents()
    for path in paths:
        found = read_weight_file(path)
        if found is None:
            with path.open("rb") as file:
                raise other_kinds.refuse_unknown(path, file.read(_HEAD))
        contents.add(found)
    return contents


def shards_of(index: Path) -> list[Path]:
    """The files that an index of shards lists.

    Raises
    ------
    ExplorerError
        It is none, one is missing, or it names files outside its folder, which are not followed.
    """
    value: Any = read_json(index)
    weight_map = value.get("weight_map") if isinstance(value, dict) else None
    if not isinstance(weight_map, dict) or not weight_map:
        raise ExplorerError(f"{index.name} is no index of shards: it maps no weights to files.")
    names = list(dict.fromkeys(weight_map.values()))
    for name in names:
        if not isinstance(name, str) or not is_inside(name):
            raise ExplorerError(
                f"{index.name} names a shard outside its folder, which is not followed: {name!r}."
            )
        if not (index.parent / name).is_file():
            raise ExplorerError(
                f"The shard {name} is missing; {index.name} lists {len(names)} of them.",
                "Download it beside the others.",
            )
    return [index.parent / name for name in names]


def is_inside(name: str) -> bool:
    """Whether a relative path stays inside its folder, on every system."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    outside = posix.is_absolute() or windows.is_absolute() or bool(windows.drive) or bool(windows.root)
    return (
        bool(name)
        and "\0" not in name
        and not outside
        and ".." not in posix.parts
        and ".." not in windows.parts
    )
