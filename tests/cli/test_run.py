"""``tokenloop run``: the session without a screen, on a tiny model and on the real one."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFWriter

from tests.cli.conftest import Cli, start
from tests.tiny_model import TinySpec, vocabulary, write_gguf
from tokenloop_models.parts.packed import packed_products_work

ESCAPE = vocabulary().index("ě")  # the letter that byte-level vocabularies write for 0x1b
PARTIAL = vocabulary().index("æ")  # 0xe6, the first byte of 日
END = vocabulary().index("<|im_end|>")

PROMPT = ("-p", "The cat is on the")


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def tiny(tiny_model_folder: Path) -> str:
    return str(tiny_model_folder)


def ids(text: str) -> list[int]:
    return [record["token"]["id"] for record in lines(text)]


def test_each_line_is_one_step_with_the_documented_keys(cli: Cli, tiny: str) -> None:
    ended = cli("run", tiny, *PROMPT, "--steps", "4", "--ignore-eos", "--json")
    assert (ended.code, ended.err) == (0, "")
    records = lines(ended.out)
    assert [record["step"] for record in records] == [1, 2, 3, 4]
    first = records[0]
    assert [record["position"] for record in records] == [
        first["position"] + index for index in range(4)
    ]
    expected = {
        "token": {"id", "text", "bytes"},
        "draw": {"how", "u", "low", "high", "attempt"},
        "tail": {"count", "p"},
        "cache": {"positions", "bytes", "kept", "computed", "dtype"},
        "latency_ms": {"prefill", "decode", "sample", "total"},
    }
    for record in records:
        for key, inner in expected.items():
            assert inner <= set(record[key])
        assert {"id", "text", "rank", "logit", "p", "final_p", "cut_by"} <= set(
            record["candidates"][0]
        )
        assert {"name", "settings", "survivors", "mass_cut", "entropy_bits", "skipped"} <= set(
            record["stages"][0]
        )
        assert record["entropy_bits"] > 0
        assert record["cache"]["positions"] == record["position"] + 1


def test_the_token_of_a_step_was_drawn_from_that_steps_candidates(cli: Cli, tiny: str) -> None:
    out = cli(
        "run", tiny, *PROMPT, "--steps", "6", "--ignore-eos", "--candidates", "9999", "--json"
    )
    for record in lines(out.out):
        [chosen] = [c for c in record["candidates"] if c["id"] == record["token"]["id"]]
        draw = record["draw"]
        assert chosen["cut_by"] is None
        assert draw["low"] <= draw["u"] < draw["high"]
        assert draw["high"] - draw["low"] == pytest.approx(chosen["final_p"])
        assert sum(c["p"] for c in record["candidates"]) == pytest.approx(1)
        assert sum(c["final_p"] for c in record["candidates"]) == pytest.approx(1)
        assert record["tail"]["count"] == 0


def test_showing_fewer_candidates_draws_the_same_tokens(cli: Cli, tiny: str) -> None:
    asked = ("run", tiny, *PROMPT, "--steps", "8", "--ignore-eos", "--temperature", "1.5", "--json")
    few, many = (cli(*asked, "--candidates", count).out for count in ("1", "200"))
    assert ids(few) == ids(many)
    assert {len(record["candidates"]) for record in lines(few)} == {1}
    for record in lines(few):
        shown = sum(c["p"] for c in record["candidates"])
        assert shown + record["tail"]["p"] == pytest.approx(1)


def test_the_same_seed_replays_and_another_differs(cli: Cli, tiny: str) -> None:
    asked = ("run", tiny, *PROMPT, "--steps", "12", "--ignore-eos", "--temperature", "2", "--json")
    once, again, other = (ids(cli(*asked, "--seed", seed).out) for seed in ("5", "5", "6"))
    assert once == again
    assert once != other


def test_greedy_draws_nothing_and_takes_the_best(cli: Cli, tiny: str) -> None:
    out = cli("run", tiny, *PROMPT, "--steps", "5", "--ignore-eos", "--greedy", "--json").out
    for record in lines(out):
        assert record["draw"]["how"] == "greedy"
        assert record["draw"]["u"] is None
        assert record["token"]["id"] == record["candidates"][0]["id"]


def test_ids_are_the_prompt_as_they_stand(cli: Cli, tiny: str) -> None:
    asked = ("run", tiny, "--steps", "3", "--ignore-eos", "--json")
    by_comma = cli(*asked, "--ids", "40,50,60").out
    assert lines(by_comma)[0]["position"] == 3
    assert ids(cli(*asked, "--ids", "40 50 60").out) == ids(by_comma)


def test_the_prompt_can_come_from_stdin(
    cli: Cli, tiny: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("run", tiny, "--steps", "3", "--ignore-eos", "--json")
    typed = ids(cli(*asked, "-p", "on the café").out)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("on the café".encode())))
    assert ids(cli(*asked, "-p", "-").out) == typed


@pytest.mark.parametrize(
    ("raw", "why"), [(b"caf\xe9", "not UTF-8 at byte 3"), (b"x" * (8 << 20) + b"x", "more than")]
)
def test_stdin_that_is_no_prompt_is_refused(
    cli: Cli, tiny: str, monkeypatch: pytest.MonkeyPatch, raw: bytes, why: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    ended = cli("run", tiny, "-p", "-", "--json")
    assert (ended.code, ended.out) == (2, "")
    assert why in ended.err


def test_special_tokens_in_the_prompt_are_text_unless_asked_for(cli: Cli, tiny: str) -> None:
    asked = ("run", tiny, "-p", "<|im_start|>", "--steps", "1", "--ignore-eos", "--json")
    [as_text] = lines(cli(*asked).out)
    [as_special] = lines(cli(*asked, "--specials").out)
    assert as_text["position"] > 1
    assert as_special["position"] == 1


def test_a_token_that_ends_the_text_stops_the_run_and_is_said(cli: Cli, tiny: str) -> None:
    asked = ("run", tiny, *PROMPT, "--steps", "3", "--logit-bias", f"{END}=1000", "--json")
    ended = cli(*asked)
    assert ids(ended.out) == [END]
    assert ended.err.startswith("tokenloop: <|im_end|> ended the text after 1 step ")
    assert ids(cli(*asked, "--ignore-eos").out) == [END] * 3


def test_at_the_context_limit_the_lines_before_it_stand(cli: Cli, tiny: str) -> None:
    prompt = ",".join(["40"] * 254)
    ended = cli("run", tiny, "--ids", prompt, "--steps", "9", "--ignore-eos", "--json")
    assert ended.code == 1
    assert [record["position"] for record in lines(ended.out)] == [254, 255]
    assert ended.err == "tokenloop: context full at 256 positions: rewind or edit to go on\n"


def test_when_the_context_is_full_the_text_so_far_is_printed(cli: Cli, tiny: str) -> None:
    prompt = ",".join(["40"] * 254)
    ended = cli("run", tiny, "--ids", prompt, "--steps", "9", "--ignore-eos")
    assert ended.code == 1
    assert "step 2 · position 255" in ended.out
    assert ended.out.splitlines()[-1].startswith(cli_text(cli, tiny, prompt, steps="2"))
    assert ended.err == "tokenloop: context full at 256 positions: rewind or edit to go on\n"


def cli_text(cli: Cli, tiny: str, prompt: str, *, steps: str) -> str:
    """The text that a run of so many steps ends with."""
    return cli("run", tiny, "--ids", prompt, "--steps", steps, "--ignore-eos").out.splitlines()[-1]


def test_more_ids_than_the_context_holds_says_how_many_fit(cli: Cli, tiny: str) -> None:
    ended = cli("run", tiny, "--ids", ",".join(["40"] * 257))
    assert ended.err == "tokenloop: the text is 257 tokens: the context holds 256\n"


def test_the_table_begins_with_what_the_prompt_took(cli: Cli, tiny: str) -> None:
    several = cli("run", tiny, "--ids", "40,41,42", "--steps", "1").out.splitlines()[0]
    assert re.fullmatch(r"prompt · 3 tokens · prefill \d+\.\d ms, \d+\.\d ms a token", several)
    one = cli("run", tiny, "--ids", "40", "--steps", "1").out.splitlines()[0]
    assert re.fullmatch(r"prompt · 1 token · decode \d+\.\d ms", one)


def test_the_cache_is_told_in_units_that_suit_it(cli: Cli, tiny: str) -> None:
    few = cli("run", tiny, "--ids", "40", "--steps", "1").out
    many = cli("run", tiny, "--ids", ",".join(["40"] * 250), "--steps", "1").out
    assert re.search(r"cache    2 positions, [\d.]+ (B|KiB): ", few)
    assert not re.search(r"\d{4}[\d.]* KiB|,\d{3}\.\d KiB", few + many)


def test_a_prompt_is_utf_8_whatever_the_locale_says(cli: Cli, tiny: str) -> None:
    asked = ("run", tiny, "-p", "café 日本", "--steps", "1", "--json")
    process = start(*asked, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert ids(out) == ids(cli(*asked).out)


def test_any_character_is_printed_in_any_locale(tiny: str) -> None:
    process = start(
        *("run", tiny, "-p", "café", "--steps", "1"),
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
    )
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert "caf\\xe9" in out.splitlines()[-1]


def test_a_prompt_that_is_no_utf_8_is_refused(tiny: str) -> None:
    process = start("run", tiny, "-p", os.fsdecode(b"caf\xe9 au lait"))
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert "is not UTF-8 at byte 3" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", ""),
        ("--ids", "99999"),
        ("--ids", ",".join(["40"] * 257)),
        ("-p", "x", "--logit-bias", "99999=1"),
        ("-p", "x", "--device", "cuda:99"),
    ],
)
def test_what_cannot_be_run_is_one_line_and_exit_1(
    cli: Cli, tiny: str, arguments: tuple[str, ...]
) -> None:
    ended = cli("run", tiny, *arguments, "--json")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("tokenloop: ")
    assert ended.err.count("\n") == 1


def test_a_missing_model_says_how_to_get_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENLOOP_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    ended = cli("run", *PROMPT)
    assert ended.code == 1
    assert ended.err.endswith("is not on this machine: tokenloop pull smollm2\n")


def test_the_table_shows_the_step_and_ends_with_the_text(cli: Cli, tiny: str) -> None:
    ended = cli("run", tiny, *PROMPT, "--steps", "2", "--ignore-eos")
    assert ended.code == 0
    assert "step 2 · position" in ended.out
    assert "more" in ended.out
    assert ended.out.splitlines()[-1].startswith("The cat is on the")


def test_a_drawn_token_below_the_shown_ones_has_its_row(cli: Cli, tiny: str) -> None:
    asked = ("run", tiny, *PROMPT, "--steps", "5", "--ignore-eos", "--temperature", "100")
    out = cli(*asked, "--top-k", "0", "--top-p", "1", "--min-p", "0", "--candidates", "2").out
    assert out.count("▸") == 5


def test_no_token_drives_the_terminal(cli: Cli, tiny: str) -> None:
    out = cli("run", tiny, *PROMPT, "--steps", "2", "--logit-bias", f"{ESCAPE}=1000").out
    assert "\x1b" not in out
    assert "␛" in out.splitlines()[-1]


def test_a_partial_character_has_bytes_and_no_text(cli: Cli, tiny: str) -> None:
    out = cli("run", tiny, *PROMPT, "--steps", "1", "--logit-bias", f"{PARTIAL}=1000", "--json").out
    [record] = lines(out)
    assert record["token"]["text"] is None
    assert record["token"]["bytes"] == "e6"


def test_a_narrow_encoding_prints_escapes_and_no_traceback(tiny: str) -> None:
    process = start("run", tiny, *PROMPT, "--steps", "1", PYTHONIOENCODING="latin-1")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert "\\u25b8" in out


def test_a_reader_that_leaves_ends_the_run_without_a_word(tiny: str) -> None:
    process = start("run", tiny, *PROMPT, "--steps", "200", "--ignore-eos", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["step"] == 1
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=120) == 141


def test_a_reader_that_leaves_ends_the_tables_without_a_word(tiny: str) -> None:
    process = start("run", tiny, *PROMPT, "--steps", "200", "--ignore-eos")
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith("prompt · ")
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 141


def test_ctrl_c_leaves_whole_lines_and_exit_130(tiny: str) -> None:
    process = start("run", tiny, "--ids", "40", "--steps", "255", "--ignore-eos", "--json")
    assert process.stdout is not None
    first = process.stdout.readline()  # flushed as it happened: the run still goes on
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()  # communicate alone would lose what readline has read ahead
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    steps = [record["step"] for record in lines(first + rest)]
    assert steps == list(range(1, len(steps) + 1))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this platform")
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_full_disk_is_one_line(tiny: str, as_json: list[str]) -> None:
    code = "from tokenloop.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "run", tiny, *PROMPT, "--steps", "1", *as_json],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "tokenloop: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell closes the stream")
def test_streams_that_were_closed_before_the_start_do_no_harm(tiny: str) -> None:
    command = f"{sys.executable} -c 'from tokenloop.cli import main; main()' run {tiny} --ids 40"
    done = subprocess.run(
        ["sh", "-c", f"{command} --steps 1 --json <&- >&-"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_doubtful_tokenizer_is_a_warning_on_stderr(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def says_default(writer: GGUFWriter, _: str) -> None:
        writer.add_string("tokenizer.ggml.pre", "default")

    monkeypatch.setattr(GGUFWriter, "add_tokenizer_pre", says_default)
    path = write_gguf(TinySpec(), tmp_path / "tiny.gguf")
    ended = cli("run", str(path), "-p", "the", "--steps", "1", "--json")
    assert ended.code == 0
    assert len(lines(ended.out)) == 1
    [line] = ended.err.splitlines()
    assert line.startswith(f"tokenloop: warning: {path}: tokenizer.ggml.pre: 'default' names no")


@pytest.mark.skipif(not packed_products_work(), reason="this torch has no packed product")
def test_what_stays_unpacked_is_a_warning_on_stderr(cli: Cli, tmp_path: Path) -> None:
    kinds = {"": "Q4_0", "down_proj": "F16"}
    spec = TinySpec(intermediate=64, vocab_size=304)
    path = write_gguf(spec, tmp_path / "tiny.gguf", kinds=kinds)
    ended = cli("run", str(path), "-p", "the", "--steps", "1", "--json", "--precision", "fast")
    assert ended.code == 0
    said = "3 of 13 products have no packed form and run unpacked: plain floats ×3"
    assert ended.err.splitlines() == [f"tokenloop: warning: {said}"]


@pytest.mark.real
def test_the_real_model_says_what_its_reference_does(cli: Cli, real_model_path: Path) -> None:
    prompt = ("-p", "The capital of Australia is", "--greedy", "--ignore-eos")
    out = cli("run", str(real_model_path), *prompt, "--steps", "10", "--json").out
    assert ids(out) == [16570, 30, 198, 198, 504, 2988, 314, 42, 216, 34]
    first = lines(out)[0]
    assert first["position"] == 5
    assert first["entropy_bits"] == pytest.approx(3.5774, abs=1e-3)
    told = [(c["id"], c["logit"], c["p"]) for c in first["candidates"][:3]]
    for (token_id, logit, p), expected in zip(
        told,
        [(16570, 13.4248, 0.36168), (40136, 13.3667, 0.34126), (260, 11.2420, 0.04077)],
        strict=True,
    ):
        assert token_id == expected[0]
        assert logit == pytest.approx(expected[1], abs=1e-3)
        assert p == pytest.approx(expected[2], abs=1e-4)
    assert first["cache"]["bytes"] == 276_480
