"""A session's name is any text: what is found of one does not hang on what it is called."""

import ledgers
import pytest
from damage import audit

from toolgate.canonical import digest
from toolgate.verify import verify
from toolgate.verify.system import verify_system

PLAIN, ODD = ("one", "two"), ("", "XXXX")
CALLS = ("x0", "x1")


def build(root, names, shape):
    """Write two sessions: a call that ran, one that was asked about, one reported on late."""
    for name in names:
        made = ledgers.Writer(root, name, shape=shape, executes=name == names[0])
        made.prompt("p1")
        made.decide(f"call of {names.index(name)}")
        made.outcome(f"call of {names.index(name)}")
        made.decide(f"ask of {names.index(name)}", "asked")
        made.decide(f"late of {names.index(name)}")
        made.stop()
        made.outcome(f"late of {names.index(name)}")
        made.close()
    return ledgers.Kit(root)


def nothing(kit, names):
    """Damage nothing."""


def other_arguments(kit, names):
    call = {"call": "call of 0", "tool": "Bash", "args_digest": digest(b"x"), "decided": "y"}
    audit(kit, "execution.args_differ", call, names[0])
    kit.rehash()


def twice(kit, names):
    """Decide an action of the first session in the second one too."""
    made = kit.copy(kit.decision("call of 0"))
    kit.decision("call of 1").body["intent"] = made.body["intent"]
    kit.rehash()


def not_closed(kit, names):
    kit.drop(kit.find("turn_close", names[0]))
    kit.rehash()


def another_root(kit, names):
    row = kit.find("turn_close", names[1])
    row.body["ev"]["root"] = digest(b"other")
    row.keep.add("root")
    kit.rehash()


def not_opened(kit, names):
    kit.drop(kit.find("session_open", names[1]))
    kit.rehash()


ANY = (nothing, other_arguments, twice, not_closed, another_root)


@pytest.mark.parametrize(
    ("shape", "damage"),
    [
        *[(shape, damage) for shape in ("dag", "linear") for damage in ANY],
        ("linear", not_opened),  # of another, a file's name is all that is left of the session's
    ],
)
def test_names_change_nothing(tmp_path, shape, damage):
    seen = []
    for number, names in enumerate((PLAIN, ODD)):
        kit = build(tmp_path / str(number), names, shape)
        damage(kit, names)
        spans = [one._replace(session=names[0]) for one in kit.trace()]
        found = verify(str(kit.root), spans=spans)
        seen.append(
            (
                sorted((one.code, str(one.cause).split()[0]) for one in found.findings),
                found.calls,
                found.decisions,
                found.args_differ,
                found.joins,
                sorted((one.tool, one.call) for one in found.asks),
                found.sessions,
            )
        )
    assert seen[0] == seen[1]


def test_names_change_nothing_between_ledgers(tmp_path):
    for number, names in enumerate((PLAIN, ODD)):
        roots = []
        for at, name in enumerate(names):
            made = ledgers.Writer(tmp_path / f"{number}{at}", name)
            made.ts += at  # or they begin with the same entry, as copies do
            made.decide(f"x{at}", tool="Task")
            made.outcome(f"x{at}", tool="Task")
            made.close()
            roots.append(str(tmp_path / f"{number}{at}"))
        found = verify_system(roots)
        assert {(one.session, one.call) for one in found.childless} == set(
            zip(names, CALLS, strict=True)
        )
        assert (found.heads, found.findings) == (2, [])
