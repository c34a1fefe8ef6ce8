"""What a command says."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """What a call gave back."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> dict:
        """Standard output as strict JSON, with nothing beside it."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def sentence(self) -> str:
        """The one line of an error, without the program's name."""
        assert self.status == 2, self
        assert self.out == ""
        (line,) = self.err.splitlines()
        assert line.startswith("embedding-explorer: ")
        assert line.endswith(".")
        return line.removeprefix("embedding-explorer: ")
