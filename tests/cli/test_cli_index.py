"""``index``, ``search`` and ``evaluate``: from a folder of pictures to ranked answers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

sys.path += [
    str(Path(__file__).parents[1] / "compute"),
    str(Path(__file__).parents[1] / "compute" / "encoders"),
]
from made_models import save_clip
from picture_folders import write_odd_pictures, write_picture, write_pictures

from explorer.compute.encoders.opening import open_encoder
from explorer.readers.picture_index import open_index
from explorer.readers.pictures import read_picture

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny-clip"
    save_clip(folder)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield folder
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def indexed(clip, tmp_path_factory):
    """A folder of eight good pictures, six bad ones and a duplicate, with captions, and its index."""
    from explorer.cli.run import main

    place = tmp_path_factory.mktemp("indexed")
    folder = place / "pictures"
    names = write_pictures(folder, 8)
    write_odd_pictures(folder)
    shutil.copy(folder / names[0], folder / "zz-copy.png")
    lines = [
        f"{name},picture {word}" for name, word in zip(names, ["one", "two", "three", "four"], strict=False)
    ]
    lines += [f"{names[0]},the first", "absent.png,nothing", "cut.jpg,cut"]
    (folder / "captions.txt").write_text("\n".join(["image,caption", *lines]))
    assert main(["index", str(folder), "--encoder", str(clip), "-o", str(place / "index")]) == 0
    return place


def vectors_of(index: Path) -> np.ndarray:
    vectors = open_index(index).vectors()
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_that_index_tells_what_it_found_in_json(call, clip, indexed):
    said = call("index", indexed / "pictures", "--encoder", clip, "-o", indexed / "index", "--json")
    assert (said.status, said.err) == (0, "")
    answer = said.answer
    assert (answer["encoder"], answer["rows"], answer["vectors"], answer["encoded"]) == (
        "tiny-clip",
        15,
        9,
        0,
    )
    assert answer["captions"] == {"count": 6, "sources": ["captions.txt"], "unmatched": ["absent.png"]}
    assert {Path(bad["path"]).name: bad["verdict"] for bad in answer["verdicts"]} == {
        "bomb.png": "too large",
        "cut.jpg": "cut off",
        "damaged.jpg": "unreadable",
        "empty.png": "empty",
        "link.jpg": "gone",
        "page.jpg": "not a picture",
    }
    (twin,) = answer["duplicates"]
    assert Path(twin["path"]).is_absolute()
    assert twin["path"].endswith("zz-copy.png")
    assert open_index(indexed / "index").name(twin["same_as"]) == "picture-0-000.png"


def test_that_index_lists_verdicts_for_people(call, clip, indexed):
    out = call("index", indexed / "pictures", "--encoder", clip, "-o", indexed / "index").out
    assert "9 of 15 pictures have a vector by tiny-clip" in out
    assert "bomb.png" in out
    assert "2,500,000,000 pixels are more than are decoded" in out


def test_that_text_finds_pictures_by_cosine(call, clip, indexed):
    said = call("search", indexed / "index", "a red circle", "-k", "20", "--json")
    assert (said.status, said.err) == (0, "")
    assert list(said.answer) == ["query", "encoder", "notes", "results"]
    assert (said.answer["query"], said.answer["encoder"]) == ("a red circle", "tiny-clip")
    results = said.answer["results"]
    assert list(results[0]) == ["rank", "row", "path", "score", "caption"]
    scores = (
        vectors_of(indexed / "index")
        @ open_encoder(clip, device="cpu").encode_text(["a red circle"]).vectors[0]
    )
    taken = [row for row in range(14) if np.isfinite(scores[row])]
    assert [each["row"] for each in results] == sorted(taken, key=lambda row: -scores[row])
    assert [each["score"] for each in results] == pytest.approx(
        [scores[each["row"]] for each in results], abs=1e-5
    )
    assert all(Path(each["path"]).is_file() and Path(each["path"]).is_absolute() for each in results)
    captions = {Path(each["path"]).name: each["caption"] for each in results}
    assert (captions["picture-0-001.png"], captions["picture-0-007.png"]) == ("picture two", None)


def test_that_a_picture_finds_itself_and_joins_a_text(call, clip, indexed):
    wanted = indexed / "pictures" / "picture-0-003.png"
    said = call("search", indexed / "index", "--image", wanted, "-k", "1", "--json")
    (first,) = said.answer["results"]
    assert (Path(first["path"]), said.answer["query"]) == (wanted, None)
    assert first["score"] == pytest.approx(1, abs=1e-5)

    encoder = open_encoder(clip, device="cpu")
    pixels = encoder.preprocessing.prepare(read_picture(wanted).image)[None]
    texts = encoder.encode_text(["a dog", "on the beach", "people"]).vectors
    sum_ = texts[0] + 0.5 * texts[1] - texts[2] + encoder.encode_images(pixels)[0]
    scores = vectors_of(indexed / "index") @ (sum_ / np.linalg.norm(sum_))
    query = 'a dog + 0.5*"on the beach" - people'
    said = call("search", indexed / "index", query, "--image", wanted, "-k", "2", "--json")
    results = said.answer["results"]
    assert [each["score"] for each in results] == pytest.approx(
        np.sort(np.nan_to_num(scores[:14], nan=-1))[::-1][:2], abs=1e-5
    )


def test_that_rows_find_others_and_bad_rows_are_refused(call, indexed):
    vectors = vectors_of(indexed / "index")
    index = open_index(indexed / "index")
    row = next(row for row in range(14) if index.name(row) == "picture-0-000.png")
    said = call("search", indexed / "index", f"#{row}", "-k", "1", "--json")
    scores = np.nan_to_num(vectors @ vectors[row], nan=-1)
    scores[[row, 14]] = -1
    assert said.answer["results"][0]["row"] == int(np.argmax(scores))
    bad = next(row for row in range(14) if index.name(row) == "cut.jpg")
    sentence = call("search", indexed / "index", f"#{bad}").sentence
    assert "has no vector: the file ends before the picture does" in sentence
    assert "There is no row #99" in call("search", indexed / "index", "#99").sentence


def test_that_a_long_query_says_that_it_was_cut(call, indexed):
    notes = call("search", indexed / "index", "a dog " * 200, "--json").answer["notes"]
    assert any("Only the first 77 tokens are read" in note for note in notes)


def test_that_evaluate_agrees_with_a_computation_by_hand(call, clip, indexed):
    said = call("evaluate", indexed / "index", "--json")
    answer = said.answer
    assert (answer["pictures"], answer["captions"]) == (4, 5)
    encoder = open_encoder(clip, device="cpu")
    images = np.stack(
        [
            encoder.encode_images(
                encoder.preprocessing.prepare(
                    read_picture(indexed / "pictures" / f"picture-0-00{i}.png").image
                )[None]
            )[0]
            for i in range(4)
        ]
    )
    texts = ["picture one", "the first", "picture two", "picture three", "picture four"]
    scores = encoder.encode_text(texts).vectors @ images.T
    owners = [0, 0, 1, 2, 3]
    by_text = [1 + sum(scores[j] > scores[j, owners[j]]) for j in range(5)]
    by_image = [
        min(1 + sum(scores[:, i] > scores[j, i]) for j in range(5) if owners[j] == i) for i in range(4)
    ]
    for found, ranks in ((answer["text_to_image"], by_text), (answer["image_to_text"], by_image)):
        assert found["recall@1"] == pytest.approx(np.mean(np.array(ranks) <= 1))
        assert (found["recall@5"], found["recall@10"]) == (1.0, 1.0)
        assert found["median_rank"] == np.median(ranks)
        assert found["queries"] == len(ranks)
    assert "RECALL@10" in call("evaluate", indexed / "index").out


def test_that_tables_lists_an_index(call, indexed):
    answer = call("tables", indexed / "index", "--json").answer
    table = answer["tables"][0]
    assert (table["role"], table["rows"], table["labels"]["count"]) == ("image vectors", 15, 15)
    assert table["health"]["nan"] == 6
    assert "tiny-clip" in answer["format"]


def test_that_vectors_saved_elsewhere_are_searched_with_an_encoder(call, clip, indexed, tmp_path):
    index = open_index(indexed / "index")
    names = [index.name(row) for row in range(len(index)) if index.has_vector[row]]
    vectors = index.vectors()[index.has_vector]
    torch.save({"features": torch.from_numpy(vectors * 7), "image_ids": names}, tmp_path / "candidates.pt")
    np.save(tmp_path / "image_features.npy", vectors)
    (tmp_path / "names.txt").write_text("".join(f"{name}\n" for name in names))
    found = call("search", indexed / "index", "a dog", "--json").answer["results"]
    expected = {index.name(each["row"]): each["score"] for each in found}
    for arguments in (["candidates.pt"], ["image_features.npy", "--labels", tmp_path / "names.txt"]):
        file, *options = arguments
        said = call("search", tmp_path / file, "a dog", "--encoder", clip, "-k", "20", "--json", *options)
        scores = {each["path"]: each["score"] for each in said.answer["results"]}
        assert set(scores) == set(names)
        assert {name: scores[name] for name in expected} == pytest.approx(expected, abs=1e-5)
    assert "does not say which encoder" in call("search", tmp_path / "candidates.pt", "a dog").sentence
    assert call("search", tmp_path / "candidates.pt", "#0", "-k", "1").status == 0
    said = call(
        "evaluate",
        tmp_path / "candidates.pt",
        "--encoder",
        clip,
        "--json",
        "--captions",
        indexed / "pictures" / "captions.txt",
    )
    assert (said.answer["pictures"], said.answer["captions"]) == (4, 5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", "{index}"], "nothing to look for"),
        (["search", "{index}", "a +"], "Nothing to add or subtract follows the +"),
        (["search", "{index}", "--image", "{index}/absent.jpg"], "There is no file"),
        (["search", "{index}", "--image", "{index}/manifest.json"], "cannot be used as a picture"),
        (["search", "{index}/absent", "dog"], "There is no file"),
        (
            ["search", "{broken}", "dog"],
            "vectors.safetensors cannot be read; index its folder again to mend it",
        ),
        (["evaluate", "{index}/rows.parquet"], "is no index of pictures"),
        (["index", "{index}/absent", "--encoder", "{clip}", "-o", "{new}"], "There is no folder"),
        (["index", "{index}", "--encoder", "{clip}", "-o", "{new}"], "is an index, not a folder"),
        (["index", "{pictures}", "--encoder", "{index}", "-o", "{new}"], "holds no encoder"),
        (["index", "{pictures}", "--encoder", "{clip}", "-o", "{pictures}/page.jpg"], "page.jpg"),
    ],
)
def test_that_bad_input_is_said_in_one_sentence(call, clip, indexed, tmp_path, arguments, words):
    broken = shutil.copytree(indexed / "index", tmp_path / "broken")
    os.truncate(broken / "vectors.safetensors", 2000)
    places = {
        "index": indexed / "index",
        "broken": broken,
        "clip": clip,
        "pictures": indexed / "pictures",
        "new": tmp_path / "new",
    }
    assert words in call(*(argument.format(**places) for argument in arguments)).sentence


def test_that_another_encoder_is_refused_by_name(call, clip, indexed, tmp_path):
    other = tmp_path / "other-clip"
    shutil.copytree(clip, other)
    from safetensors.torch import load_file, save_file

    weights = load_file(other / "model.safetensors")
    weights["visual_projection.weight"] *= 2
    save_file(weights, other / "model.safetensors", {"format": "pt"})
    for arguments in (
        ["index", indexed / "pictures", "--encoder", other, "-o", indexed / "index"],
        ["search", indexed / "index", "a dog", "--encoder", other],
    ):
        sentence = call(*arguments).sentence
        assert "was made by the encoder tiny-clip" in sentence
        assert "not by other-clip" in sentence


@ON_LINUX
def test_that_names_that_are_no_text_are_printed_as_the_file_system_has_them(call, clip, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.png"))
    write_picture(odd, np.random.default_rng(4))
    assert call("index", folder, "--encoder", clip, "-o", tmp_path / "index").status == 0
    said = call("search", tmp_path / "index", "coffee", "--json")
    assert "caf\\udce9.png" in said.out
    (found,) = said.answer["results"]
    assert Path(found["path"]) == odd
    assert call("search", tmp_path / "index", "--image", odd, "--json").answer["results"][0]["row"] == 0


def start_index(place: Path, clip: Path) -> subprocess.Popen:
    """Start to index many pictures; returns once some are saved."""
    folder = place / "pictures"
    folder.mkdir()
    random = np.random.default_rng(1)
    for number in range(600):
        pixels = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((400, 300), Image.Resampling.NEAREST).save(folder / f"{number:04}.jpg")
    script = (
        "import explorer.compute.indexing as i; i._SAVE_SECONDS = 0.05; "
        "from explorer.__main__ import main; import sys; sys.exit(main())"
    )
    arguments = ["index", str(folder), "--encoder", str(clip), "-o", str(place / "index")]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    journal = place / "index" / "journal"
    while process.poll() is None and len(list(journal.glob("pictures-*.parquet"))) < 3:
        time.sleep(0.01)
    return process


@ON_LINUX
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_that_an_index_killed_in_the_middle_loses_nothing(call, clip, tmp_path, how):
    process = start_index(tmp_path, clip)
    if how == signal.SIGKILL:
        os.kill(process.pid, how)  # the parent alone: its decoders must end by themselves
    else:
        os.killpg(process.pid, how)  # as a terminal does
    out, err = process.communicate(timeout=300)
    assert out == ""
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert err == "embedding-explorer: stopped; the same command goes on where it was.\n"
    index = open_index(tmp_path / "index")
    done = np.flatnonzero(index.has_vector)
    assert 0 < len(done) < 600
    before = index.vectors()[done].copy()
    expect_no_process_left(process.pid)

    said = call("index", tmp_path / "pictures", "--encoder", clip, "-o", tmp_path / "index", "--json")
    assert (said.answer["encoded"], said.answer["vectors"]) == (600 - len(done), 600)
    index = open_index(tmp_path / "index")
    assert np.array_equal(index.vectors()[done], before)
    encoder = open_encoder(clip, device="cpu")
    for row in (*done[:2], 599):
        pixels = encoder.preprocessing.prepare(read_picture(index.file(int(row))).image)[None]
        assert np.abs(encoder.encode_images(pixels)[0] - index.vectors()[row]).max() < 1e-5


def expect_no_process_left(group: int) -> None:
    """The decoders of a killed run end by themselves."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        left = [path for path in Path("/proc").iterdir() if path.name.isdigit() and _group_of(path) == group]
        if not left:
            return
        time.sleep(0.05)
    pytest.fail(f"left running: {left}")


def _group_of(process: Path) -> int:
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1
    return -1 if fields[0] == "Z" else int(fields[2])


def test_that_a_started_process_answers_in_json_alone(start, clip, indexed):
    said = start("search", indexed / "index", "a dog", "-k", "1", "--json")
    assert (said.status, said.err) == (0, "")
    assert json.loads(said.out)["results"][0]["rank"] == 1
