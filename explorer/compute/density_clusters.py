"""Groups of rows that lie close together on the map, and the rows between them that are in none.

HDBSCAN: Campello, Moulavi and Sander, "Density-based clustering based on hierarchical density
estimates" (2013), with clusters by excess of mass. The spanning tree is taken from each point's
nearest neighbours; what they leave apart is joined by its nearest sampled points, which can change
only the top of the hierarchy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.naming import typical_names
from explorer.core.labels import Labels
from explorer.core.results import Clusters

MOST_POINTS = 60_000
"""More are sampled; the rest follow their nearest sampled point."""
_NEIGHBOURS = 20
_CORE = 8
_JOINED_BY = 64
_MOST_CLUSTERS = 250
_SHARE = 0.35


def find_density_clusters(
    xy: NDArray[np.float32],
    smallest: int = 0,
    *,
    labels: Labels | None = None,
    seed: int = 0,
    checkpoint: Checkpoint = no_checkpoint,
) -> Clusters:
    """Group rows that lie close together.

    Parameters
    ----------
    xy : float32 array, shape (rows, 2) or (rows, 3)
        NaN for rows without a place.
    smallest : int
        How many rows make a group; 0 chooses by their number.
    labels : Labels, optional
        For the names.
    seed : int
        Of the sample.
    checkpoint : Checkpoint

    Returns
    -------
    Clusters
        The largest first; rows in no cluster have -1.

    Raises
    ------
    Cancelled
        From the checkpoint.
    """
    codes = np.full(len(xy), -1, np.int16)
    placed = np.flatnonzero(np.isfinite(xy).all(axis=1))
    smallest = smallest or max(10, round(_SHARE * math.sqrt(len(placed))))
    if len(placed) < 2 * smallest:
        return Clusters(codes, ())
    sample = placed
    if len(placed) > MOST_POINTS:
        sample = np.sort(np.random.default_rng(seed).choice(placed, MOST_POINTS, replace=False))
    least = max(2, round(smallest * len(sample) / len(placed)))
    points = xy[sample].astype(np.float64)
    found = hdbscan(points, least, checkpoint=checkpoint)
    checkpoint(0.9, "Clusters")
    if len(sample) < len(placed):
        _, nearest = cKDTree(points).query(xy[placed], workers=-1)
        found = found[nearest]
    sizes = np.bincount(found[found >= 0])
    order = np.argsort(-sizes, kind="stable")[:_MOST_CLUSTERS]
    rank = np.full(len(sizes) + 1, -1, np.int16)
    rank[order] = np.arange(len(order))
    codes[placed] = rank[found]
    members = [np.flatnonzero(codes == code) for code in range(len(order))]
    return Clusters(codes, typical_names(labels, members, xy, "Cluster"))


def hdbscan(
    points: NDArray[np.float64], smallest: int, *, checkpoint: Checkpoint = no_checkpoint
) -> NDArray[np.int64]:
    """The cluster of each point; -1 for noise.

    Parameters
    ----------
    points : float64 array, shape (n, 2) or (n, 3)
        Finite.
    smallest : int
        At least 2.
    """
    checkpoint(0.0, "Neighbours on the map")
    neighbours = min(_NEIGHBOURS, len(points) - 1)
    distances, places = cKDTree(points).query(points, k=neighbours + 1, workers=-1)
    checkpoint(0.4, "Clusters")
    core = distances[:, min(_CORE, neighbours)]
    # Equal points have no distance, and no density that could be told: give them a tiny one.
    tiny = max(float(np.ptp(points)), 1e-30) * 1e-9
    own = np.repeat(np.arange(len(points)), neighbours)
    other = places[:, 1:].ravel()
    edges = _spanning_tree(points, own, other, distances[:, 1:].ravel(), core, tiny)
    checkpoint(0.6, "Clusters")
    return _clusters_of(_condensed(*edges, len(points), smallest), len(points))


def _spanning_tree(
    points: NDArray[np.float64],
    own: NDArray[np.int64],
    other: NDArray[np.int64],
    apart: NDArray[np.float64],
    core: NDArray[np.float64],
    tiny: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Edges of a spanning tree by mutual reachability, the shortest first."""
    count = len(points)
    weights = np.maximum(np.maximum(apart, tiny), np.maximum(core[own], core[other]))
    graph = coo_array((weights, (own, other)), shape=(count, count)).tocsr()
    islands, island = connected_components(graph, directed=False)
    if islands > 1:
        a, b = _bridges(points, island, islands)
        bridged = np.maximum(np.linalg.norm(points[a] - points[b], axis=1), np.maximum(core[a], core[b]))
        weights = np.concatenate([weights, np.maximum(bridged, tiny)])
        own, other = np.concatenate([own, a]), np.concatenate([other, b])
        graph = coo_array((weights, (own, other)), shape=(count, count)).tocsr()
    # Either end may have found the other: the sum that a sparse matrix makes of both would be wrong.
    graph = graph.maximum(graph.T)
    tree = minimum_spanning_tree(graph).tocoo()
    order = np.argsort(tree.data, kind="stable")
    return tree.row[order].astype(np.int64), tree.col[order].astype(np.int64), tree.data[order]


def _bridges(
    points: NDArray[np.float64], island: NDArray[np.int32], islands: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of points that join all islands, each pair about the nearest of its islands."""
    by_island = np.argsort(island, kind="stable")
    bounds = np.searchsorted(island[by_island], np.arange(islands + 1))
    sampled = np.concatenate(
        [by_island[start:stop][:: max(1, (stop - start) // _JOINED_BY)] for start, stop in pairwise(bounds)]
    )
    joined = np.arange(islands)
    pairs: list[tuple[int, int]] = []
    while len(np.unique(joined)) > 1:
        group = joined[island[sampled]]
        for each in np.unique(group):
            # A later group may have been joined by an earlier one of this round.
            inside = joined[island[sampled]] == joined[each]
            if inside.all():
                break
            distances, nearest = cKDTree(points[sampled[~inside]]).query(points[sampled[inside]])
            best = int(np.argmin(distances))
            a, b = int(sampled[inside][best]), int(sampled[~inside][nearest[best]])
            pairs.append((a, b))
            joined[joined == joined[island[b]]] = joined[island[a]]
    found = np.array(pairs, np.int64)
    return found[:, 0], found[:, 1]


@dataclass
class _Cluster:
    """A cluster of the condensed hierarchy.

    Attributes
    ----------
    born : float
        The density (1 / distance) at which it has split off.
    mass : float
        Its rows, each by how much longer than that it stays.
    points : list of (tree node, float)
        What falls out of it, and at which density.
    """

    born: float
    parent: int
    mass: float = 0.0
    children: list[int] = field(default_factory=list)
    fallen: list[int] = field(default_factory=list)


def _condensed(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    distances: NDArray[np.float64],
    count: int,
    smallest: int,
) -> tuple[list[_Cluster], NDArray[np.int64], NDArray[np.int64]]:
    """The hierarchy of clusters of at least ``smallest`` points, with the merges of single linkage below."""
    first, second, sizes = _single_linkage(left, right, count)
    clusters = [_Cluster(0.0, -1)]
    waiting = [(2 * count - 2, 0)]
    while waiting:
        node, own = waiting.pop()
        cluster = clusters[own]
        while True:
            if node < count:
                cluster.fallen.append(node)
                break
            merge = node - count
            density = 1.0 / distances[merge]
            a, b = int(first[merge]), int(second[merge])
            large = [child for child in (a, b) if sizes[child] >= smallest]
            for child in (a, b):
                if child not in large or len(large) == 2:
                    cluster.mass += sizes[child] * (density - cluster.born)
                if child not in large:
                    cluster.fallen.append(child)
            if len(large) == 2:
                for child in large:
                    cluster.children.append(len(clusters))
                    waiting.append((child, len(clusters)))
                    clusters.append(_Cluster(density, own))
            if len(large) != 1:
                break
            node = large[0]
    return clusters, first, second


def _single_linkage(
    left: NDArray[np.int64], right: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Merges in order: node ``count + i`` joins ``first[i]`` and ``second[i]``; sizes of all nodes."""
    parent = list(range(2 * count - 1))
    sizes = [1] * count + [0] * (count - 1)
    first, second = np.empty(count - 1, np.int64), np.empty(count - 1, np.int64)

    def root(node: int) -> int:
        top = node
        while parent[top] != top:
            top = parent[top]
        while parent[node] != top:
            parent[node], node = top, parent[node]
        return top

    for merge, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        above, below = root(a), root(b)
        node = count + merge
        parent[above] = parent[below] = node
        sizes[node] = sizes[above] + sizes[below]
        first[merge], second[merge] = above, below
    return first, second, np.array(sizes)


def _clusters_of(
    condensed: tuple[list[_Cluster], NDArray[np.int64], NDArray[np.int64]], count: int
) -> NDArray[np.int64]:
    """The clusters of greatest mass, none inside another; the whole is none."""
    clusters, first, second = condensed
    mass = [cluster.mass for cluster in clusters]
    chosen = [True] * len(clusters)
    for own in range(len(clusters) - 1, 0, -1):
        inside = sum(mass[child] for child in clusters[own].children)
        if inside > mass[own]:
            chosen[own], mass[own] = False, inside
    chosen[0] = False
    codes = np.full(count, -1, np.int64)
    code_of = [-1] * len(clusters)
    known = 0
    for own, cluster in enumerate(clusters):
        above = code_of[cluster.parent] if own else -1
        if above < 0 and chosen[own]:
            above, known = known, known + 1
        code_of[own] = above
        if above >= 0:
            codes[_leaves(cluster.fallen, first, second, count)] = above
    return codes


def _leaves(nodes: list[int], first: NDArray[np.int64], second: NDArray[np.int64], count: int) -> list[int]:
    found: list[int] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node < count:
            found.append(node)
        else:
            waiting += (int(first[node - count]), int(second[node - count]))
    return found
