"""The bundled CLIP: it must load as any CLIP folder does, and find what it was not shown in training."""

from __future__ import annotations

import csv
import importlib
import re
import sys
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoImageProcessor
from transformers.utils.logging import disable_progress_bar, enable_progress_bar

from explorer.compute.encoders.opening import open_encoder
from explorer.core.resources import resource_path
from explorer.core.table import Role
from explorer.demos import find_demo
from explorer.readers import open_file

DEMO = resource_path("demo")
MODEL = DEMO / "clip"
PICTURES = DEMO / "pictures"

sys.path.insert(0, str(DEMO))
scenes = importlib.import_module("scenes")
drawing = importlib.import_module("draw_scenes")
measuring = importlib.import_module("measure_clip")
training = importlib.import_module("train_clip")
sys.path.remove(str(DEMO))


@pytest.fixture(scope="module", autouse=True)
def one_quiet_thread() -> Iterator[None]:
    """Neither progress bars, which leave a thread behind, nor threads that mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    disable_progress_bar()
    yield
    enable_progress_bar()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def model_and_tokenizer():
    return measuring.load(MODEL)


@pytest.fixture(scope="module")
def figures(model_and_tokenizer) -> dict[str, dict[str, float]]:
    return measuring.measure(*model_and_tokenizer)


@pytest.fixture(scope="module")
def held_out() -> list:
    return list(islice(drawing.illustrated("held-out"), measuring.HELD_OUT))


@pytest.fixture(scope="module")
def withheld_phrases() -> re.Pattern[str]:
    """Every way in which a caption can name a withheld thing."""
    phrases = set()
    for thing in scenes.WITHHELD_THINGS:
        before, behind = scenes.TEXTURES[thing.texture]
        names = scenes.SHAPES[thing.shape]
        names = [*names, *(name + ("es" if name == "cross" else "s") for name in names)]
        for colour, name in product(scenes.COLOURS[thing.colour], names):
            phrases |= {f"{colour} {texture} {name}" for texture in before}
            phrases |= {f"{texture} {colour} {name}" for texture in before}
            phrases |= {f"{colour} {name} {texture}" for texture in behind}
    return re.compile(r"\b(?:" + "|".join(sorted(phrases)) + r")\b")


def read_captions(folder: Path) -> list[tuple[str, str]]:
    with open(folder / "captions.txt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["image", "caption"]
    return [(name, caption) for name, caption in rows]


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_that_model_and_pictures_stay_small() -> None:
    assert size_of(MODEL) < 8_000_000
    assert size_of(PICTURES) < 200_000


def test_that_the_model_loads_from_its_folder_as_a_small_clip(model_and_tokenizer) -> None:
    model, tokenizer = model_and_tokenizer
    assert type(model).__name__ == "CLIPModel"
    assert sum(parameter.numel() for parameter in model.parameters()) < 4_000_000
    assert model.config.vision_config.image_size == 64
    assert model.config.text_config.vocab_size == len(tokenizer)
    assert (MODEL / "preprocessor_config.json").is_file()


def test_that_the_tokenizer_wraps_lower_cased_words_and_knows_when_a_word_is_new(model_and_tokenizer) -> None:
    _, tokenizer = model_and_tokenizer
    ids = tokenizer("Three RED hearts, a zebra")["input_ids"]
    words = ["<s>", "three", "red", "hearts", ",", "a", "<unk>", "</s>"]
    assert tokenizer.convert_ids_to_tokens(ids) == words


def test_that_padding_does_not_change_a_caption_s_vector(model_and_tokenizer) -> None:
    model, tokenizer = model_and_tokenizer
    captions = ["a red heart", "two blue striped stars on the left of a solid green moon on white"]
    with torch.inference_mode():
        alone = model.get_text_features(**measuring.tokens_of(captions[:1], tokenizer)).pooler_output
        padded = model.get_text_features(**measuring.tokens_of(captions, tokenizer)).pooler_output[:1]
    torch.testing.assert_close(alone, padded, rtol=0, atol=1e-5)


def test_that_the_saved_preprocessing_is_the_one_of_training() -> None:
    processor = AutoImageProcessor.from_pretrained(MODEL, local_files_only=True)
    scene, rng = next(scenes.scenes("training"))
    picture = drawing.draw(scene, rng)
    found = processor(Image.fromarray(picture), return_tensors="pt")["pixel_values"]
    expected = measuring.as_input(measuring.shrink(picture)[None])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_that_held_out_pictures_are_found_by_their_captions(figures) -> None:
    assert figures["text → image"]["recall@10"] >= 0.8
    assert figures["image → text"]["recall@10"] >= 0.8


def test_that_the_readme_states_the_figures_that_are_measured(figures) -> None:
    readme = (MODEL / "README.md").read_text(encoding="utf-8")
    for way, measured in figures.items():
        row = next(line for line in readme.splitlines() if line.startswith(f"| {way}"))
        stated = [float(cell) for cell in row.strip("| ").split("|")[1:]]
        assert stated == pytest.approx(list(measured.values()), abs=0.005)


def test_that_the_application_s_own_encoder_finds_the_bundled_pictures() -> None:
    encoder = open_encoder(find_demo("clip").path, device="cpu")
    captions = read_captions(PICTURES)
    names = sorted({name for name, _ in captions})
    pixels = np.stack([encoder.preprocessing.prepare(Image.open(PICTURES / name)) for name in names])
    texts = encoder.encode_text([caption for _, caption in captions]).vectors
    first = (texts @ encoder.encode_images(pixels).T).argmax(axis=1)
    assert np.mean([names[row] == name for row, (name, _) in zip(first, captions, strict=True)]) > 0.9


def test_that_the_clip_demo_opens_with_its_words_first() -> None:
    table = open_file(find_demo("clip").path).tables[0]
    assert (table.name, table.role) == ("text_model.embeddings.token_embedding.weight", Role.TOKEN)
    assert {"red", "heart", "striped", "five"} <= set(table.labels)


def test_that_an_untrained_model_is_near_chance(monkeypatch: pytest.MonkeyPatch, model_and_tokenizer) -> None:
    monkeypatch.setattr(measuring, "HELD_OUT", 200)
    torch.manual_seed(1)
    tokenizer = model_and_tokenizer[1]
    found = measuring.measure(training.make_model(tokenizer), tokenizer, captions_each=1)
    assert found["text → image"]["recall@10"] < 0.15


def test_that_short_queries_find_what_they_name(model_and_tokenizer) -> None:
    precision, queries = measuring.measure_short_queries(*model_and_tokenizer)
    assert queries > 40
    assert precision >= 0.6  # by chance it is about 0.03


def test_that_a_rank_counts_what_scores_higher_than_the_best_of_its_own() -> None:
    scores = torch.tensor([[0.9, 0.5, 0.7], [0.1, 0.2, 0.3]])
    own = torch.tensor([[False, True, True], [True, False, False]])
    assert measuring.ranks(scores, own).tolist() == [2, 3]


def test_that_each_pair_of_a_withheld_thing_s_attributes_is_in_training() -> None:
    assert len(scenes.WITHHELD_THINGS) == 32
    shown = {pair for thing in scenes.TRAINING_THINGS for pair in pairs_of(thing)}
    assert all(pair in shown for thing in scenes.WITHHELD_THINGS for pair in pairs_of(thing))


def pairs_of(thing) -> set[tuple[str, str]]:
    return {
        (thing.colour, thing.shape),
        (thing.colour, thing.texture),
        (thing.shape, thing.texture),
    }


def test_that_training_never_shows_or_names_a_withheld_thing(withheld_phrases) -> None:
    for scene, rng in islice(scenes.scenes("training"), 2000):
        assert not any(scenes.is_withheld(thing) for thing in scene.things)
        captions = [*scenes.captions_of(scene, rng, 1), scenes.part_caption(scene, rng)]
        assert not any(withheld_phrases.search(caption) for caption in captions)


def test_that_every_held_out_caption_names_a_withheld_thing(held_out, withheld_phrases) -> None:
    assert all(withheld_phrases.search(caption) for _, _, captions in held_out for caption in captions)


def test_that_no_two_held_out_pictures_share_a_scene_or_a_caption(held_out) -> None:
    captions = [caption for _, _, captions in held_out for caption in captions]
    assert len({scene for scene, _, _ in held_out}) == measuring.HELD_OUT == 500
    assert len(set(captions)) == 5 * measuring.HELD_OUT


def test_that_the_same_seed_draws_the_same_folder_and_another_seed_another(tmp_path: Path) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        drawing.write(tmp_path / name, 6, "held-out", seed)
    contents = [
        {path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())} for name in "abc"
    ]
    assert len(contents[0]) == 7
    assert contents[0] == contents[1]
    assert all(contents[0][name] != contents[2][name] for name in contents[0])


def test_that_the_bundled_pictures_are_the_first_held_out_scenes_with_their_captions(held_out) -> None:
    captions = read_captions(PICTURES)
    names = sorted(path.name for path in PICTURES.glob("*.png"))
    assert sorted({name for name, _ in captions}) == names
    assert len(names) >= 50
    for name, (_, drawn, expected) in zip(names, held_out, strict=False):
        bundled = np.asarray(Image.open(PICTURES / name).convert("RGB"))
        # The palette costs a little, and another version of Pillow may choose it differently.
        assert np.abs(bundled.astype(int) - drawn).mean() < 4
        assert [caption for owner, caption in captions if owner == name] == expected


def test_that_a_thing_is_drawn_whole_and_in_its_colour() -> None:
    for colour, shape in product(("red", "blue"), scenes.SHAPES):
        scene = scenes.Scene(
            "one", "white", (scenes.Thing(colour, shape, "solid"),), 1, ("top left",), "large"
        )
        picture = drawing.draw(scene, np.random.default_rng(5)).astype(int)
        ink = np.abs(picture - drawing.INKS[colour]).sum(axis=2) < 60
        assert 0.03 < ink.mean() < 0.2
        assert not ink[[0, -1]].any()
        assert not ink[:, [0, -1]].any()
        assert not ink[80:].any()
        assert not ink[:, 80:].any()


def test_that_each_patch_is_named_after_the_thing_whose_middle_it_holds() -> None:
    red_heart, blue_moon = scenes.Thing("red", "heart", "solid"), scenes.Thing("blue", "moon", "checked")
    names = training.names_of(
        [drawing.Spot(red_heart, 0.2, 0.1, 0.1), drawing.Spot(blue_moon, 0.5, 0.99, 0.1)]
    )
    assert names.shape == (9, 3)
    assert names[0].tolist() == [0, 4, 0]
    assert names[7].tolist() == [4, 7, 3]
    assert (np.delete(names, (0, 7), axis=0) == -1).all()


def test_that_a_training_run_that_was_ended_goes_on_to_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_and_tokenizer
) -> None:
    small = {"PICTURES": 40, "BATCH": 8, "SAVE_EVERY": 2, "NAMING_STEPS": 3, "CLIP_STEPS": 3}
    for name, value in small.items():
        monkeypatch.setattr(training, name, value)
    monkeypatch.setattr(measuring, "HELD_OUT", 150)
    monkeypatch.setattr(training, "make_tokenizer", lambda: model_and_tokenizer[1])
    training.train(tmp_path / "whole", tmp_path / "whole-work")

    def interrupted(step, *args):
        if step == 5:
            raise KeyboardInterrupt
        return learn(step, *args)

    learn = training.learn
    monkeypatch.setattr(training, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        training.train(tmp_path / "resumed", tmp_path / "work")
    monkeypatch.setattr(training, "learn", learn)
    training.train(tmp_path / "resumed", tmp_path / "work")

    whole, resumed = (measuring.load(tmp_path / name)[0].state_dict() for name in ("whole", "resumed"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
