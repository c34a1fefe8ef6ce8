"""Where an index goes, and the ones that are found again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from explorer.core.index import EncoderIdentity, Manifest
from explorer.readers import index_places
from explorer.readers.index_files import MANIFEST
from explorer.readers.index_places import indexes_of, place_for


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "flickr[8k]"
    folder.mkdir()
    return folder


def encoder_at(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def make_index(path: Path, folder: Path, encoder: Path) -> Path:
    path.mkdir(parents=True)
    identity = EncoderIdentity(encoder.name, "CLIP", str(encoder), "0" * 16, 8)
    beside = os.path.relpath(folder, path)
    manifest = Manifest(str(folder), beside, identity, {}, (255, 255, 255), complete=True)
    (path / MANIFEST).write_text(json.dumps(manifest.to_json()))
    return path


def test_that_a_new_index_goes_beside_the_pictures(pictures: Path, tmp_path: Path) -> None:
    assert place_for(pictures, encoder_at(tmp_path / "models" / "clip")) == tmp_path / "flickr[8k]-index"


def test_that_an_index_by_the_same_encoder_is_brought_up_to_date(pictures: Path, tmp_path: Path) -> None:
    encoder = encoder_at(tmp_path / "models" / "clip")
    index = make_index(tmp_path / "flickr[8k]-index", pictures, encoder)
    assert place_for(pictures, encoder) == index
    assert indexes_of(pictures) == (index,)


def test_that_another_encoder_gets_an_index_of_its_own(pictures: Path, tmp_path: Path) -> None:
    make_index(tmp_path / "flickr[8k]-index", pictures, encoder_at(tmp_path / "models" / "clip"))
    other = encoder_at(tmp_path / "models" / "siglip base")
    index = place_for(pictures, other)
    assert index == tmp_path / "flickr[8k]-index-siglip-base"
    make_index(index, pictures, other)
    assert place_for(pictures, other) == index
    assert len(indexes_of(pictures)) == 2


def test_that_a_folder_that_happens_to_have_the_name_is_left_alone(pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "flickr[8k]-index").mkdir()
    (tmp_path / "flickr[8k]-index" / "thesis.txt").write_text("years of work")
    encoder = encoder_at(tmp_path / "models" / "clip")
    assert place_for(pictures, encoder) == tmp_path / "flickr[8k]-index-clip"
    assert indexes_of(pictures) == ()


def test_that_an_index_of_another_folder_of_the_name_is_not_taken(pictures: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    encoder = encoder_at(tmp_path / "models" / "clip")
    make_index(tmp_path / "flickr[8k]-index", elsewhere, encoder)
    assert indexes_of(pictures) == ()
    assert place_for(pictures, encoder) == tmp_path / "flickr[8k]-index-clip"


def test_that_an_index_goes_to_the_user_where_nothing_can_be_written(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.setattr(index_places, "user_data_path", lambda *_args, **_named: data)
    monkeypatch.setattr(index_places.os, "access", lambda *_args: False)
    encoder = encoder_at(tmp_path / "models" / "clip")
    index = place_for(pictures, encoder)
    assert index.is_relative_to(data)
    assert index.name == "flickr[8k]-index"
    make_index(index, pictures, encoder)
    assert indexes_of(pictures) == (index,)
