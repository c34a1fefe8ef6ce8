"""Hugging Face folders: weights whole or in shards, pipelines, the local cache, and tied names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from explorer.core.errors import ExplorerError
from explorer.readers import open_file

WORDS = [f"w{i}" for i in range(60)]
ROWS = torch.arange(240, dtype=torch.float32).reshape(60, 4)
GPT = {"transformer.wte.weight": ROWS, "transformer.wpe.weight": ROWS[:8].clone()}
BERT = {"embeddings.word_embeddings.weight": ROWS, "embeddings.position_embeddings.weight": ROWS[:8].clone()}
CLIP = {
    "text_model.embeddings.token_embedding.weight": ROWS,
    "text_model.embeddings.position_embedding.weight": ROWS[:7].clone(),
}


def folder_of(path: Path, state: dict, config: dict | None = None, name: str = "model.safetensors") -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(config or {"model_type": "gpt2"}))
    if name.endswith(".safetensors"):
        safetensors.torch.save_file(state, path / name)
    else:
        torch.save(state, path / name)
    return path


def vocabulary(path: Path, words: list[str] = WORDS) -> None:
    path.mkdir(parents=True, exist_ok=True)
    (path / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))


def sharded(path: Path, kind: str = "safetensors") -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"]}))
    parts = {"model.embed_tokens.weight": ROWS, "model.norm.weight": ROWS[0].clone(), "lm_head.weight": -ROWS}
    stem = "model" if kind == "safetensors" else "pytorch_model"
    weight_map = {}
    for i, (name, tensor) in enumerate(parts.items(), 1):
        shard = f"{stem}-{i:05d}-of-00003.{kind}"
        save = safetensors.torch.save_file if kind == "safetensors" else torch.save
        save({name: tensor}, path / shard)
        weight_map[name] = shard
    (path / f"{stem}.{kind}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return path


@pytest.mark.parametrize(
    "name", ["model.safetensors", "pytorch_model.bin", "open_clip_pytorch_model.bin", "weights.pth"]
)
def test_that_a_folder_opens_with_the_vocabulary_beside_its_weights(tmp_path: Path, name: str) -> None:
    folder = folder_of(tmp_path / "gpt", GPT, name=name)
    vocabulary(folder)
    opened = open_file(folder)
    assert opened.path == folder
    assert [table.role.value for table in opened.tables] == ["token", "position"]
    assert list(opened.tables[0].labels) == WORDS
    np.testing.assert_array_equal(opened.tables[0].read(), ROWS.numpy())


def test_that_weights_opened_by_themselves_find_the_folders_vocabulary(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "gpt", GPT)
    vocabulary(folder)
    assert list(open_file(folder / "model.safetensors").tables[0].labels) == WORDS
    shards = sharded(tmp_path / "llama")
    vocabulary(shards)
    assert list(open_file(shards / "model-00001-of-00003.safetensors").tables[0].labels) == WORDS


@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_that_shards_are_one_model(tmp_path: Path, kind: str) -> None:
    folder = sharded(tmp_path / "llama", kind)
    for path in (folder, next(folder.glob("*.index.json"))):
        opened = open_file(path)
        assert "3 shards" in opened.format
        assert [(t.name, t.role.value, t.aliases) for t in opened.tables] == [
            ("model.embed_tokens.weight", "token", ()),
            ("lm_head.weight", "output layer", ()),
        ]
        np.testing.assert_array_equal(opened.tables[1].read(), -ROWS.numpy())


def test_that_shards_without_their_index_are_one_model_where_all_are_there(tmp_path: Path) -> None:
    folder = sharded(tmp_path / "llama")
    (folder / "model.safetensors.index.json").unlink()
    assert [table.role.value for table in open_file(folder).tables] == ["token", "output layer"]
    (folder / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(ExplorerError, match="holds 2 checkpoints"):
        open_file(folder)


def test_that_a_missing_shard_is_named(tmp_path: Path) -> None:
    folder = sharded(tmp_path / "llama")
    (folder / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(ExplorerError, match=r"model-00002-of-00003\.safetensors is missing.* lists 3"):
        open_file(folder)


@pytest.mark.parametrize(
    "name", ["../secret.safetensors", "/etc/passwd", "a/../../b", "C:\\x", "..\\x", "", 5, None]
)
def test_that_an_index_cannot_lead_out_of_its_folder(tmp_path: Path, name: object) -> None:
    safetensors.torch.save_file(GPT, tmp_path / "secret.safetensors")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"wte.weight": name}}))
    with pytest.raises(ExplorerError, match="outside its folder"):
        open_file(folder)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"weight_map": []}', '{"weight_map": {}}', "[" * 100_000]
)
def test_that_an_index_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(content)
    with pytest.raises(ExplorerError, match="no index of shards"):
        open_file(tmp_path)


@pytest.mark.parametrize(
    ("state", "config", "aliases"),
    [
        (GPT, {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, ("lm_head.weight",)),
        (GPT, {"model_type": "gpt2", "tie_word_embeddings": True}, ("lm_head.weight",)),
        (GPT, {"architectures": ["GPT2LMHeadModel"], "tie_word_embeddings": False}, ()),
        (GPT, {"architectures": ["GPT2Model"]}, ()),
        (GPT, {"architectures": ["GPT2Model"], "tie_word_embeddings": True}, ()),
        (
            BERT,
            {"model_type": "bert", "architectures": ["BertForMaskedLM"]},
            ("cls.predictions.decoder.weight",),
        ),
        (
            BERT,
            {"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"]},
            ("vocab_projector.weight",),
        ),
        ({**GPT, "lm_head.weight": -ROWS}, {"architectures": ["GPT2LMHeadModel"]}, ()),
        (GPT, {"architectures": "nonsense"}, ()),
        (GPT, {"architectures": [7]}, ()),
    ],
)
def test_that_a_name_tied_by_the_configuration_is_an_alias(
    tmp_path: Path, state: dict, config: dict, aliases: tuple[str, ...]
) -> None:
    folder = folder_of(tmp_path / "m", state, config)
    for path in (folder, folder / "model.safetensors"):
        assert open_file(path).tables[0].aliases == aliases


def test_that_a_shard_alone_is_not_said_to_tie_what_lies_in_another(tmp_path: Path) -> None:
    folder = sharded(tmp_path / "llama")
    opened = open_file(folder / "model-00001-of-00003.safetensors")
    assert opened.tables[0].aliases == ()
    assert opened.notes == ("This is one of 3 shards: open the folder for the whole model.",)


def test_that_a_diffusers_folder_offers_its_text_encoders(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text("{}")
    folder_of(tmp_path / "text_encoder", CLIP)
    vocabulary(tmp_path / "tokenizer")
    folder_of(tmp_path / "vae", {"encoder.conv_in.weight": torch.zeros(4, 3, 3, 3)})
    opened = open_file(tmp_path)
    assert opened.format == "diffusers folder"
    assert [(t.name, t.role.value) for t in opened.tables] == list(
        zip(CLIP, ["token", "position"], strict=True)
    )
    assert list(opened.tables[0].labels) == WORDS


def test_that_two_text_encoders_are_told_apart_and_named_by_their_own_tokenizers(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text("{}")
    folder_of(tmp_path / "text_encoder", CLIP)
    folder_of(tmp_path / "text_encoder_2", {"shared.weight": torch.cat([ROWS, ROWS])[:70].clone()})
    vocabulary(tmp_path / "tokenizer")
    vocabulary(tmp_path / "tokenizer_2", [f"piece{i}" for i in range(70)])
    tables = {table.name: table for table in open_file(tmp_path).tables}
    assert list(tables) == [
        "text_encoder/text_model.embeddings.token_embedding.weight",
        "text_encoder_2/shared.weight",
        "text_encoder/text_model.embeddings.position_embedding.weight",
    ]
    assert tables["text_encoder/text_model.embeddings.token_embedding.weight"].labels[0] == "w0"
    assert tables["text_encoder_2/shared.weight"].labels[0] == "piece0"


def test_that_sentence_transformers_modules_are_followed(tmp_path: Path) -> None:
    modules = [
        {"idx": 0, "path": "0_Transformer"},
        {"idx": 1, "path": "1_Pooling"},
        {"idx": 2, "path": "../x"},
    ]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    folder_of(tmp_path / "0_Transformer", BERT)
    vocabulary(tmp_path / "0_Transformer")
    opened = open_file(tmp_path)
    assert opened.tables[0].name == "embeddings.word_embeddings.weight"
    assert list(opened.tables[0].labels) == WORDS


def test_that_a_model_in_the_local_cache_opens_at_its_snapshot(tmp_path: Path) -> None:
    root = tmp_path / "models--me--gpt"
    old, new = root / "snapshots" / "0a1b", root / "snapshots" / "2c3d"
    folder_of(old, {"transformer.wte.weight": -ROWS})
    folder_of(new, GPT)
    vocabulary(new)
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("2c3d")
    opened = open_file(root)
    np.testing.assert_array_equal(opened.tables[0].read(), ROWS.numpy())
    assert list(opened.tables[0].labels) == WORDS
    (root / "refs" / "main").write_text("../../..")
    assert open_file(root).tables[0].rows == 60


def test_that_a_cached_model_behind_links_finds_its_neighbours(tmp_path: Path) -> None:
    folder_of(tmp_path / "blobs", GPT)
    snapshot = tmp_path / "snapshots" / "abc"
    vocabulary(snapshot)
    (snapshot / "model.safetensors").symlink_to(tmp_path / "blobs" / "model.safetensors")
    assert list(open_file(snapshot / "model.safetensors").tables[0].labels) == WORDS


def test_that_weights_that_were_never_fetched_are_told(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", GPT)
    (folder / "model.safetensors").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    )
    with pytest.raises(ExplorerError, match=r"model\.safetensors is a Git LFS pointer"):
        open_file(folder)


def test_that_several_checkpoints_in_a_model_folder_are_listed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", GPT, name="step1.pth")
    torch.save(GPT, folder / "step2.pth")
    with pytest.raises(ExplorerError, match=r"2 checkpoints: step1\.pth, step2\.pth"):
        open_file(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tf_model.h5", "Flax or TensorFlow only"),
        ("flax_model.msgpack", "Flax or TensorFlow only"),
        ("model.gguf", "GGUF models only"),
        ("README.md", "holds neither a checkpoint nor pictures"),
    ],
)
def test_that_a_model_folder_without_readable_weights_says_so(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / name).write_bytes(b"GGUF" if name.endswith("gguf") else b"\0\1\2\3")
    with pytest.raises(ExplorerError, match=message):
        open_file(tmp_path)
