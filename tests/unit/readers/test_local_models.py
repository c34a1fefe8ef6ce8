"""Models of the local Hugging Face cache."""

from pathlib import Path

from explorer.readers.local_models import cache_folder, local_models


def make_model(cache: Path, name: str, *revisions: str, main: str | None = None) -> None:
    entry = cache / ("models--" + name.replace("/", "--"))
    for revision in revisions:
        (entry / "snapshots" / revision).mkdir(parents=True)
    if main is not None:
        (entry / "refs").mkdir(parents=True)
        (entry / "refs" / "main").write_text(main)


def test_that_models_are_listed_by_name_with_the_main_snapshot(tmp_path: Path) -> None:
    make_model(tmp_path, "openai/clip-vit-base-patch32", "aaa", "bbb", main="aaa")
    make_model(tmp_path, "gpt2", "ccc")
    found = local_models(tmp_path)
    assert [model.name for model in found] == ["gpt2", "openai/clip-vit-base-patch32"]
    assert found[1].path.name == "aaa"


def test_that_a_half_fetched_model_is_left_out(tmp_path: Path) -> None:
    make_model(tmp_path, "broken/one", main="gone")
    assert local_models(tmp_path) == ()


def test_that_no_cache_lists_nothing(tmp_path: Path) -> None:
    assert local_models(tmp_path / "nowhere") == ()


def test_that_the_cache_is_where_the_variables_say(tmp_path: Path, monkeypatch) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "other"))
    assert cache_folder() == tmp_path / "other"
