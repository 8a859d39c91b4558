"""The draw's laws, the sheet's cells, the inputs' rows and the seed's file."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import RefusedError, UsageError
from evalkit.labels.inputs import cwd_class, read_inputs, show
from evalkit.labels.sample import Item, draw, opaque_id, sizes, stratum_of
from evalkit.labels.seed import commitment, read_seed, seed_of
from evalkit.labels.sheet import neutral, sheet
from toolgate.canonical import digest, digest_of

SEED = bytes(32)


def item(number: int, stratum: str = "all") -> Item:
    """Return a call."""
    name = digest(str(number).encode())
    return Item(name, name, "Bash", "allowed", "r", stratum)


items = st.lists(st.integers(0, 10_000), unique=True, max_size=40).map(
    lambda numbers: [item(number, f"s{number % 3}") for number in numbers]
)


@given(items, st.integers(0, 9), st.randoms())
def test_the_order_of_calls_does_not_matter(calls: list[Item], n: int, chance: Any) -> None:
    counts = {"s0": n, "s1": n, "s2": n}
    mixed = list(calls)
    chance.shuffle(mixed)
    assert draw(calls, SEED, counts) == draw(mixed, SEED, counts)


@given(items, st.integers(0, 9))
def test_a_larger_draw_keeps_the_smaller_one(calls: list[Item], n: int) -> None:
    small = draw(calls, SEED, {"s0": n})
    assert draw(calls, SEED, {"s0": n + 1})[: len(small)] == small


@given(items, st.integers(10_001, 20_000), st.integers(1, 9))
def test_one_more_call_changes_at_most_one_item(calls: list[Item], new: int, n: int) -> None:
    before = set(draw(calls, SEED, {"s0": n}))
    after = set(draw([*calls, item(new, "s0")], SEED, {"s0": n}))
    assert len(before - after) <= 1


@given(items, st.integers(0, 50))
def test_a_draw_is_without_replacement_and_within_its_stratum(calls: list[Item], n: int) -> None:
    drawn = draw(calls, SEED, {"s1": n})
    assert len(set(drawn)) == len(drawn) == min(n, sum(c.stratum == "s1" for c in calls))
    assert all(call.stratum == "s1" for call in drawn)


def test_another_seed_draws_others() -> None:
    calls = [item(number) for number in range(200)]
    one, two = draw(calls, SEED, {"all": 20}), draw(calls, b"x" * 32, {"all": 20})
    assert set(one) != set(two)
    assert opaque_id(SEED, calls[0].decision_digest) != opaque_id(b"x", calls[0].decision_digest)


def test_strata_have_one_spelling() -> None:
    assert stratum_of([], []) == "all"
    assert stratum_of(["state", "axis", "runs_code"], ["asked", None, True]) == (
        "state=asked,axis=null,runs_code=true"
    )


def test_sizes() -> None:
    assert sizes(None, 3, ["a", "b"]) == {"a": 3, "b": 3}
    assert sizes(3, None, ["a"]) == sizes(3, 3, ["a"]) == {"a": 3}
    assert sizes({"a": 2, "gone": 9}, None, ["a", "b"]) == {"a": 2, "b": 0}
    for plan, asked in ((None, None), (3, 4), ({"a": 1}, 1)):
        with pytest.raises(UsageError):
            sizes(plan, asked, ["a"])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "==", "-"])
def test_a_cell_that_would_run_is_neutralized(text: str) -> None:
    assert neutral(text) == "'" + text


@pytest.mark.parametrize("text", ["a=1", " =1", "'=1", "", "1"])
def test_other_cells_stay(text: str) -> None:
    assert neutral(text) == text


@given(st.lists(st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=20)] * 4)))
def test_a_sheet_reads_back(rows: list[tuple[str, str, str, str]]) -> None:
    data = sheet(rows)
    assert data.startswith(b"\xef\xbb\xbfid,tool,input,cwd_class,verdict,context_limited,note\r\n")
    read = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))[1:]
    expected = [[neutral(cell.replace("\x00", "\ufffd")) for cell in row] for row in rows]
    assert [row[:4] for row in read] == expected
    assert all(row[4:] == ["", "", ""] for row in read)


def write(path: Path, *rows: Any) -> str:
    """Write an inputs file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_inputs_are_joined_by_their_own_digest(tmp_path: Path) -> None:
    one, two, three = {"a": 1.5}, {"b": "é"}, {"c": 3}
    path = write(
        tmp_path / "i",
        {"tool_input": one, "cwd": "/home/x/p"},
        {"tool_input": one, "cwd": "/home/x/q"},
        {"tool_input": two, "args_digest": digest_of(two)},
        {"args_digest": digest_of(three), "text": "shown"},
        {"tool_input": {"not": "wanted"}},
    )
    found = read_inputs(path, {digest_of(value) for value in (one, two, three)})
    assert [found[digest_of(value)].value for value in (one, two, three)] == [one, two, "shown"]
    assert [found[digest_of(value)].checked for value in (one, two, three)] == [True, True, False]
    assert found[digest_of(one)].cwd is None


def test_content_that_is_checked_wins_over_text_that_is_not(tmp_path: Path) -> None:
    value = {"a": 1}
    rows = [{"args_digest": digest_of(value), "text": "told"}, {"tool_input": value}]
    for order in (rows, rows[::-1]):
        found = read_inputs(write(tmp_path / "i", *order), {digest_of(value)})
        assert found[digest_of(value)].value == value


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[1]",
        "{}",
        '{"args_digest": "sha256:1", "text": "x"}',
        '{"args_digest": "sha256:' + "0" * 64 + '"}',
        '{"tool_input": {}, "args_digest": "sha256:' + "0" * 64 + '"}',
        '{"tool_input": {}, "tool_input": {}}',
        '{"tool_input": NaN}',
        '{"tool_input": "\\ud800"}',
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "i"
    path.write_text('{"tool_input": {}}\n\n' + line + "\n")
    with pytest.raises(UsageError, match=r":3: "):
        read_inputs(str(path), set())


def test_an_inputs_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_inputs(str(tmp_path / "none"), set())


def test_no_text_can_pose_as_another_key() -> None:
    shown = show({"command": "echo 1\nfile_path: /etc/passwd", "n": 2, "deep": {"a": [1]}})
    assert shown == 'command:\n    echo 1\n    file_path: /etc/passwd\nn: 2\ndeep: {"a": [1]}'
    assert show("text") == "text"
    assert show([1]) == "[1]"


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        (None, ""),
        ("", ""),
        ("/home/dev", "home"),
        ("/home/dev/project", "project"),
        ("/Users/x/y/z", "project"),
        ("/root", "home"),
        ("/root/p", "project"),
        ("/tmp/x", "temp"),
        ("/private/tmp", "temp"),
        ("/var/tmp/a", "temp"),
        ("/", "system"),
        ("/etc/nginx", "system"),
        ("/workspace/p", "project"),
        ("C:\\x", "other"),
    ],
)
def test_a_place_has_a_class_and_no_name(cwd: str | None, expected: str) -> None:
    assert cwd_class(cwd) == expected


def test_seeds(tmp_path: Path) -> None:
    path = tmp_path / "seed"
    path.write_text("ab" * 32)
    assert read_seed(str(path)) == b"\xab" * 32
    assert seed_of(commitment(b"\xab" * 32), str(path)) == b"\xab" * 32
    assert len(seed_of(None, None)) == 32
    assert seed_of(None, None) != seed_of(None, None)
    for text in ("ab" * 31, "AB" * 32, "ab" * 33, "", "zz" * 32, "ab" * 32 + "\n\n"):
        path.write_text(text)
        with pytest.raises(UsageError):
            read_seed(str(path))
    with pytest.raises(UsageError):
        read_seed(str(tmp_path / "none"))
    with pytest.raises(RefusedError):
        seed_of(commitment(b"x" * 32), None)
