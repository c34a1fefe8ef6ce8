"""CLIP and SigLIP folders against transformers itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import made_models
import numpy as np
import pytest
import torch
from encoding import TEXTS, assert_close, random_pixels
from made_models import transformers
from unigram import save_unigram, sentence_piece_model

from explorer.compute.encoders.opening import open_encoder
from explorer.compute.encoders.recognise import local_encoders
from explorer.core.errors import ExplorerError


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "small-clip"
    made_models.save_clip(folder)
    return folder


@pytest.fixture
def folder(clip_folder: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(clip_folder, tmp_path / "small-clip"))


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_that_a_clip_folder_gives_its_models_vectors(clip_folder: Path) -> None:
    encoder = open_encoder(clip_folder, device="cpu")
    model = transformers.CLIPModel.from_pretrained(clip_folder).eval()
    reference = transformers.CLIPTokenizer.from_pretrained(clip_folder)
    assert (encoder.name, encoder.kind, encoder.dim, encoder.notes) == ("small-clip", "CLIP", 40, ())
    assert encoder.similarity.scale == pytest.approx(model.logit_scale.exp().item())
    with torch.no_grad():
        inputs = reference(list(TEXTS), padding=True, truncation=True, max_length=77, return_tensors="pt")
        encoded = encoder.encode_text(TEXTS)
        assert_close(encoded.vectors, model.get_text_features(**inputs).pooler_output)
        tokens = encoder.tokenizer.encode(TEXTS)
        np.testing.assert_array_equal(tokens.ids, inputs["input_ids"])
        np.testing.assert_array_equal(tokens.mask, inputs["attention_mask"])
        pixels = random_pixels(3, 48)
        normalised = torch.from_numpy(encoder.preprocessing.normalise(pixels))
        assert_close(encoder.encode_images(pixels), model.get_image_features(normalised).pooler_output)
    assert [[note.kind for note in notes] for notes in encoded.notes] == [[], [], [], ["cut"], []]


@pytest.mark.parametrize("form", ["bin", "shards", "old names"])
def test_that_weights_are_found_in_every_form(clip_folder: Path, folder: Path, form: str) -> None:
    model = transformers.CLIPModel.from_pretrained(clip_folder).eval()
    (folder / "model.safetensors").unlink()
    if form == "shards":
        model.save_pretrained(folder, max_shard_size="200KB")
        assert (folder / "model.safetensors.index.json").exists()
    else:
        state = model.state_dict()
        if form == "old names":  # buffers that older versions saved
            state["text_model.embeddings.position_ids"] = torch.arange(77)[None]
        torch.save(state, folder / "pytorch_model.bin")
    exact = open_encoder(clip_folder, device="cpu").encode_text(TEXTS).vectors
    np.testing.assert_array_equal(open_encoder(folder, device="cpu").encode_text(TEXTS).vectors, exact)


def test_that_an_end_token_of_the_first_configurations_is_pooled_at_the_texts_end(tmp_path: Path) -> None:
    model = made_models.save_clip(tmp_path, eos_token_id=2)
    encoder = open_encoder(tmp_path, device="cpu")
    ids = torch.from_numpy(encoder.tokenizer.encode(TEXTS).ids)
    with torch.no_grad():
        assert_close(encoder.encode_text(TEXTS).vectors, model.get_text_features(ids).pooler_output)


@pytest.mark.parametrize("projected", [True, False])
def test_that_half_a_clip_is_an_encoder_of_its_kind(
    clip_folder: Path, tmp_path: Path, projected: bool
) -> None:
    suffix = "WithProjection" if projected else ""
    whole = open_encoder(clip_folder, device="cpu")
    text = getattr(transformers, f"CLIPTextModel{suffix}").from_pretrained(clip_folder).eval()
    text.save_pretrained(tmp_path / "text")
    made_models.clip_tokenizer().save_pretrained(tmp_path / "text")
    vision = getattr(transformers, f"CLIPVisionModel{suffix}").from_pretrained(clip_folder).eval()
    vision.save_pretrained(tmp_path / "vision")
    words, pictures = (open_encoder(tmp_path / half, device="cpu") for half in ("text", "vision"))
    assert (words.has_text, words.has_images) == (True, False)
    assert (pictures.has_text, pictures.has_images) == (False, True)
    pixels, ids = random_pixels(3, 48), torch.from_numpy(words.tokenizer.encode(TEXTS).ids)
    normalised = torch.from_numpy(whole.preprocessing.normalise(pixels))
    with torch.no_grad():
        output = text(ids)
        assert_close(
            words.encode_text(TEXTS).vectors, output.text_embeds if projected else output.pooler_output
        )
        output = vision(normalised)
        expected = output.image_embeds if projected else output.pooler_output
        assert_close(pictures.encode_images(pixels), expected)
    with pytest.raises(ExplorerError, match="encodes no text"):
        pictures.encode_text(["a"])
    with pytest.raises(ExplorerError, match="encodes no pictures"):
        words.encode_images(pixels)


def test_that_without_a_tokenizer_pictures_are_still_encoded(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    encoder = open_encoder(folder, device="cpu")
    assert not encoder.has_text
    assert encoder.has_images
    with pytest.raises(ExplorerError, match=r"put its tokenizer\.json there"):
        encoder.encode_text(["a cat"])


def test_that_a_tokenizer_of_another_model_is_refused(folder: Path) -> None:
    full = transformers.CLIPTokenizer(
        vocab={f"w{i}": i for i in range(5000)} | {"<|startoftext|>": 5000, "<|endoftext|>": 5001}, merges=[]
    )
    full.save_pretrained(folder)
    with pytest.raises(ExplorerError, match="ids up to 5,001"):
        open_encoder(folder, device="cpu")


def test_that_nothing_in_a_configuration_is_fetched_or_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    def refuse(*args: object) -> None:
        raise AssertionError("a network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    (folder / "code.py").write_text("raise SystemExit('run')")
    exact = open_encoder(folder, device="cpu").encode_text(TEXTS).vectors
    change(
        folder / "config.json",
        auto_map={"AutoModel": "code.Model", "AutoConfig": "code.Config"},
        attn_implementation="kernels-community/flash-attn",
        _attn_implementation="owner/kernel",
        quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True},
        torch_dtype="float16",
    )
    np.testing.assert_array_equal(open_encoder(folder, device="cpu").encode_text(TEXTS).vectors, exact)


def test_that_a_configuration_that_does_not_fit_is_refused(folder: Path) -> None:
    values = json.loads((folder / "config.json").read_text())
    for key, value, says in (
        ("hidden_size", 128, "do not fit"),
        ("num_hidden_layers", 3, "lacks 16"),
        ("num_hidden_layers", 10**9, "cannot be right"),
        ("hidden_act", "os.system", "do not fit|of no use"),
        ("num_attention_heads", 7, "of no use"),
    ):
        text = {**values["text_config"], key: value}
        (folder / "config.json").write_text(json.dumps({**values, "text_config": text}))
        with pytest.raises(ExplorerError, match=says):
            open_encoder(folder, device="cpu")
    (folder / "config.json").write_text("{")
    with pytest.raises(ExplorerError, match=r"config\.json|holds"):
        open_encoder(folder, device="cpu")


def test_that_a_cached_model_opens_by_its_name(
    clip_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    entry = tmp_path / "models--owner--small-clip"
    shutil.copytree(clip_folder, entry / "snapshots" / "abc")
    (entry / "refs").mkdir()
    (entry / "refs" / "main").write_text("abc")
    other = tmp_path / "models--owner--a-language-model" / "snapshots" / "def"
    other.mkdir(parents=True)
    (other / "config.json").write_text('{"model_type": "llama"}')
    assert [model.name for model in local_encoders()] == ["owner/small-clip"]
    for path in ("owner/small-clip", entry, entry / "snapshots" / "abc"):
        encoder = open_encoder(path, device="cpu")
        assert (encoder.name, encoder.dim) == ("owner/small-clip", 40)
    with pytest.raises(ExplorerError, match="There is no file or folder"):
        open_encoder("owner/another", device="cpu")


def test_that_a_file_of_weights_opens_with_the_folder_that_it_lies_in(clip_folder: Path) -> None:
    assert open_encoder(clip_folder / "model.safetensors", device="cpu").dim == 40
    assert open_encoder(clip_folder / "config.json", device="cpu").dim == 40


@pytest.mark.parametrize("gemma", [False, True])
def test_that_a_siglip_folder_gives_its_models_vectors(tmp_path: Path, gemma: bool) -> None:
    model = made_models.siglip()
    model.save_pretrained(tmp_path)
    if gemma:
        save_unigram(tmp_path, tokenizer_class="GemmaTokenizer", pad_token="<pad>")
    else:
        (tmp_path / "spiece.model").write_bytes(sentence_piece_model())
    encoder = open_encoder(tmp_path, device="cpu")
    assert (encoder.kind, encoder.dim) == ("SigLIP", 64)
    assert encoder.similarity.kind == "sigmoid"
    assert encoder.similarity.bias == pytest.approx(model.logit_bias.item())
    texts = ["A photo, of a CAT!", "a dog", "", "cat " * 40]
    tokens = encoder.tokenizer.encode(texts)
    assert tokens.ids.shape == (4, 16)
    assert tokens.ids[0].tolist()[-2:] == ([0, 0] if gemma else [1, 1])
    assert tokens.pieces[3][-1] == "</s>"
    assert tokens.notes[3][0].kind == "cut"
    pixels = random_pixels(3, 32)
    normalised = torch.from_numpy(encoder.preprocessing.normalise(pixels))
    with torch.no_grad():
        ids = torch.from_numpy(tokens.ids)
        assert_close(encoder.encode_text(texts).vectors, model.get_text_features(ids).pooler_output)
        assert_close(encoder.encode_images(pixels), model.get_image_features(normalised).pooler_output)
    assert encoder.preprocessing.resize == "squash"
    assert encoder.preprocessing.mean == (0.5, 0.5, 0.5)
