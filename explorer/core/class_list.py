"""A typed list of classes, and the sentence that each is asked in."""

from __future__ import annotations

import re

from explorer.core.errors import ExplorerError

TEMPLATE = "a photo of a {}"
MOST_CLASSES = 1000


def classes_of(text: str) -> tuple[str, ...]:
    """The classes of a list with commas or line ends between them, each once, in the order typed."""
    names = (" ".join(name.split()) for name in re.split(r"[,;\n]", text))
    return tuple(dict.fromkeys(filter(None, names)))


def sentences_of(classes: tuple[str, ...], template: str = TEMPLATE) -> tuple[str, ...]:
    """Each class in the template's place ``{}``.

    Raises
    ------
    ExplorerError
        There are fewer than two classes, too many, or the template has no such place.
    """
    if len(classes) < 2:
        raise ExplorerError("Name two classes or more.", "Put commas between them: cat, dog, horse.")
    if len(classes) > MOST_CLASSES:
        raise ExplorerError(f"{len(classes):,} classes are more than the {MOST_CLASSES:,} that are taken.")
    if "{}" not in template:
        raise ExplorerError("The sentence has no place for the class.", "Write {} where its name goes.")
    return tuple(template.replace("{}", name) for name in classes)
