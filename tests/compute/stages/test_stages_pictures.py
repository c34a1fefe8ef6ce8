"""Stages of a ViT for CIFAR's pictures and of a captioning model, beside torch's own layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from picture_checkpoints import captioning, cifar_vit, scene
from picture_references import (
    captioning_decoder,
    captioning_encoder,
    cross_attention,
    normalised,
    vit_outputs,
)
from PIL import Image
from safetensors.torch import load_file
from stage_checkpoints import State, save
from stage_references import assert_close

from explorer.compute.encoders.transformer import library
from explorer.compute.stages import open_stage_model
from explorer.compute.stages.base import StageModel
from explorer.core.errors import ExplorerError
from explorer.core.stages import Needs, Of

HALF = (0.5, 0.5, 0.5)
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pytest.fixture(scope="module")
def vit_state() -> State:
    return cifar_vit()


@pytest.fixture(scope="module")
def vit(vit_state: State, tmp_path_factory: pytest.TempPathFactory) -> StageModel:
    return open_stage_model(save(vit_state, tmp_path_factory.mktemp("vit") / "ViT.pth"))


@pytest.fixture(scope="module")
def caption_state() -> State:
    return captioning()


@pytest.fixture(scope="module")
def captioner(caption_state: State, tmp_path_factory: pytest.TempPathFactory) -> StageModel:
    return open_stage_model(save(caption_state, tmp_path_factory.mktemp("caption") / "caption.pth"))


def test_that_each_stage_of_the_vit_is_that_of_torch(vit: StageModel, vit_state: State) -> None:
    assert (vit.name, vit.needs) == ("ViT", Needs.PICTURE)
    picture = scene(32, 32)
    run = vit.run(picture=picture)
    names = ["patches projected", "with position", *(f"after layer {n}" for n in range(1, 5))]
    assert [each.name for each in run.stages] == [*names, "pooled"]
    expected = vit_outputs(vit_state, normalised(picture, HALF, HALF))
    for name, reference in zip(names, expected, strict=True):
        assert_close(run[name], reference)
    assert run["patches projected"].shape == (64, 48)
    assert run["with position"].shape == (65, 48)
    assert_close(run["pooled"], expected[-1][0])


def test_that_a_vits_rows_are_its_class_token_and_its_patches(vit: StageModel) -> None:
    picture = scene(32, 32)
    run = vit.run(picture=picture)
    assert run.patches is not None
    assert [token.label for token in run.tokens[:2]] == ["class token", "patch 1,1"]
    assert len(run.tokens) == 65
    assert run["patches projected"].first == 1
    assert all(each.of is Of.PATCHES for each in run.stages[:-1])
    np.testing.assert_array_equal(run.patches.crop(9), np.asarray(picture)[4:8, 4:8])


def test_that_a_vit_looks_at_all_of_its_places(vit: StageModel, vit_state: State) -> None:
    attention = vit.run(picture=scene(32, 32)).attentions[0]
    weights = attention.weights(1)
    assert (attention.layers, attention.heads, weights.shape) == (4, 4, (4, 65, 65))
    np.testing.assert_allclose(weights.sum(2), 1, atol=1e-5)


def test_that_a_larger_picture_is_cut_to_its_middle(vit: StageModel) -> None:
    wide = Image.new("RGB", (96, 32), (255, 0, 0))
    middle = scene(32, 32)
    wide.paste(middle, (32, 0))
    run, alone = vit.run(picture=wide), vit.run(picture=middle)
    assert_close(run["pooled"], torch.from_numpy(alone["pooled"].values))
    assert any("32 × 32" in note for note in run.notes)


def test_that_a_vit_reads_no_text_and_says_so(vit: StageModel) -> None:
    with pytest.raises(ExplorerError, match="reads no text"):
        vit.run("a cat")
    with pytest.raises(ExplorerError, match="nothing for this ViT"):
        vit.run()


@pytest.mark.parametrize("shape", [(48,), (1, 48), (1, 1, 48)])
def test_that_a_class_token_comes_with_any_number_of_axes(
    vit_state: State, vit: StageModel, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    token = vit_state["embedding.cls_token"].reshape(shape)
    other = open_stage_model(save({**vit_state, "embedding.cls_token": token}, tmp_path / "ViT.pth"))
    picture = scene(32, 32)
    np.testing.assert_array_equal(
        other.run(picture=picture)["pooled"].values, vit.run(picture=picture)["pooled"].values
    )


def test_that_a_vit_of_other_shapes_is_refused_in_one_sentence(vit_state: State, tmp_path: Path) -> None:
    places = {**vit_state, "embedding.position_embeddings": torch.randn(1, 60, 48)}
    with pytest.raises(ExplorerError, match="not square"):
        open_stage_model(save(places, tmp_path / "a.pth"))
    missing = {name: value for name, value in vit_state.items() if "blocks.2.mlp.dense_2" not in name}
    with pytest.raises(ExplorerError, match=r"mlp\.dense_2\.weight is missing"):
        open_stage_model(save(missing, tmp_path / "b.pth"))
    name = "encoder.blocks.1.attention.heads.3.key.weight"
    narrow = {**vit_state, name: vit_state[name][:, :40].clone()}
    with pytest.raises(ExplorerError, match=r"\(12, 40\), not \(12, 48\)"):
        open_stage_model(save(narrow, tmp_path / "c.pth"))


@pytest.mark.parametrize("activation", ["gelu", "quick_gelu", "relu"])
def test_that_each_stage_of_a_public_vit_is_that_of_transformers(tmp_path: Path, activation: str) -> None:
    transformers = library()
    torch.manual_seed(3)
    config = transformers.ViTConfig(
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=256,
        image_size=48,
        patch_size=16,
        initializer_range=0.2,
        hidden_act=activation,
    )
    model = transformers.ViTForImageClassification(config).eval()
    model.save_pretrained(tmp_path)
    picture = scene(48, 48)
    run = open_stage_model(tmp_path).run(picture=picture)
    with torch.inference_mode():
        output = model.vit(normalised(picture, HALF, HALF), output_hidden_states=True)
    assert_close(run["with position"], output.hidden_states[0][0])
    assert_close(run["after layer 1"], output.hidden_states[1][0])
    assert_close(run["final norm"], output.last_hidden_state[0])


def test_that_timms_names_give_the_same_as_those_of_transformers(tmp_path: Path) -> None:
    transformers = library()
    torch.manual_seed(4)
    config = transformers.ViTConfig(
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=256,
        image_size=48,
        patch_size=16,
        initializer_range=0.2,
        layer_norm_eps=1e-6,
    )
    model = transformers.ViTModel(config, add_pooling_layer=False).eval()
    model.save_pretrained(tmp_path / "saved")
    published = load_file(tmp_path / "saved" / "model.safetensors")
    path = save(as_timm(published), tmp_path / "vit.pth")
    picture = scene(48, 48)
    with torch.inference_mode():
        output = model(normalised(picture, HALF, HALF), output_hidden_states=True)
    run = open_stage_model(path).run(picture=picture)
    assert_close(run["after layer 2"], output.hidden_states[-1][0])
    assert_close(run["final norm"], output.last_hidden_state[0])


def as_timm(state: State) -> State:
    renamed = {
        "cls_token": state["embeddings.cls_token"],
        "pos_embed": state["embeddings.position_embeddings"],
    }
    for part in ("weight", "bias"):
        renamed[f"patch_embed.proj.{part}"] = state[f"embeddings.patch_embeddings.projection.{part}"]
        renamed[f"norm.{part}"] = state[f"layernorm.{part}"]
        for number in range(2):
            old, new = f"encoder.layer.{number}", f"blocks.{number}"
            qkv = [state[f"{old}.attention.attention.{name}.{part}"] for name in ("query", "key", "value")]
            renamed[f"{new}.attn.qkv.{part}"] = torch.cat(qkv)
            for ours, theirs in (
                ("attention.output.dense", "attn.proj"),
                ("intermediate.dense", "mlp.fc1"),
                ("output.dense", "mlp.fc2"),
                ("layernorm_before", "norm1"),
                ("layernorm_after", "norm2"),
            ):
                renamed[f"{new}.{theirs}.{part}"] = state[f"{old}.{ours}.{part}"]
    return renamed


def test_that_each_stage_of_the_captioning_model_is_that_of_torch(
    captioner: StageModel, caption_state: State
) -> None:
    assert captioner.name == "captioning model"
    picture, ids = scene(128, 128), [1, 17, 8386, 4, 2]
    run = captioner.run(ids=ids, picture=picture)
    eye = ["patches projected", "with position", *(f"after layer {n}" for n in range(1, 7))]
    words = ["looked up", "decoder with position", *(f"after decoder layer {n}" for n in range(1, 7))]
    assert [each.name for each in run.stages] == [*eye, "encoder output", "ids", "one-hot", *words]
    seen = captioning_encoder(caption_state, normalised(picture, *IMAGENET))
    for name, reference in zip(eye, seen, strict=True):
        assert_close(run[name], reference)
    assert run["encoder output"].shape == (256, 192)
    assert_close(run["encoder output"], seen[-1])
    for name, reference in zip(words, captioning_decoder(caption_state, ids, seen[-1]), strict=True):
        assert_close(run[name], reference)


def test_that_each_caption_word_looks_at_the_patches_as_torch_says(
    captioner: StageModel, caption_state: State
) -> None:
    picture, ids = scene(128, 128), [1, 17, 30]
    run = captioner.run(ids=ids, picture=picture)
    found = {each.name: each for each in run.attentions}
    cross = found["cross-attention"]
    assert (cross.queries, cross.keys, cross.layers, cross.heads) == (Of.TOKENS, Of.PATCHES, 6, 8)
    x = torch.from_numpy(run["decoder with position"].values)
    patches = torch.from_numpy(run["encoder output"].values)
    with torch.inference_mode():
        expected = cross_attention(caption_state, x, patches)
    np.testing.assert_allclose(cross.weights(1), expected, atol=1e-5)
    assert found["caption self-attention"].weights(6).shape == (8, 3, 3)
    assert found["self-attention"].weights(6).shape == (8, 256, 256)


def test_that_a_picture_alone_runs_through_the_captioning_models_encoder(captioner: StageModel) -> None:
    run = captioner.run(picture=scene(200, 140))
    assert run.stages[-1].name == "encoder output"
    assert len(run.tokens) == 256
    with pytest.raises(ExplorerError, match="nothing for this captioning model"):
        captioner.run()


def test_that_a_caption_alone_is_looked_up_and_placed_and_no_further(captioner: StageModel) -> None:
    alone, with_picture = captioner.run(ids=[1, 2]), captioner.run(ids=[1, 2], picture=scene(128, 128))
    assert [stage.name for stage in alone.stages] == ["ids", "one-hot", "looked up", "decoder with position"]
    for name in ("looked up", "decoder with position"):
        assert (alone[name].values == with_picture[name].values).all()
    assert "The decoder also looks at a picture" in alone.notes[0]


def test_that_a_typed_caption_is_read_by_a_vocabulary(caption_state: State, tmp_path: Path) -> None:
    words = ["<pad>", "<start>", "<end>", "<unk>", *(f"w{i}" for i in range(8383))]
    words[4:7] = ["a", "dog", "runs"]
    (tmp_path / "words.txt").write_text("\n".join(words), "utf-8")
    model = open_stage_model(save(caption_state, tmp_path / "caption.pth"), labels=tmp_path / "words.txt")
    run = model.run("a dog runs", picture=scene(128, 128))
    assert run["ids"].values.tolist() == [4, 5, 6]
    wrapped = model.run("a dog flies", picture=scene(128, 128), special=True)
    assert wrapped["ids"].values.tolist() == [1, 4, 5, 3, 2]
