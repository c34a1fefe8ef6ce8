"""What is remembered between sessions: recent files, theme, window places. One JSON file, written whole."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from platformdirs import user_config_path

MOST_RECENT = 12


@dataclass
class Settings:
    """Remembered choices.

    Attributes
    ----------
    recent : list of str
        Files opened, the last one first.
    theme : {"system", "light", "dark"}
    queries : list of str
        Queries asked, the last one first.
    encoders : list of str
        Paths of encoders used, the last one first.
    geometry, docks : str
        The window's size and its docks' places, as Qt saves them, in Base64.
    pictures_as_list : bool
        An answer of pictures is shown as a list, not as a gallery.
    captions_as_list : bool
        So is one of captions.
    picture_height : int
        Of the gallery's lines, about, in pixels.
    """

    recent: list[str] = field(default_factory=list)
    theme: str = "system"
    queries: list[str] = field(default_factory=list)
    encoders: list[str] = field(default_factory=list)
    geometry: str = ""
    docks: str = ""
    pictures_as_list: bool = False
    captions_as_list: bool = True
    picture_height: int = 96

    def remember_file(self, path: str) -> None:
        """Put a file at the top of the recent ones."""
        self.recent = [path, *(known for known in self.recent if known != path)][:MOST_RECENT]

    def remember_query(self, text: str) -> None:
        """Put a query at the top of the earlier ones."""
        self.queries = [text, *(known for known in self.queries if known != text)][:100]

    def remember_encoder(self, path: str) -> None:
        """Put an encoder at the top of those used before."""
        self.encoders = [path, *(known for known in self.encoders if known != path)][:MOST_RECENT]


def settings_path() -> Path:
    """Where the settings lie; ``EMBEDDING_EXPLORER_SETTINGS`` names another file."""
    chosen = os.environ.get("EMBEDDING_EXPLORER_SETTINGS")
    return (
        Path(chosen) if chosen else user_config_path("embedding-explorer", appauthor=False) / "settings.json"
    )


def load_settings(path: Path | None = None) -> Settings:
    """Read the settings; what cannot be read is left at its default, for settings are no one's data."""
    try:
        stored = json.loads((path or settings_path()).read_text("utf-8"))
    except (OSError, ValueError):
        return Settings()
    settings = Settings()
    if isinstance(stored, dict):
        for name, default in asdict(settings).items():
            value = stored.get(name)
            if type(value) is type(default):
                setattr(settings, name, value)
    settings.recent = [item for item in settings.recent if isinstance(item, str)]
    settings.queries = [item for item in settings.queries if isinstance(item, str)]
    settings.encoders = [item for item in settings.encoders if isinstance(item, str)]
    return settings


def save_settings(settings: Settings, path: Path | None = None) -> None:
    """Write the settings in one step, so that a crash leaves the old file or the new one.

    Raises
    ------
    OSError
        Where the folder cannot be written to.
    """
    target = path or settings_path()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".settings-", text=False)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(settings), file, indent=1)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
