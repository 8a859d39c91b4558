"""However a ledger's lines are stored, a slice is the same."""

import os
import shutil
from typing import Any

import pytest

from evalkit.errors import RefusedError
from evalkit.windows.declare import read_yaml
from evalkit.windows.receipts import read_chain
from evalkit.windows.slice import Slice, cut
from toolgate.ledger.append import Ledger
from toolgate.ledger.seal import seal


def taken(root: str, tools: Any) -> Slice:
    return cut(root, read_yaml(tools.declaration.encode(), "w.yaml"))


def rows(found: Slice) -> list[tuple[Any, ...]]:
    made: list[tuple[Any, ...]] = found.connection.execute("SELECT * FROM slice").fetchall()
    return sorted(made, key=str)


def write(maker: Any, tools: Any) -> None:
    """Write calls of several sessions, one of which goes on after it was closed."""
    for number in range(24):
        state = ("allowed", "asked", "denied")[number % 3]
        session = f"s{number % 4}"
        ts = tools.start + number * tools.hour // 2
        call = maker.decide(state, ts, session=session)
        if state == "allowed":
            maker.outcome(call, ts + 10)
        if number % 6 == 5:
            maker.close(session, ts + 20)
    for session in range(4):
        maker.close(f"s{session}", tools.end)


@pytest.fixture
def plain(desk: Any, tools: Any) -> Any:
    """Return a desk over a ledger with a rotated spine and nothing sealed."""
    shape = "linear" if desk.maker.ledger._setting.linear else "dag"
    desk.maker.ledger = Ledger(desk.root, shape=shape, rotate=3000)
    write(desk.maker, tools)
    return desk


def test_a_rotated_spine_is_read_whole(plain: Any, desk: Any, tools: Any, tmp_path: Any) -> None:
    spine = [name for name in os.listdir(plain.root) if name.startswith("spine-0")]
    assert len(spine) > 2
    shape = "linear" if desk.maker.ledger._setting.linear else "dag"
    other = tools.maker(tmp_path / "other", shape)
    write(other, tools)
    assert len([name for name in os.listdir(other.root) if name.startswith("spine-0")]) == 1
    one, two = taken(plain.root, tools), taken(other.root, tools)
    assert rows(one) == rows(two)
    assert one.digest == two.digest
    assert one.flow == two.flow
    assert one.lines._replace(files=0) == two.lines._replace(files=0)
    assert read_chain(plain.root).head == read_chain(other.root).head


def test_sealed_sessions_are_read_from_their_segments(plain: Any, tools: Any) -> None:
    before = taken(plain.root, tools)
    done = seal(plain.root, ts=tools.end + 48 * tools.hour, with_twin=False)
    assert done.sessions == (0 if plain.maker.ledger._setting.linear else 4)
    packed = taken(plain.root, tools)
    assert rows(packed) == rows(before)
    assert packed.digest == before.digest
    assert packed.lines == before.lines
    # A session that goes on has a file again, which holds all that was sealed of it.
    plain.maker.decide("denied", tools.end + 50 * tools.hour, session="s1")
    again = taken(plain.root, tools)
    assert rows(again) == rows(before)
    assert again.lines.duplicates == before.lines.duplicates
    plain.maker.close("s1", tools.end + 51 * tools.hour)
    seal(plain.root, ts=tools.end + 200 * tools.hour, with_twin=False)
    assert rows(taken(plain.root, tools)) == rows(before)


def test_a_window_is_declared_and_closed_over_sealed_sessions(dag_desk: Any, tools: Any) -> None:
    dag_desk.declare()
    write(dag_desk.maker, tools)
    copy = dag_desk.root + "-plain"
    shutil.copytree(dag_desk.root, copy)
    plain = taken(copy, tools)
    seal(dag_desk.root, ts=tools.end + 48 * tools.hour, with_twin=False)
    assert taken(dag_desk.root, tools).digest == plain.digest
    assert dag_desk.close(now=tools.end + 3 * tools.hour)


def test_a_damaged_segment_is_refused(dag_desk: Any, tools: Any) -> None:
    write(dag_desk.maker, tools)
    done = seal(dag_desk.root, ts=tools.end + 48 * tools.hour, with_twin=False)
    pack = os.path.join(dag_desk.root, "segments", done.segments[0], "sessions.jsonl.gz")
    os.truncate(pack, 100)
    with pytest.raises(RefusedError, match="cannot read the sealed sessions"):
        taken(dag_desk.root, tools)
