"""Captions in all the forms that they come in, joined to pictures by name."""

from __future__ import annotations

import os
import sys

import pytest

from explorer.core.errors import ExplorerError
from explorer.readers.captions import find_captions, read_captions

PICTURES = ["beach.jpg", "city/night.png", "dog.webp"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("captions.txt", 'image,caption\nbeach.jpg,"sand, and sea"\nbeach.jpg,waves\ndog.webp,a dog\n'),
        ("captions.csv", "image,caption\r\nbeach.jpg,sand, and sea\r\nbeach.jpg,waves\r\ndog.webp,a dog\r\n"),
        (
            "captions.csv",
            'id,caption,image\n1,"sand, and sea",beach.jpg\n2,waves,beach.jpg\n3,a dog,dog.webp\n',
        ),
        ("captions.txt", "beach.jpg#0\tsand, and sea\nbeach.jpg#1\twaves\ndog.webp#0\ta dog\n"),
        (
            "captions.csv",
            "image_name| comment_number| comment\nbeach.jpg| 0| sand, and sea\nbeach.jpg| 1| waves\n"
            "dog.webp| 0| a dog\n",
        ),
        (
            "captions.jsonl",
            '{"file_name": "beach.jpg", "text": ["sand, and sea", "waves"]}\n\n'
            '{"image": "dog.webp", "caption": "a dog"}\n',
        ),
    ],
)
def test_that_lists_of_every_form_are_read(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.encode())
    found = find_captions(tmp_path, PICTURES)
    assert found.of == {"beach.jpg": ("sand, and sea", "waves"), "dog.webp": ("a dog",)}
    assert (found.sources, found.unmatched) == ((name,), ())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_that_a_list_in_any_usual_encoding_is_read(tmp_path, encoding):
    (tmp_path / "captions.txt").write_bytes("image,caption\nbeach.jpg,café au lait\n".encode(encoding))
    assert read_captions(tmp_path / "captions.txt") == [("beach.jpg", "café au lait")]


def test_that_names_are_joined_by_path_then_name_then_stem_and_the_rest_listed(tmp_path):
    lines = [
        "image,caption",
        "city/night.png,by path",
        "night.png,by name",
        "night,by stem",
        "./dog.webp,dot",
    ]
    lines += ["old.jpg,gone", "old.jpg,gone again", "twin.jpg,either"]
    (tmp_path / "captions.txt").write_text("\n".join(lines))
    found = find_captions(tmp_path, [*PICTURES, "a/twin.jpg", "b/twin.jpg"])
    assert found.of == {"city/night.png": ("by path", "by name", "by stem"), "dog.webp": ("dot",)}
    assert found.unmatched == ("old.jpg", "twin.jpg")


def test_that_texts_beside_pictures_are_captions(tmp_path):
    (tmp_path / "city").mkdir()
    (tmp_path / "city" / "night.txt").write_text("lights\n\nand more lights \n")
    (tmp_path / "dog.webp.txt").write_text("a dog")
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "dog.txt")  # would be waited for
    found = find_captions(tmp_path, PICTURES)
    assert found.of == {"city/night.png": ("lights", "and more lights"), "dog.webp": ("a dog",)}
    assert found.sources == ("texts beside the pictures",)


def test_that_a_list_beside_the_folder_counts_only_where_it_names_its_pictures(tmp_path):
    folder = tmp_path / "Images"
    folder.mkdir()
    (tmp_path / "captions.txt").write_text("image,caption\nelse.jpg,something\n")
    assert find_captions(folder, PICTURES).of == {}
    (tmp_path / "captions.txt").write_text("image,caption\nbeach.jpg,sand\nelse.jpg,something\n")
    found = find_captions(folder, PICTURES)
    assert (found.of, found.unmatched) == ({"beach.jpg": ("sand",)}, ("else.jpg",))


def test_that_a_name_that_is_no_text_finds_its_picture(tmp_path):
    (tmp_path / "captions.txt").write_bytes(b"image,caption\ncaf\xe9.jpg,coffee\n")
    assert find_captions(tmp_path, ["caf\udce9.jpg"]).of == {"caf\udce9.jpg": ("coffee",)}


@pytest.mark.parametrize("text", ["", "just one column\nof text\n", '{"image": 3\n'])
def test_that_a_chosen_list_without_captions_is_refused(tmp_path, text):
    path = tmp_path / "list.txt"
    path.write_text(text)
    with pytest.raises(ExplorerError, match=r"list\.txt"):
        find_captions(tmp_path, PICTURES, path)
    with pytest.raises(ExplorerError, match=r"absent\.txt cannot be read"):
        find_captions(tmp_path, PICTURES, tmp_path / "absent.txt")
