"""Back and forward through what was asked, as in a browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass
class History(Generic[Item]):
    """Visited items and a place among them; a new visit drops what lay ahead."""

    items: list[Item] = field(default_factory=list)
    place: int = -1

    @property
    def current(self) -> Item | None:
        """The item at the present place, or None before the first visit."""
        return self.items[self.place] if 0 <= self.place < len(self.items) else None

    @property
    def can_go_back(self) -> bool:
        """Whether an earlier item is there."""
        return self.place > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether a later item is there."""
        return self.place < len(self.items) - 1

    def visit(self, item: Item, *, in_place: bool = False) -> None:
        """Go to a new item, or put it in the present one's place; the same item again is no new visit."""
        if item == self.current:
            return
        if in_place and self.current is not None:
            self.items[self.place] = item
            return
        del self.items[self.place + 1 :]
        self.items.append(item)
        self.place = len(self.items) - 1

    def go(self, steps: int) -> Item | None:
        """Move along the visited items, staying within them; return where that leads."""
        if self.items:
            self.place = min(max(self.place + steps, 0), len(self.items) - 1)
        return self.current

    def clear(self) -> None:
        """Forget every visit."""
        self.items.clear()
        self.place = -1
