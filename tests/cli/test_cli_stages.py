"""``embedding-explorer stages``: what a model makes of a text, for people and for programs."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from said import Said

WORDS = ("PAD", "UNK", "BOS", "EOS", "wie</w>", "geht</w>", "es</w>", "dir</w>", "you</w>")


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small translator of the books' names, and its vocabularies."""
    folder = tmp_path_factory.mktemp("translator")
    random = torch.Generator().manual_seed(4)

    def made(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=random) * 0.3

    state = {}
    for name in (f"{side}.layers.{layer}" for side in ("encoder", "decoder") for layer in range(2)):
        attentions = ("self_attn",) if name.startswith("encoder") else ("self_attn", "src_attn")
        for linear in (f"{attention}.linears.{part}" for attention in attentions for part in range(4)):
            state |= {f"{name}.{linear}.weight": made(16, 16), f"{name}.{linear}.bias": made(16)}
        state |= {f"{name}.feed_forward.w_1.weight": made(24, 16), f"{name}.feed_forward.w_1.bias": made(24)}
        state |= {f"{name}.feed_forward.w_2.weight": made(16, 24), f"{name}.feed_forward.w_2.bias": made(16)}
        for norm in (f"{name}.sublayer.{part}.norm" for part in range(1 + len(attentions))):
            state |= {f"{norm}.a_2": made(16), f"{norm}.b_2": made(16)}
    for norm in ("encoder.norm", "decoder.norm"):
        state |= {f"{norm}.a_2": made(16) + 1, f"{norm}.b_2": made(16)}
    state |= {"src_embed.0.lut.weight": made(9, 16), "tgt_embed.0.lut.weight": made(7, 16)}
    state |= {"src_embed.1.pe": made(1, 50, 16), "tgt_embed.1.pe": made(1, 50, 16)}
    state |= {"generator.proj.weight": made(7, 16), "generator.proj.bias": made(7)}
    torch.save(state, folder / "de2en.pth")
    source = {word: row for row, word in enumerate(WORDS)}
    target = {word: row for row, word in enumerate([*WORDS[:4], "how</w>", "are</w>", "you</w>"])}
    both = (
        source,
        {row: word for word, row in source.items()},
        target,
        {row: word for word, row in target.items()},
    )
    (folder / "dict.p").write_bytes(pickle.dumps(both, protocol=4))
    return folder


def test_that_json_holds_tokens_and_every_stage(call: Callable[..., Said], translator: Path) -> None:
    answer = call("stages", translator / "de2en.pth", "Wie geht es dir", "--json").answer
    assert list(answer) == ["model", "tokens", "stages", "notes"]
    assert answer["model"] == "translator"
    assert answer["tokens"] == [{"id": row, "label": WORDS[row]} for row in (4, 5, 6, 7)]
    names = ["ids", "one-hot", "looked up", "scaled", "with position", "after layer 1", "after layer 2"]
    assert [stage["name"] for stage in answer["stages"]] == [*names, "final norm", "encoder output", "pooled"]
    shapes = {stage["name"]: stage["shape"] for stage in answer["stages"]}
    assert shapes["ids"] == [4]
    assert shapes["one-hot"] == [4, 9]
    assert shapes["pooled"] == [16]
    assert all(shapes[name] == [4, 16] for name in [*names[2:], "encoder output"])
    for stage in answer["stages"]:
        if stage["name"] == "one-hot":
            assert stage["values"] is None
        else:
            assert list(np.shape(stage["values"])) == stage["shape"]


def test_that_an_npz_holds_the_tokens_and_an_array_for_each_stage(
    call: Callable[..., Said], translator: Path, tmp_path: Path
) -> None:
    out = tmp_path / "stages.npz"
    answer = call("stages", translator / "de2en.pth", "wie geht", "--json", "-o", out).answer
    with np.load(out, allow_pickle=False) as found:
        assert found["tokens"].tolist() == ["wie</w>", "geht</w>"]
        assert set(found) == {"tokens", *(s["name"] for s in answer["stages"] if s["values"] is not None)}
        assert found["ids"].dtype == np.int64
        for stage in answer["stages"]:
            if stage["values"] is not None:
                np.testing.assert_array_equal(
                    found[stage["name"]], np.array(stage["values"], found["scaled"].dtype)
                )


def test_that_people_see_each_stage_with_its_shape(call: Callable[..., Said], translator: Path) -> None:
    said = call("stages", translator / "de2en.pth", "wie", "☃☃")
    assert said.status == 0
    lines = said.out.splitlines()
    assert lines[0] == "translator: wie</w> ☃☃?"
    assert any(line.startswith("scaled") and "2 × 16" in line and "√16 = 4" in line for line in lines)
    assert "note: Not in the vocabulary, so read as its unknown token: “☃☃”." in lines


def test_that_sides_special_tokens_and_ids_are_followed(call: Callable[..., Said], translator: Path) -> None:
    def ids(*arguments: str) -> list[int]:
        answer = call("stages", translator / "de2en.pth", *arguments, "--json").answer
        return [token["id"] for token in answer["tokens"]]

    assert ids("how are you", "--side", "target") == [4, 5, 6]
    assert ids("wie geht", "--special-tokens") == [2, 4, 5, 3]
    assert ids("--ids", "5,8,3") == [5, 8, 3]
    assert ids("--ids=5, 8") == [5, 8]
    assert ids("#5 #8") == [5, 8]


def test_that_a_decoder_is_run_beside_a_source(
    call: Callable[..., Said], translator: Path, tmp_path: Path
) -> None:
    out = tmp_path / "stages.npz"
    arguments = ("how are you", "--side", "target", "--source", "Wie geht es dir")
    answer = call("stages", translator / "de2en.pth", *arguments, "--json", "-o", out).answer
    assert answer["tokens"] == [
        {"id": 4 + n, "label": word} for n, word in enumerate(("how</w>", "are</w>", "you</w>"))
    ]
    assert answer["source"] == [{"id": row, "label": WORDS[row]} for row in (4, 5, 6, 7)]
    shapes = {stage["name"]: stage["shape"] for stage in answer["stages"]}
    assert shapes["encoder output"] == [4, 16]
    assert shapes["after decoder layer 2"] == shapes["final norm"] == [3, 16]
    with np.load(out, allow_pickle=False) as found:
        assert found["source"].tolist() == ["wie</w>", "geht</w>", "es</w>", "dir</w>"]
        assert found["after decoder layer 1"].shape == (3, 16)
    by_ids = call("stages", translator / "de2en.pth", *arguments[:3], "--source", "#4 #5 #6 #7", "--json")
    assert by_ids.answer == answer
    assert (
        "source: wie</w> geht</w> es</w> dir</w>" in call("stages", translator / "de2en.pth", *arguments).out
    )


def test_that_music_is_typed_by_its_events(call: Callable[..., Said], tmp_path: Path) -> None:
    random = torch.Generator().manual_seed(4)
    shapes = {"attn.c_attn": (48, 16), "attn.c_proj": (16, 16), "mlp.c_fc": (64, 16), "mlp.c_proj": (16, 64)}
    state = {
        "transformer.wte.weight": torch.randn(390, 16, generator=random),
        "transformer.wpe.weight": torch.randn(2048, 16, generator=random),
        "lm_head.weight": torch.randn(390, 16, generator=random),
        **{f"transformer.{name}.weight": torch.ones(16) for name in ("h.0.ln_1", "h.0.ln_2", "ln_f")},
        **{f"transformer.{name}.bias": torch.zeros(16) for name in ("h.0.ln_1", "h.0.ln_2", "ln_f")},
    }
    for name, shape in shapes.items():
        state[f"transformer.h.0.{name}.weight"] = torch.randn(shape, generator=random)
        state[f"transformer.h.0.{name}.bias"] = torch.zeros(shape[0])
    torch.save(state, tmp_path / "musicTrans.pth")
    answer = call("stages", tmp_path / "musicTrans.pth", "note_on_60 time_shift_10 end", "--json").answer
    assert answer["tokens"] == [
        {"id": 60, "label": "note_on_60"},
        {"id": 256, "label": "time_shift_10"},
        {"id": 388, "label": "end"},
    ]


def test_that_numbers_that_are_none_are_null(call: Callable[..., Said], tmp_path: Path) -> None:
    table = torch.ones(5, 4)
    table[2, 1] = torch.nan
    torch.save({"token_embedding.weight": table}, tmp_path / "m.pth")
    answer = call("stages", tmp_path / "m.pth", "--ids", "2", "--json").answer
    assert answer["stages"][-1]["values"] == [[1, None, 1, 1]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("wie", "--ids", "3"), "There are both a text and ids; give one of them."),
        ((), "There is nothing for this translator to work on; type a text, or give token ids."),
        (("--ids", "9"), "There is no token 9: the table has 9 rows; give ids from 0 to 8."),
        (("wie", "--image", "nowhere.png"), "There is no file nowhere.png."),
        (("--image", "."), f"{Path.cwd().name} cannot be used as a picture: it is a folder."),
        (("wie", "-o", "nowhere/out.npz"), "There is no folder nowhere to write out.npz to."),
        (
            ("wie", "--heads", "3"),
            "A width of 16 cannot be split into 3 heads; say with --heads how many there are.",
        ),
        (
            ("wie", "--source", "wie"),
            "On this side a translator looks at no source sentence; "
            "choose the target side, or leave the source out.",
        ),
        (("wie", "--labels", "nowhere.p"), "There is no file nowhere.p."),
    ],
)
def test_that_bad_calls_get_one_sentence(
    call: Callable[..., Said], translator: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    assert call("stages", translator / "de2en.pth", *arguments).sentence == sentence


def test_that_a_text_without_a_vocabulary_says_what_to_do(
    call: Callable[..., Said], translator: Path, tmp_path: Path
) -> None:
    path = tmp_path / "alone.pth"
    path.write_bytes((translator / "de2en.pth").read_bytes())
    said = call("stages", path, "Wie geht es dir")
    assert said.sentence == (
        "There is no vocabulary for this translator's source side; "
        "add the vocabulary, or give token ids (5 17 3)."
    )


@pytest.mark.parametrize("ids", ["", "a", "1,-2", "1;2", "1.5", "99999999999999"])
def test_that_ids_that_are_none_are_refused(call: Callable[..., Said], translator: Path, ids: str) -> None:
    said = call("stages", translator / "de2en.pth", "--ids", ids)
    assert said.status == 2
    assert "is no list of token ids such as 5,17,3" in said.err


def test_that_the_command_runs_as_a_process_of_its_own(start: Callable[..., Said]) -> None:
    path = Path("resources/demo/wordLSTM.pth").resolve()
    said = start("stages", path, "the king of judah", "--heads", "4", "--json")
    assert said.err == ""
    assert "How many heads there are is not a choice in this model." in said.answer["notes"]
    assert [token["label"] for token in said.answer["tokens"]] == ["the", "king", "of", "judah"]
