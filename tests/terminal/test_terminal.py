"""The whole program as a person meets it: keys go in, a screen comes out."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from tests.terminal.emulated import EmulatedTerminal
from tests.tiny_model import byte_letters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEFT, ESCAPE, ENTER, CTRL_S = "\x1b[D", "\x1b", "\r", "\x13"
EVIL = b"\x1b]0;PWNED\x07\x1b[31mred\xc2\x9b5m"
EVIL_ID = 298


@pytest.fixture
def tiny(tiny_model_folder: Path, tmp_path: Path) -> Iterator[EmulatedTerminal]:
    """The program with the tiny model, at the start screen, the model loaded."""
    with EmulatedTerminal(str(tiny_model_folder), home=tmp_path) as terminal:
        terminal.wait_for("● ready")
        yield terminal


@pytest.mark.real
def test_a_class_demo_from_start_to_quit(real_model_path: Path, tmp_path: Path) -> None:
    with EmulatedTerminal(str(real_model_path), home=tmp_path) as terminal:
        terminal.wait_for("● ready")
        terminal.send(ENTER)
        for shown in ("0 written", "␣Sydney", "36.2 %", "34.1 %"):
            terminal.wait_for(shown)
        for written in range(1, 6):
            terminal.send(" ")
            terminal.wait_for(f"5 given + {written} written")
        for written in reversed(range(5)):
            terminal.send(LEFT)
            terminal.wait_for(f"5 given + {written} written")
        terminal.wait_for("36.2 %")
        terminal.send("e")
        terminal.wait_for("edit the whole text")
        terminal.send(" Canberra", CTRL_S)
        terminal.wait_for("kept 5, recomputed 1")
        terminal.wait_for("after ␣Canberra")
        terminal.send("q")
        assert terminal.wait_for_end() == 0
        terminal.assert_restored()


def test_quit_restores_the_terminal(tiny: EmulatedTerminal) -> None:
    tiny.send(ENTER)
    tiny.wait_for("space makes it fact")
    assert tiny.last_mode(1049) is True
    tiny.send("q")
    assert tiny.wait_for_end() == 0
    tiny.assert_restored()
    assert "Traceback" not in tiny.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_terminal(tiny: EmulatedTerminal, number: signal.Signals) -> None:
    tiny.send(ENTER)
    tiny.wait_for("space makes it fact")
    tiny.process.send_signal(number)
    assert tiny.wait_for_end() == 128 + number
    tiny.assert_restored()
    assert "Traceback" not in tiny.text


def test_a_signal_during_a_run_restores_the_terminal(tiny: EmulatedTerminal) -> None:
    tiny.send(ENTER)
    tiny.wait_for("space makes it fact")
    tiny.send("0", "a")
    tiny.process.send_signal(signal.SIGTERM)
    assert tiny.wait_for_end() == 128 + signal.SIGTERM
    tiny.assert_restored()


def test_pasted_lines_all_arrive(tiny: EmulatedTerminal) -> None:
    tiny.paste("alpha\nbeta\ngamma")
    tiny.wait_for("gamma")
    tiny.send(ENTER)
    shown = tiny.wait_for("space makes it fact")
    assert shown.count("⏎") >= 2


def test_what_is_typed_in_one_go_lands_in_the_window_it_opened(tiny: EmulatedTerminal) -> None:
    tiny.send(ENTER)
    tiny.wait_for("space makes it fact")
    tiny.send("e lx rR" + CTRL_S)
    tiny.wait_for("edited: kept")
    tiny.send("e more")
    tiny.wait_for("edit the whole text")
    tiny.wait_for(" lx rR more")


def test_escape_sequences_in_a_paste_stay_text_in_their_place(tiny: EmulatedTerminal) -> None:
    tiny.paste("AA" + EVIL.decode() + "\nZZ")
    tiny.wait_for("ZZ")
    shown = tiny.wait_for("4 unprintable characters were left out")
    assert "AA]0;PWNED[31mred5m" in shown


def test_a_paste_onto_the_panels_is_no_command(tiny: EmulatedTerminal) -> None:
    tiny.send(ENTER)
    tiny.wait_for("space makes it fact")
    tiny.paste("\x1b[31m  lla")
    tiny.wait_for("a paste needs a window")
    assert "+ 0 written" in tiny.text


def test_bytes_that_are_no_utf8_do_not_end_the_program(tiny: EmulatedTerminal) -> None:
    tiny.send_bytes(b"a\xff\xc3(b")
    tiny.wait_for("(b")


def test_it_survives_any_size(tiny: EmulatedTerminal) -> None:
    tiny.send(ENTER)
    tiny.wait_for("space makes it fact")
    for size in ((80, 24), (20, 5), (1, 1), (100, 30), (140, 40)):
        tiny.resize(*size)
        tiny.read(0.3)
    tiny.wait_for("KV cache")
    tiny.send(" ")
    tiny.wait_for("+ 1 written")


def test_what_native_code_prints_does_not_reach_the_screen(
    tiny_model_folder: Path, tmp_path: Path
) -> None:
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import os, threading, time\n"
        "def shout():\n"
        "    while True:\n"
        "        time.sleep(0.5)\n"
        "        os.write(1, b'NATIVE-NOISE') if not os.isatty(1) else None\n"
        "        os.write(2, b'NATIVE-NOISE') if not os.isatty(2) else None\n"
        "threading.Thread(target=shout, daemon=True).start()\n"
    )
    with EmulatedTerminal(
        str(tiny_model_folder), home=tmp_path, PYTHONPATH=str(tmp_path)
    ) as terminal:
        terminal.wait_for("● ready")
        terminal.send(ENTER)
        terminal.wait_for("space makes it fact")
        terminal.read(1.5)
        terminal.send("q")
        assert terminal.wait_for_end() == 0
    assert b"NATIVE-NOISE" not in terminal.raw
    logs = list(tmp_path.rglob("tokenloop.log"))
    assert logs
    assert "NATIVE-NOISE" in logs[0].read_text()


@pytest.fixture
def evil_model_folder(tiny_model_folder: Path, tmp_path: Path) -> Path:
    """The tiny model with a vocabulary entry that holds escape sequences."""
    folder = tmp_path / "evil"
    shutil.copytree(tiny_model_folder, folder)
    path = folder / "tokenizer.json"
    made = json.loads(path.read_text(encoding="utf-8"))
    letters = byte_letters()
    vocabulary, merges = made["model"]["vocab"], made["model"]["merges"]
    (old,) = [text for text, token_id in vocabulary.items() if token_id == EVIL_ID]
    del vocabulary[old]
    vocabulary["".join(letters[byte] for byte in EVIL)] = EVIL_ID
    made["model"]["merges"] = [merge for merge in merges if "".join(merge).replace(" ", "") != old]
    path.write_text(json.dumps(made), encoding="utf-8")
    return folder


def test_a_token_with_an_escape_sequence_does_not_reach_the_terminal(
    evil_model_folder: Path, tmp_path: Path
) -> None:
    with EmulatedTerminal(str(evil_model_folder), home=tmp_path) as terminal:
        terminal.wait_for("● ready")
        terminal.send(ENTER)
        terminal.wait_for("space makes it fact")
        terminal.send("s", "\x1b[H")  # to the first stage: logit bias
        terminal.wait_for("added to the logits")
        terminal.send(ENTER, f"{EVIL_ID}=500", ENTER)
        terminal.wait_for("PWNED")
        terminal.send(ESCAPE)
        terminal.wait_for("space step")
        terminal.send(" ")
        terminal.wait_for("+ 1 written")
        terminal.send("[")
        terminal.wait_for("THEN")
        terminal.send(ESCAPE)
        terminal.send("t")
        terminal.wait_for("type text to append")
        terminal.send(ESCAPE)
        terminal.send("e")
        shown = terminal.wait_for("edit the whole text")
        assert "␛]0;PWNED" in shown
        terminal.read(0.5)
        terminal.send(ESCAPE)
        terminal.send("q")
        assert terminal.wait_for_end() == 0
        terminal.assert_restored()
    sent = re.sub(rb"\x1b\]22;[a-z-]*\x07", b"", terminal.raw)  # Textual's own: the pointer's shape
    assert b"PWNED" in sent  # it was shown, made harmless
    assert b"\x1b]" not in sent
    assert b"\x07" not in sent
    assert b"\x1b[31mred" not in sent
    assert b"\xc2\x9b" not in sent
    assert terminal.screen.title == ""


def test_an_unusable_settings_file_is_one_line_and_the_screen_never_opens(
    tiny_model_folder: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "config" / "tokenloop" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[keys]\nfly = "f"\n')
    with EmulatedTerminal(str(tiny_model_folder), home=tmp_path, size=(300, 20)) as terminal:
        assert terminal.wait_for_end() != 0
        assert "keys.fly" in terminal.text
        assert "Traceback" not in terminal.text
        assert terminal.last_mode(1049) is None


def test_a_model_that_cant_be_loaded_is_said_on_the_screen(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + os.urandom(64))
    with EmulatedTerminal(str(broken), home=tmp_path) as terminal:
        terminal.wait_for("broken.gguf")
        shown = terminal.wait_for("no model")
        assert "Traceback" not in shown
        terminal.send("\x11")
        assert terminal.wait_for_end() == 0
        terminal.assert_restored()
