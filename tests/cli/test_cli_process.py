"""The command as a process: exit statuses, silence, signals, a missing display or library."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "explorer"]
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="displays and libraries are named as on Linux")


def test_that_a_process_answers_on_standard_output_alone(start, folder):
    said = start("neighbours", folder / "glove.txt", "king - man + woman", "-k", "1", "--json")
    assert (said.status, said.err) == (0, "")
    assert said.answer["neighbours"][0]["label"] == "queen"


def test_that_a_failing_process_says_one_sentence_alone(start, folder):
    assert start("neighbours", folder / "glove.txt", "knig").sentence.startswith(
        "No row has the label “knig”"
    )


def test_that_a_umap_says_nothing_of_its_libraries(start, folder, tmp_path):
    said = start("map", folder / "glove.txt", "-o", tmp_path / "map.png")
    assert (said.status, said.err) == (0, "")
    assert len(said.out.splitlines()) == 1


def test_that_any_terminal_can_show_any_label(start, tmp_path):
    (tmp_path / "glove.txt").write_bytes("naïve 1 2 3\n東京 3 2 1\nplain 1 3 2\n".encode())
    said = start("neighbours", tmp_path / "glove.txt", "#2", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (said.status, said.err) == (0, "")
    assert "na\\xefve" in said.out


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_that_nobody_reading_is_no_fault(folder):
    process = subprocess.Popen(
        [*COMMAND, "tables", folder / "glove.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(300), err) == (141, b"")


@ON_LINUX
def test_that_ctrl_c_ends_quietly(tmp_path):
    endless = tmp_path / "endless.npy"
    np.lib.format.open_memmap(endless, "w+", np.float32, (1_000_000, 1_000)).flush()
    process = subprocess.Popen(
        [*COMMAND, "tables", endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    maps = Path(f"/proc/{process.pid}/maps")
    while process.poll() is None and endless.name not in maps.read_text():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, b"", b"")


@ON_LINUX
def test_that_a_missing_display_is_said_with_what_to_do(start, folder):
    sentence = start(folder / "glove.txt").sentence
    assert sentence.startswith("There is no display to open a window on; set QT_QPA_PLATFORM=offscreen")


@ON_LINUX
@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"DISPLAY": ":4711"}, "The display :4711 does not answer; set QT_QPA_PLATFORM=offscreen"),
        ({"WAYLAND_DISPLAY": "wayland-4711"}, "The display wayland-4711 does not answer"),
        ({"DISPLAY": ":4711", "WAYLAND_DISPLAY": "wayland-4711"}, "The display :4711 does not answer"),
        ({"QT_QPA_PLATFORM": "xcb"}, "There is no display to open a window on"),
        ({"QT_QPA_PLATFORM": "bogus"}, "Qt has no platform “bogus”; change QT_QPA_PLATFORM or unset it."),
    ],
)
def test_that_a_display_that_cannot_serve_is_said(call, folder, monkeypatch, environment, sentence):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert call(folder / "glove.txt").sentence.startswith(sentence)


@ON_LINUX
def test_that_missing_system_libraries_are_said_with_their_packages(start, folder, tmp_path):
    # A stand-in for Qt on a machine without libEGL: what the loader says there, word for word.
    package = tmp_path / "PySide6"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for module in ("QtGui", "QtWidgets"):
        (package / f"{module}.py").write_text(
            'raise ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")\n'
        )
    for arguments in ([folder / "glove.txt"], ["map", folder / "glove.txt", "-o", tmp_path / "map.png"]):
        sentence = start(*arguments, PYTHONPATH=str(tmp_path), DISPLAY=":0").sentence
        assert sentence.startswith("Qt cannot be loaded: libEGL.so.1: cannot open shared object file")
        assert "sudo apt install libgl1 libegl1" in sentence
    out = tmp_path / "map.csv"
    said = start("map", folder / "glove.txt", "-o", out, "--method", "pca", PYTHONPATH=str(tmp_path))
    assert (said.status, said.err) == (0, "")
    assert out.exists()


def test_that_a_window_is_saved_as_a_picture(start, folder, tmp_path):
    out = tmp_path / "window.png"
    said = start(folder / "glove.txt", "--screenshot", out, QT_QPA_PLATFORM="offscreen")
    assert (said.status, said.out, said.err) == (0, "", "")
    assert out.read_bytes().startswith(b"\x89PNG")


def test_that_demos_are_listed_and_unknown_ones_refused(call):
    listed = call("demo", "--list", "--json").answer["demos"]
    assert listed
    assert all(list(demo) == ["name", "path", "kind"] and Path(demo["path"]).exists() for demo in listed)
    assert listed[0]["name"] in call("demo", "--list").out
    assert f"one of: {listed[0]['name']}" in call("demo", "bogus").sentence


def test_that_a_file_that_is_not_there_opens_no_window(call, tmp_path):
    assert call(tmp_path / "absent.pth").sentence == f"There is no file {tmp_path / 'absent.pth'}."
    assert "There is no folder" in call("demo", "--screenshot", tmp_path / "no" / "a.png").sentence


def test_that_an_unexpected_fault_is_a_sentence_too(call, folder, monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("explorer.cli.tables.open_with", fail)
    assert "ZeroDivisionError: division by zero" in call("tables", folder / "glove.txt").sentence
    monkeypatch.setenv("EXPLORER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        call("tables", folder / "glove.txt")


def test_that_the_module_starts_without_a_terminal():
    # pythonw and GUI scripts have no standard streams.
    script = (
        "import sys; sys.stdout = sys.stderr = None; sys.argv = ['x', 'absent.pth']; "
        "from explorer.__main__ import main; sys.exit(main())"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 2
