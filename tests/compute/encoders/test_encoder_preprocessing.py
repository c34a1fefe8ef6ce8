"""Pictures are prepared as the reference implementations do."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from made_models import transformers
from PIL import Image

from explorer.compute.encoders.preprocessing import (
    CLIP_MEAN,
    HALF,
    Preprocessing,
    from_hugging_face,
    from_open_clip,
)

SIZES = ((48, 48), (100, 37), (37, 101), (640, 427), (20, 9), (47, 333))


def picture(width: int, height: int, mode: str = "RGB") -> Image.Image:
    random = np.random.default_rng(width * 1000 + height)
    coarse = random.integers(0, 256, (5, 7, 3), np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC).convert(mode)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("crop", [48, 40])
def test_that_clips_pictures_are_prepared_as_transformers_does(size: tuple[int, int], crop: int) -> None:
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 48}, crop_size={"height": crop, "width": crop}
    )
    ours = from_hugging_face(processor.to_dict(), Preprocessing((224, 224)))
    assert ours.size == (crop, crop)
    expected = processor(picture(*size), return_tensors="np")["pixel_values"][0]
    np.testing.assert_allclose(ours.normalise(ours.prepare(picture(*size))), expected, atol=2e-6)


@pytest.mark.parametrize("size", SIZES)
def test_that_siglips_pictures_are_prepared_as_transformers_does(size: tuple[int, int]) -> None:
    processor = transformers.SiglipImageProcessorPil(size={"height": 48, "width": 48}, resample=2)
    ours = from_hugging_face(processor.to_dict(), Preprocessing((224, 224), "squash", mean=HALF, std=HALF))
    assert (ours.resize, ours.interpolation) == ("squash", "bilinear")
    expected = processor(picture(*size), return_tensors="np")["pixel_values"][0]
    np.testing.assert_allclose(ours.normalise(ours.prepare(picture(*size))), expected, atol=2e-6)


@pytest.mark.parametrize(
    "config",
    [
        {"size": 48, "crop_size": 48, "do_center_crop": True, "resample": 3},
        {"size": {"shortest_edge": 48}, "crop_size": {"height": 48, "width": 48}, "do_rescale": False},
        {"do_normalize": False, "size": {"shortest_edge": 60}, "crop_size": 48},
    ],
)
def test_that_older_and_odd_configurations_are_followed(config: dict) -> None:
    processor = transformers.CLIPImageProcessorPil(**config)
    ours = from_hugging_face(config, Preprocessing((48, 48)))
    expected = processor(picture(100, 61), return_tensors="np")["pixel_values"][0]
    np.testing.assert_allclose(ours.normalise(ours.prepare(picture(100, 61))), expected, rtol=1e-5, atol=2e-6)


def test_that_open_ais_crop_rounds_a_half_to_the_even_pixel() -> None:
    """torchvision: ``int(round(spare / 2))``."""
    ours = from_open_clip({}, (40, 40))
    for width, left in ((41, 0), (43, 2), (45, 2), (47, 4)):
        image = picture(width, 40)
        np.testing.assert_array_equal(
            ours.prepare(image), np.asarray(image)[:, left : left + 40].transpose(2, 0, 1)
        )


def test_that_open_clips_configuration_is_followed() -> None:
    config = {
        "size": [40, 40],
        "resize_mode": "longest",
        "interpolation": "bilinear",
        "mean": [0.1, 0.2, 0.3],
        "std": [0.5, 0.6, 0.7],
        "fill_color": 9,
    }
    ours = from_open_clip(config, (32, 32))
    prepared = ours.prepare(picture(80, 40))
    assert prepared.shape == (3, 40, 40)
    assert (prepared[:, :10] == 9).all()
    assert (prepared[:, 30:] == 9).all()
    inner = picture(80, 40).resize((40, 20), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(prepared[:, 10:30], np.asarray(inner).transpose(2, 0, 1))
    normalised = ours.normalise(prepared)
    np.testing.assert_allclose(normalised[1, 0, 0], (9 / 255 - 0.2) / 0.6, rtol=1e-6)
    assert from_open_clip({}, (32, 32)).mean == CLIP_MEAN


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK", "1", "I;16"])
def test_that_every_mode_becomes_three_channels(mode: str) -> None:
    image = Image.new(mode, (30, 20)) if mode == "I;16" else picture(30, 20, mode)
    prepared = Preprocessing((16, 16)).prepare(image)
    assert (prepared.shape, prepared.dtype) == ((3, 16, 16), np.uint8)


@pytest.mark.parametrize("size", [(1, 1), (1, 5000), (5000, 1), (3, 2)])
def test_that_the_smallest_and_thinnest_pictures_are_prepared(size: tuple[int, int]) -> None:
    for resize in ("shortest", "squash", "longest", "none"):
        assert Preprocessing((16, 24), resize).prepare(picture(*size)).shape == (3, 16, 24)


def test_that_it_survives_json_and_pickling() -> None:
    ours = Preprocessing((16, 24), "longest", "bilinear", HALF, HALF, edge=30, antialias=False, fill=7)
    assert Preprocessing.from_json(json.loads(json.dumps(ours.to_json()))) == ours
    assert pickle.loads(pickle.dumps(ours)) == ours


@pytest.mark.parametrize(
    "values",
    [
        {"size": [0, 4]},
        {"size": [10**9, 4]},
        {"size": [4, 4], "std": [0, 0, 0]},
        {"size": [4, 4], "mean": [1]},
        {"size": [4, 4], "interpolation": "best"},
        {},
    ],
)
def test_that_values_of_no_use_are_refused(values: dict) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any
        Preprocessing.from_json(values)


def test_that_preparing_and_recognising_need_no_torch() -> None:
    code = (
        "import explorer.compute.encoders.preprocessing, explorer.compute.encoders.recognise, sys;"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
