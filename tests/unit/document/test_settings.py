"""What is remembered between sessions."""

from pathlib import Path

import pytest

from explorer.document.settings import MOST_RECENT, Settings, load_settings, save_settings


def test_that_settings_come_back_as_saved(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "settings.json"
    settings = Settings(recent=["/a", "/b"], theme="dark", queries=["été"])
    save_settings(settings, path)
    assert load_settings(path) == settings
    assert [entry.name for entry in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    "stored", ["", "{", "[1, 2]", '{"recent": 5, "theme": null}', '{"recent": [1, null]}', "\x00\xff"]
)
def test_that_unreadable_settings_are_the_defaults(tmp_path: Path, stored: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(stored, "latin-1")
    assert load_settings(path) == Settings()


def test_that_the_last_file_opened_comes_first_and_once() -> None:
    settings = Settings()
    for path in ["/a", "/b", "/a"]:
        settings.remember_file(path)
    assert settings.recent == ["/a", "/b"]
    for number in range(50):
        settings.remember_file(f"/{number}")
    assert len(settings.recent) == MOST_RECENT


def test_that_the_variable_names_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_EXPLORER_SETTINGS", str(tmp_path / "mine.json"))
    save_settings(Settings(theme="light"))
    assert load_settings().theme == "light"
    assert (tmp_path / "mine.json").exists()
