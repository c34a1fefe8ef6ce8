"""How rows are grouped for colours."""

from __future__ import annotations

from dataclasses import dataclass

K_MEANS, HDBSCAN = "k-means", "HDBSCAN"


@dataclass(frozen=True)
class Clustering:
    """What a person can set for clusters; the defaults are the window's.

    Attributes
    ----------
    method : {"k-means", "HDBSCAN"}
        K-means parts all rows by direction; HDBSCAN finds what is dense on the map and leaves out the rest.
    count : int
        How many groups k-means makes.
    smallest : int
        How many rows make a group of HDBSCAN's; 0 chooses by the table's size.
    """

    method: str = K_MEANS
    count: int = 9
    smallest: int = 0
