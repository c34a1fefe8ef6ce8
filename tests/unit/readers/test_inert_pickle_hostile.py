"""Nothing that a hostile file holds ever happens, and none takes more than its share of memory or time."""

from __future__ import annotations

import contextlib
import copyreg
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from machine import slowness
from pickle_assembly import as_legacy, as_zip, calls, checkpoint, name, number, tensor, text, write

from explorer.core.errors import ExplorerError
from explorer.readers import open_file
from explorer.readers.inert_pickle import load_pickle

FORMS = ("bare", "zip", "legacy")
TARGETS = {
    "os.system": ("os", "system", "touch {marker}"),
    "posix.system": ("posix", "system", "touch {marker}"),
    "subprocess": ("subprocess", "getoutput", "touch {marker}"),
    "eval": ("builtins", "eval", "open({marker!r}, 'w').close()"),
    "exec": ("builtins", "exec", "open({marker!r}, 'w').close()"),
    "torch": ("torch", "load", "{marker}"),
    "numpy": ("numpy.testing._private.utils", "runstring", "{marker}"),
    "planted": ("planted", "run", "{marker}"),
}
OPCODES = tuple(calls("m", "f", "x"))

CHILD = """
import json, resource, sys, time
sys.path.insert(0, {root!r})
from explorer.core.errors import ExplorerError
from explorer.readers import open_file
open_file({warm!r})
seen = []
def hook(event, args):
    if event.split(".")[0] in {{"os", "subprocess", "socket", "exec", "import", "compile", "ctypes"}}:
        seen.append([event, str(args[0]) if args else ""])
sys.addaudithook(hook)
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
for path in sys.argv[1:]:
    before, started = len(seen), time.process_time()
    try:
        opened = open_file(path)
        for table in opened.tables:
            table.read()
        outcome = "opened"
    except ExplorerError as error:
        outcome = error.message
    # Not getrusage, whose peak a child inherits from the process that started it.
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    print(json.dumps([path, outcome, time.process_time() - started, peak, seen[before:]]), flush=True)
"""


def open_in_child(folder: Path, paths: list[Path], timeout: float = 600) -> dict[str, tuple]:
    """Open files in a fresh process that reports what it did, how long it took and its peak memory."""
    warm = folder / "warm.pt"
    warm.write_bytes(
        as_zip(
            checkpoint({"e.weight": tensor("FloatStorage", "0", 4, (2, 2), (2, 1))}), {"data/0": bytes(16)}
        )
    )
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(root=root, warm=str(warm)), *map(str, paths)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return {Path(row[0]).name: tuple(row[1:]) for row in map(json.loads, done.stdout.splitlines())}


def try_to_open(path: Path) -> None:
    with contextlib.suppress(ExplorerError):
        open_file(path)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("opcode", OPCODES)
def test_that_no_opcode_makes_a_call_happen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opcode: str, target: str
) -> None:
    marker = tmp_path / "marker"
    (tmp_path / "planted.py").write_text(f"open({str(marker)!r}, 'w').close()\ndef run(*args): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    module, function, argument = TARGETS[target]
    data = calls(module, function, argument.format(marker=str(marker)))[opcode]
    before = set(sys.modules)
    for form in FORMS:
        try_to_open(write(tmp_path, data, form))
    assert not marker.exists()
    assert not {n for n in set(sys.modules) - before if not n.startswith("encodings")}


@pytest.mark.parametrize(
    "opcode", [o for o in OPCODES if o not in ("default factory", "set state", "nested", "map")]
)
def test_that_these_pickles_would_act_on_a_trusting_reader(tmp_path: Path, opcode: str) -> None:
    """The control: without it, the test above could pass on pickles that do nothing anywhere."""
    marker = tmp_path / "marker"
    data = calls("posix", "system", f"touch {marker}")[opcode]
    with contextlib.suppress(
        TypeError, pickle.UnpicklingError
    ):  # newobj of a function: refused by every reader
        pickle.loads(data)
    assert marker.exists() or opcode.startswith("newobj")


def test_that_a_registered_extension_is_not_called(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    data = b"\x80\x02\x82\xf0(" + text(f"touch {marker}") + b"tR."
    copyreg.add_extension("posix", "system", 0xF0)
    try:
        for form in FORMS:
            try_to_open(write(tmp_path, data, form))
        assert not marker.exists()
        pickle.loads(data)
        assert marker.exists()
    finally:
        copyreg.remove_extension("posix", "system", 0xF0)


class _Reducer:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple:
        return os.system, (self.command,)


class _Setter:
    def __init__(self, command: str) -> None:
        self.command = command

    def __setstate__(self, state: dict) -> None:
        os.system(state["command"])


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", [_Reducer, _Setter])
def test_that_no_method_of_a_pickled_object_runs(tmp_path: Path, kind: type, protocol: int) -> None:
    marker = tmp_path / "marker"
    data = pickle.dumps({"a": kind(f"touch {marker}")}, protocol)
    for form in FORMS:
        try_to_open(write(tmp_path, data, form))
    assert not marker.exists()
    pickle.loads(data)
    assert marker.exists()


def test_that_a_file_cannot_change_what_reads_the_next_one(tmp_path: Path) -> None:
    for module, attribute in (
        ("torch._utils", "_rebuild_tensor_v2"),
        ("collections", "OrderedDict"),
        ("explorer.readers.inert_pickle", "Machine"),
        ("explorer.readers.inert_values", "Global"),
    ):
        poison = b"\x80\x02" + name(module, attribute) + b"}" + text("__code__") + b"Ns" + b"b."
        for form in FORMS:
            try_to_open(write(tmp_path, poison, form))
    good = checkpoint({"embedding.weight": tensor("FloatStorage", "0", 6, (3, 2), (2, 1))})
    path = tmp_path / "good.pt"
    path.write_bytes(as_zip(good, {"data/0": struct.pack("<6f", *range(6))}))
    assert open_file(path).tables[0].read().tolist() == [[0, 1], [2, 3], [4, 5]]


def test_that_stand_ins_for_classes_cannot_be_called() -> None:
    found = load_pickle(name("os", "system") + b".")
    assert not callable(found)
    assert not callable(load_pickle(name("os", "system") + text("x") + b"\x85R."))


def many(count: int, part: bytes) -> bytes:
    return part * count


def laughs(open_: bytes, close: bytes) -> bytes:
    """Sixty levels, each holding the one before twice: 2**60 leaves if one walked them all."""
    data = b"\x80\x04" + open_ + b"K\x00K\x01" + close + b"\x94"
    for level in range(60):
        data += open_ + b"h" + bytes([level]) + b"h" + bytes([level]) + close + b"\x94"
    return data + b"."


def colliding_tuples(bits: int) -> bytes:
    """hash(-1) == hash(-2), so tuples of them all hash alike."""
    rows = []
    for i in range(1 << bits):
        parts = b"".join(b"h\x00" if i >> bit & 1 else b"h\x01" for bit in range(bits))
        rows.append(b"(" + parts + b"tN")
    return b"\x80\x04J\xff\xff\xff\xff\x940J\xfe\xff\xff\xff\x940}(" + b"".join(rows) + b"u."


LIST = b"](" + b"K\x05" * 200_000 + b"e\x94"  # memo 0
WORDS = b"](" + b"".join(b"\x8c\x06" + b"%06d" % i for i in range(100_000)) + b"e\x940"
NAMES = b"X" + struct.pack("<I", 1 << 20) + b"n" * (1 << 20) + b"\x940"

BOMBS = {
    "memo by a huge index": b"\x80\x02Nr\xff\xff\xff\xff.",
    "memo by a huge line": b"Np999999999999\n.",
    "bytes8": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b"x.",
    "bytearray8": b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"x.",
    "unicode8": b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b"x.",
    "long4": b"\x80\x02\x8b" + struct.pack("<i", 0x7FFFFFFF) + b"x.",
    "long": b"\x80\x02\x8b" + struct.pack("<i", 5_000_000) + b"\x7f" * 5_000_000 + b".",
    "digits": b"L" + b"9" * 5_000_000 + b"L\n.",
    "sets": b"\x80\x04" + many(10_000_000, b"\x8f") + b".",
    "dicts": b"\x80\x04" + many(3_000_000, b"}") + b".",
    "lists": b"\x80\x04" + many(3_000_000, b"]") + b".",
    "marks": b"\x80\x04" + many(3_000_000, b"(") + b".",
    "memos": b"\x80\x04N" + many(3_000_000, b"\x94") + b".",
    "frozen sets": b"\x80\x04" + many(3_000_000, b"(\x91") + b".",
    "nested tuples": b"\x80\x04)" + many(1_500_000, b"\x85") + b".",
    "nested lists": b"\x80\x04" + many(300_000, b"]") + many(299_999, b"a") + b".",
    "nested instances": b"\x80\x04" + many(200_000, b"cm\nC\n)\x81") + many(199_999, b"b") + b".",
    "instances": b"\x80\x04cm\nC\n\x94" + many(400_000, b"h\x00)\x81") + b".",
    "laughing lists": laughs(b"](", b"e"),
    "laughing tuples": laughs(b"(", b"t"),
    "laughing dicts": laughs(b"}(", b"u"),
    "laughing tuple key": laughs(b"(", b"t")[:-1] + b"N}" + b"h\x3bNs.",
    "colliding integers": b"\x80\x02}("
    + b"".join(number(i * ((1 << 61) - 1)) + b"N" for i in range(100_000))
    + b"u.",
    "colliding tuples": colliding_tuples(16),
    "sets of one list": b"\x80\x04"
    + LIST
    + name("builtins", "set")
    + b"\x94"
    + many(200_000, b"h\x01h\x00\x85R")
    + b".",
    "lists of one list": b"\x80\x04"
    + LIST
    + name("builtins", "list")
    + b"\x94"
    + many(200_000, b"h\x01h\x00\x85R")
    + b".",
    "encodings of one text": b"\x80\x04"
    + NAMES
    + name("_codecs", "encode")
    + b"\x94"
    + many(100_000, b"h\x01h\x00\x8c\x06latin1\x86R")
    + b".",
    "odd codec": b"\x80\x04" + NAMES + name("_codecs", "encode") + b"h\x00\x8c\x05idna\x86R.",
    "bytes by count": b"\x80\x04" + name("builtins", "bytearray") + number(1 << 40) + b"\x85R.",
    "array by shape": b"\x80\x04"
    + name("numpy.core.multiarray", "_reconstruct")
    + name("numpy", "ndarray")
    + b"K\x00\x85C\x01b\x87R(K\x01"
    + number(1 << 40)
    + b"\x85"
    + name("numpy", "dtype")
    + text("f4")
    + b"\x85R\x89C\x04abcdtb.",
    "array of objects": b"\x80\x04"
    + name("numpy.core.multiarray", "_reconstruct")
    + name("numpy", "ndarray")
    + b"K\x00\x85C\x01b\x87R(K\x01K\x01\x85"
    + name("numpy", "dtype")
    + text("O")
    + b"\x85R\x89C\x08\x01\x02\x03\x04\x05\x06\x07\x08tb.",
    "scalar of an object": b"\x80\x04"
    + name("numpy.core.multiarray", "scalar")
    + name("numpy", "dtype")
    + text("O8")
    + b"\x85RC\x08\x01\x02\x03\x04\x05\x06\x07\x08\x86R.",
    "a list in itself": b"\x80\x04]\x94h\x00ah\x00a.",
    "a dict in itself": b"\x80\x04}\x94K\x01h\x00s.",
    "an object in itself": b"\x80\x04cm\nC\n)\x81\x94h\x00b.",
    "many lists of one vocabulary": b"\x80\x04" + WORDS + b"](" + many(60_000, b"](h\x00e") + b"e.",
    "long names, nested": b"\x80\x04" + NAMES + many(90, b"}h\x00") + b"}" + many(90, b"s") + b".",
}


def test_that_small_hostile_pickles_stay_within_memory_and_time(tmp_path: Path) -> None:
    paths = []
    for title, data in BOMBS.items():
        (tmp_path / title).write_bytes(data)
        paths.append(tmp_path / title)
    outcomes = open_in_child(tmp_path, paths)
    assert set(outcomes) == set(BOMBS)
    most = 20 * slowness()
    for title, (outcome, seconds, peak, events) in outcomes.items():
        assert outcome != "opened", title
        assert seconds < most, title
        assert peak < 2 << 30, title
        assert not [e for e in events if "encodings" not in e[1] and not e[0].startswith("os.scandir")], title


def _state_dict_bombs() -> dict[str, bytes]:
    big, huge = tensor("FloatStorage", "0", 144, (1000000000, 1000), (0, 0)), (1 << 61, 8)
    tables = tensor("FloatStorage", "0", 144, (100_000, 2), (0, 0))
    entry = b"}(" + text("x") + b"h\x01" + text("words") + b"h\x00u"
    pack = zipfile.ZIP_DEFLATED
    return {
        "stride 0": as_zip(checkpoint({"embedding.weight": big}), {"data/0": bytes(576)}),
        "stride 0, legacy": as_legacy(checkpoint({"embedding.weight": big})),
        "beyond the end": as_zip(
            checkpoint({"embedding.weight": tensor("FloatStorage", "0", 144, (12, 12), (12, 1), 1)}),
            {"data/0": bytes(576)},
        ),
        "overflow": as_zip(
            checkpoint({"embedding.weight": tensor("FloatStorage", "0", 144, huge, (8, 1))}),
            {"data/0": bytes(576)},
        ),
        "negative": as_zip(
            checkpoint({"embedding.weight": tensor("FloatStorage", "0", 144, (12, 12), (-12, 1))}),
            {"data/0": bytes(576)},
        ),
        "more elements than bytes": as_zip(
            checkpoint(
                {"embedding.weight": tensor("FloatStorage", "0", 1 << 40, (1 << 20, 1 << 20), (1 << 20, 1))}
            ),
            {"data/0": bytes(576)},
        ),
        "packed pickle of zeros": as_zip(bytes(40 << 20), compress=pack),
        "packed pickle of lists": as_zip(b"\x80\x02" + b"]" * 48_000_000 + b".", compress=pack),
        "packed storage": as_zip(
            checkpoint(
                {"embedding.weight": tensor("FloatStorage", "0", 65 << 20, (65 << 10, 1 << 10), (1 << 10, 1))}
            ),
            {"data/0": bytes(65 << 22)},
            compress=pack,
        ),
        "one list names many tables": as_zip(
            b"\x80\x02"
            + WORDS.replace(b"\x94", b"q\x00")
            + tables
            + b"q\x010]("
            + many(100_000, entry)
            + b"e.",
            {"data/0": bytes(576)},
        ),
    }


def test_that_small_hostile_checkpoints_stay_within_memory_and_time(tmp_path: Path) -> None:
    paths = []
    for title, data in _state_dict_bombs().items():
        (tmp_path / title).write_bytes(data)
        paths.append(tmp_path / title)
    most = 20 * slowness()
    for title, (outcome, seconds, peak, _) in open_in_child(tmp_path, paths).items():
        assert outcome != "opened" or title == "one list names many tables", title
        assert seconds < most, title
        assert peak < 2 << 30, title


def test_that_a_small_expanded_tensor_still_opens(tmp_path: Path) -> None:
    path = tmp_path / "expanded.pt"
    data = checkpoint({"embedding.weight": tensor("FloatStorage", "0", 4, (50, 4), (0, 1))})
    path.write_bytes(as_zip(data, {"data/0": struct.pack("<4f", 1, 2, 3, 4)}))
    table = open_file(path).tables[0].read()
    assert table.shape == (50, 4)
    assert (table == [1, 2, 3, 4]).all()
