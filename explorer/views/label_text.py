"""Labels as they are shown: blanks and control characters made visible, nothing that Qt cannot hold."""

from __future__ import annotations

_SHOWN = {"\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What turns the direction of all that follows, beyond the label, too."""
LONGEST = 300
"""No line has room for more letters: to measure ten thousand of them can take seconds."""


def shown_label(label: str) -> str:
    """A label fit for one line: outer blanks, control characters and lone surrogates become visible.

    A vocabulary of a language model holds tokens that are nothing but a line break or a blank;
    drawn as they are they would be empty rows.
    """
    if len(label) > LONGEST:
        return shown_label(label[: LONGEST - 1]) + "…"
    if label.isprintable() and label and label[0] != " " and label[-1] != " ":
        return label
    if not label:
        return "(empty)"
    core = label.strip(" ")
    before = len(label) - len(label.lstrip(" "))
    after = len(label) - before - len(core)
    return "␣" * before + "".join(map(_shown_character, core)) + "␣" * after


def _shown_character(character: str) -> str:
    if character in _SHOWN:
        return _SHOWN[character]
    if character == " " or character.isprintable():
        return character
    if character in _TURNING:
        return "·"
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\u{code:04x}" if 0xD800 <= code <= 0xDFFF or code < 0xA0 else character
