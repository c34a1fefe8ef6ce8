"""Dense parts of a map are found, named and grouped as they lie."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine import slowness
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

from explorer.compute.density_clusters import find_density_clusters, hdbscan
from explorer.compute.naming import typical_names
from explorer.compute.regions import find_regions
from explorer.core.errors import Cancelled
from explorer.core.labels import Labels


def groups(
    rows: int, count: int, seed: int, *, noise: float = 0.05, dimensions: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """Round groups on a ring, and rows strewn between them (-1)."""
    random = np.random.default_rng(seed)
    which = random.integers(0, count, rows)
    angles = which * 2 * np.pi / count
    centres = np.stack([np.cos(angles), np.sin(angles), angles * 0], axis=1)[:, :dimensions] * 10
    points = centres + random.normal(0, 0.6, (rows, dimensions))
    strewn = random.random(rows) < noise
    points[strewn] = random.uniform(-14, 14, (int(strewn.sum()), dimensions))
    return points.astype(np.float32), np.where(strewn, -1, which)


@pytest.mark.parametrize(("rows", "count", "seed"), [(600, 4, 1), (3000, 9, 2), (8000, 15, 3)])
def test_that_clusters_are_those_of_a_reference(rows: int, count: int, seed: int) -> None:
    points, _ = groups(rows, count, seed)
    smallest = rows // (3 * count)
    ours = hdbscan(points.astype(np.float64), smallest)
    theirs = HDBSCAN(min_cluster_size=smallest, min_samples=9, copy=True).fit_predict(points)
    assert ours.max() == theirs.max() == count - 1
    assert adjusted_rand_score(ours, theirs) > 0.97


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_groups_are_found_and_what_lies_between_is_in_none(dimensions: int) -> None:
    points, which = groups(4000, 6, 4, dimensions=dimensions)
    points[17] = np.nan
    found = find_density_clusters(points)
    assert len(found.names) == 6
    assert found.codes[17] == -1
    assert adjusted_rand_score(which[which >= 0], found.codes[which >= 0]) > 0.95
    assert (found.codes[which < 0] < 0).mean() > 5 * (found.codes[which >= 0] < 0).mean() > 0
    sizes = np.bincount(found.codes[found.codes >= 0])
    assert (np.diff(sizes) <= 0).all(), "the largest first"


def test_that_a_sample_of_very_many_rows_groups_them_all() -> None:
    points, which = groups(200_000, 8, 5, noise=0)
    began = time.process_time()
    found = find_density_clusters(points, seed=3)
    assert time.process_time() - began < 10 * slowness()
    assert len(found.names) == 8
    assert adjusted_rand_score(which[::20], found.codes[::20]) > 0.95
    np.testing.assert_array_equal(found.codes, find_density_clusters(points, seed=3).codes)


def test_that_odd_maps_have_no_clusters_and_no_regions() -> None:
    nowhere = np.full((50, 2), np.nan, np.float32)
    for xy in (nowhere, nowhere[:0], nowhere[:1], np.zeros((1, 2), np.float32)):
        assert set(find_density_clusters(xy).codes.tolist()) <= {-1}
        assert find_regions(xy) == ()
    same = np.zeros((500, 2), np.float32)
    assert find_regions(same) == ()
    assert find_density_clusters(same).codes.shape == (500,)
    far = np.random.default_rng(0).normal(size=(500, 2)).astype(np.float32)
    far[3] = 1e30
    assert find_density_clusters(far).codes.shape == (500,)
    assert find_regions(far)
    assert find_regions(np.zeros((500, 3), np.float32)) == ()
    assert find_regions(np.zeros((500, 4), np.float32)) == (), "no map has four dimensions"


@settings(max_examples=30)
@given(st.integers(4, 300), st.integers(0, 10_000), st.integers(2, 20))
def test_that_every_cluster_has_at_least_the_rows_asked_for(rows: int, seed: int, smallest: int) -> None:
    points = np.random.default_rng(seed).normal(size=(rows, 2)).round(1).astype(np.float32)
    codes = find_density_clusters(points, smallest).codes
    sizes = np.bincount(codes[codes >= 0])
    assert (sizes >= smallest).all()


def test_that_regions_lie_where_the_groups_are() -> None:
    points, which = groups(6000, 7, 6)
    regions = find_regions(points)
    assert len(regions) == 7
    for region in regions:
        nearest = np.argmin(
            [np.hypot(*(points[which == each].mean(axis=0) - (region.x, region.y))) for each in range(7)]
        )
        middle = points[which == nearest].mean(axis=0)
        assert np.hypot(region.x - middle[0], region.y - middle[1]) < 0.6
        assert 600 < region.rows < 1100
        assert 0.8 < region.size < 3.5
    assert [region.name for region in regions] == [f"Region {number}" for number in range(1, 8)]


def test_that_regions_of_three_dimensions_lie_where_their_groups_do() -> None:
    random = np.random.default_rng(1)
    centres = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9], [9, 9, 9]], np.float32)
    points = (np.repeat(centres, 400, axis=0) + random.normal(size=(2000, 3))).astype(np.float32)
    points[7] = np.nan
    regions = find_regions(points)
    assert len(regions) == 5
    assert {region.rows for region in regions} <= set(range(330, 401))
    for centre in centres:
        places = [np.array([region.x, region.y, region.z]) for region in regions]
        assert min(np.linalg.norm(place - centre) for place in places) < 1.6
    assert all(1.5 < region.size < 4 for region in regions)


def test_that_a_million_rows_have_their_regions_within_a_second() -> None:
    points, _ = groups(1_000_000, 12, 7)
    labels = Labels.from_texts([f"word{row % 5000}" for row in range(1_000_000)], "test")
    find_regions(points[:1000])
    began = time.process_time()
    regions = find_regions(points, labels=labels)
    assert len(regions) == 12
    assert time.process_time() - began < 3 * slowness(), "a second as measured"


def test_that_a_cancelled_search_ends() -> None:
    def cancel(_fraction: float, _stage: str = "") -> None:
        raise Cancelled

    points, _ = groups(1000, 3, 8)
    with pytest.raises(Cancelled):
        find_regions(points, checkpoint=cancel)
    with pytest.raises(Cancelled):
        find_density_clusters(points, checkpoint=cancel)


def test_that_texts_are_named_by_what_sets_them_apart_in_any_language() -> None:
    random = np.random.default_rng(9)
    common = ["the", "a", "of", "on", "der", "и"]
    own = [["dog", "bark", "leash"], ["boat", "sea", "sail"], ["дом", "сад", "окно"]]
    group = np.arange(900) % 3
    texts = [
        " ".join([*random.choice(common, 4), *random.choice(own[each], 2), f"word{random.integers(0, 400)}"])
        for each in group
    ]
    labels = Labels.from_texts(texts, "test")
    names = typical_names(
        labels, [np.flatnonzero(group == each) for each in range(3)], np.zeros((900, 2)), "Region"
    )
    assert [set(name.split(", ")) for name in names] == [set(words) for words in own]


def test_that_short_labels_of_shared_words_are_named_by_the_words() -> None:
    kinds, things = ("old", "new", "grey"), (("gnat", "moth"), ("oak", "elm"))
    labels = Labels.from_texts(
        (f"{kinds[row % 3]} {things[row % 2][row // 2 % 2]} {row}" for row in range(600)), "a"
    )
    groups = [np.arange(0, 600, 2), np.arange(1, 600, 2)]
    names = typical_names(labels, groups, np.zeros((600, 2), np.float32), "group")
    assert names == ("gnat, moth", "elm, oak")


def test_that_a_word_which_many_others_say_too_is_no_name_but_a_large_groups_own_is() -> None:
    # Nine in ten of the first group say "of", and four in ten elsewhere; "bird" is said by most texts of all.
    group = (np.arange(500) % 10 > 6).astype(int)
    texts = [
        f"{('bird', 'fish')[own]} {'of' if row % 100 < (90, 40)[own] else 'by'} number word{row % 7}"
        for row, own in enumerate(group)
    ]
    groups = [np.flatnonzero(group == each) for each in (0, 1)]
    names = typical_names(Labels.from_texts(texts, "a"), groups, np.zeros((500, 2), np.float32), "group")
    assert names[0].split(", ")[0] == "bird"
    assert "of" not in names[0].split(", ")
    assert names[1].split(", ")[0] == "fish"


def test_that_words_stay_whole_and_as_they_are_written_in_every_script() -> None:
    own = (
        ["नदी", "पत्थर"],
        ["แม่น้ำ", "ท่าเรือ"],
        ["χειμώνας", "ποταμός"],
        ["straße", "größe"],
        ["می\u200cخواهم", "كِتاب"],
    )
    labels = Labels.from_texts((f"{' '.join(own[row % 5])} 🍎 {row}" for row in range(500)), "test")
    names = typical_names(
        labels, [np.arange(each, 500, 5) for each in range(5)], np.zeros((500, 2), np.float32), "Region"
    )
    assert [set(name.split(", ")) for name in names] == [set(words) for words in own]


def test_that_words_are_named_by_the_commonest_near_the_middle() -> None:
    texts = [f"word{chr(97 + row % 26)}{row}" for row in range(400)]
    texts[5], texts[7] = "middle", "near"
    xy = np.random.default_rng(10).normal(size=(400, 2)).astype(np.float32)
    xy[[5, 7]] = [[0.0, 0.0], [0.01, 0.0]]
    labels = Labels.from_texts(texts, "test")
    name = typical_names(labels, [np.arange(400)], xy, "Region")[0]
    assert {"middle", "near"} <= set(name.split(", "))


def test_that_a_group_without_labels_has_a_number() -> None:
    labels = Labels.from_texts([None, None, ""], "test")
    assert typical_names(labels, [np.arange(3)], np.zeros((3, 2), np.float32), "Cluster") == ("Cluster 1",)


def test_that_many_islands_are_seen_as_regions_of_several() -> None:
    rng = np.random.default_rng(0)
    continents = np.array([(x, y) for x in range(4) for y in range(3)]) * 60.0
    within = np.array([(x, y) for x in range(4) for y in range(3)]) * 11.0
    islands = (continents[:, None] + within + rng.uniform(-2, 2, (12, 12, 2))).reshape(-1, 2)
    xy = (np.repeat(islands, 200, axis=0) + rng.normal(0, 1, (len(islands) * 200, 2))).astype(np.float32)
    regions = find_regions(xy)
    assert 6 <= len(regions) <= 24
    assert sum(region.rows for region in regions) >= len(xy) / 2
    assert max(region.rows for region in regions) < len(xy) / 4
