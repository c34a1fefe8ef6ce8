"""Where the bundled files lie: icons, the demo."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_ROOTS = (_PACKAGE / "_resources", _PACKAGE.parent / "resources")


def resource_path(*parts: str) -> Path:
    """A bundled file or folder: inside an installed package, or beside it in the source tree.

    Raises
    ------
    FileNotFoundError
        Where there is none of that name.
    """
    for root in _ROOTS:
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise FileNotFoundError("/".join(parts))
