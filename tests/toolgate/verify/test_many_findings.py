"""A ledger that is damaged from end to end: the first findings of a code, and how many more."""

import json
import tracemalloc

import ledgers
import pytest
from click.testing import CliRunner

from toolgate.canonical import digest, profile_bytes
from toolgate.cli.ledger import ledger as command
from toolgate.verify import verify
from toolgate.verify.findings import MOST_OF_A_CODE

SPINE = "spine-000000000001.jsonl"


def stated(root, count):
    """Write a ledger whose spine says of so many calls that nobody decided them."""
    ledgers.Writer(root, "s").close()
    ledgers.Writer(root, "s").decide("a", "denied")
    lines = (root / SPINE).read_bytes().split(b"\n")[:-1]
    seq, last = len(lines), digest(lines[-1])
    with (root / SPINE).open("ab") as file:
        for number in range(count):
            seq += 1
            ev = {
                "action": "execution.unmatched",
                "actor": "t",
                "details": {"call": None, "tool": f"T{number}"},
                "target": None,
                "ts": ledgers.START + 10**9,
            }
            body = {"ev": ev, "kind": "audit", "parents": [], "session": None, "turn": None}
            body |= {"ts": ev["ts"], "v": 1, "seq": seq, "prev_digest": last}
            line = profile_bytes(body)
            last = digest(line)
            file.write(line + b"\n")
    return root


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    return stated(tmp_path_factory.mktemp("damaged") / "ledger", MOST_OF_A_CODE + 234)


def test_the_first_are_listed_and_the_others_counted(damaged):
    report = verify(str(damaged))
    found = [item.message for item in report.findings if item.code == "execution.unmatched"]
    assert [message.split()[0] for message in found] == [f"T{n}" for n in range(MOST_OF_A_CODE)]
    assert report.more == {"execution.unmatched": 234}
    assert report.verdict == "FAIL"
    assert report.as_json()["more"] == {"execution.unmatched": 234}


def test_the_command_says_how_many_more(damaged):
    said = CliRunner().invoke(command, ["verify", str(damaged)])
    assert said.exit_code == 1
    assert "  and 234 more of execution.unmatched, counted only\n" in said.output
    whole = json.loads(CliRunner().invoke(command, ["verify", "--json", str(damaged)]).output)
    assert whole["more"] == {"execution.unmatched": 234}
    both = CliRunner().invoke(command, ["verify", "--system", str(damaged)])
    assert "  and 234 more of execution.unmatched, counted only\n" in both.output


def test_a_sound_report_counts_nothing(tmp_path):
    ledgers.build(tmp_path / "ledger")
    assert verify(str(tmp_path / "ledger")).more == {}


def test_memory_does_not_grow_with_the_findings(tmp_path):
    def peak(count):
        root = stated(tmp_path / str(count), count)
        tracemalloc.start()
        verify(str(root))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(2_000), peak(20_000)
    assert many < few + 2 * 1024 * 1024
