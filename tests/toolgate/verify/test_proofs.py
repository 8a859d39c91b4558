"""Proofs stand alone: every entry can be proved, nothing else can, whatever the bytes."""

import json
from pathlib import Path

import checkpoints
import ledgers
import pytest
from checkpoints import FIRST, ORIGIN, SECOND, STRANGER, cosigned, held
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.canonical import digest, profile_bytes
from toolgate.errors import InputError, LedgerError
from toolgate.ledger.append import Ledger
from toolgate.ledger.notes import public
from toolgate.verify.proof import check
from toolgate.verify.prove import prove_entry, prove_growth

KEY = public(ORIGIN, FIRST)


def checkpoint(root: Path) -> bytes:
    return Ledger(str(root)).checkpoint(FIRST, ts=ledgers.START + 10**9, origin=ORIGIN)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    made = tmp_path_factory.mktemp("proofs") / "ledger"
    ledgers.build(made)
    linear = ledgers.Writer(made, "delta", shape="linear")
    linear.decide("d0", "denied")
    linear.close()
    checkpoint(made)
    return made


@pytest.fixture(scope="module")
def kit(root):
    return ledgers.Kit(root)


def test_every_entry_but_the_last_can_be_proved(root, kit):
    for _, row in kit.rows()[:]:
        if row is kit.spine[-1]:
            with pytest.raises(LedgerError, match="no checkpoint covers the entry"):
                prove_entry(str(root), row.old)
            continue
        shown = check(prove_entry(str(root), row.old), [KEY])
        assert shown.entry == row.old
        assert (shown.origin, shown.size) == (ORIGIN, 6)
        assert row.old in shown.proved[0]


def test_a_decision_is_found_by_its_digest_and_by_how_it_begins(root, kit):
    row = kit.decision("a0")
    by_entry = prove_entry(str(root), row.old)
    assert prove_entry(str(root), row.old_event) == by_entry
    assert prove_entry(str(root), row.old[7:19]) == by_entry
    assert "decision (allowed: Bash 'a0')" in check(by_entry, [KEY]).proved[0]


@pytest.mark.parametrize("text", ["", "sha256:", "abc", "zzzzzzzz", "A" * 64, "a" * 65])
def test_what_is_no_digest(root, text):
    with pytest.raises(InputError, match="ENTRY is"):
        prove_entry(str(root), text)


def test_an_entry_that_is_not_there(root):
    with pytest.raises(LedgerError, match="holds no entry"):
        prove_entry(str(root), "0" * 64)


def test_an_entry_of_an_open_turn_is_not_covered(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    writer.decide("a", "denied")
    checkpoint(tmp_path / "ledger")
    entry = ledgers.Kit(tmp_path / "ledger").decision("a").old
    with pytest.raises(LedgerError, match="its turn is open"):
        prove_entry(str(tmp_path / "ledger"), entry)


def test_without_a_checkpoint_there_is_nothing_to_prove_against(tmp_path):
    ledgers.build(tmp_path / "ledger")
    with pytest.raises(LedgerError, match="has no checkpoint"):
        prove_growth(str(tmp_path / "ledger"), 1)


def test_a_checkpoint_that_was_kept_is_proved_against(root, kit):
    note = kit.spine[-1].body["ev"]["text"].encode()
    kept = held(cosigned(note))
    data = prove_entry(str(root), kit.decision("a0").old, kept)
    assert json.loads(data)["checkpoint"].encode() == cosigned(note)
    assert check(data, [KEY], kept).entry == kit.decision("a0").old
    assert check(data, [KEY], held(note)).entry
    other = checkpoints.format_note(
        checkpoints.Note("x\n1\n" + "A" * 43 + "=\n", checkpoints.parse_note(note).signatures)
    )
    with pytest.raises(InputError, match="another checkpoint"):
        check(data, [KEY], held(other))
    with pytest.raises(LedgerError, match="does not prove it"):
        prove_entry(str(root), kit.decision("a0").old, held(other))


def test_another_key_proves_nothing(root, kit):
    data = prove_entry(str(root), kit.decision("a0").old)
    for key in (public(ORIGIN, STRANGER), public("example.com/other", FIRST)):
        with pytest.raises(InputError, match="not signed with the key"):
            check(data, [key])
    assert check(data, [public(ORIGIN, STRANGER), KEY]).entry


def test_growth(root):
    heads = [
        bytes.fromhex(digest(line)[7:])
        for line in (root / ledgers.SPINE).read_bytes().split(b"\n")
        if b'"kind":"session_close"' in line
    ]
    for size in range(1, len(heads) + 1):
        data = prove_growth(str(root), size)
        first = json.loads(data)["first"]
        assert first["root"] == "sha256:" + checkpoints.tree_root(heads[:size]).hex()
        assert check(data, [KEY]).size == len(heads)
    for size in (0, len(heads) + 1):
        with pytest.raises(LedgerError, match="no earlier size"):
            prove_growth(str(root), size)


def test_growth_from_a_checkpoint_that_was_kept(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s")
    kept = []
    for call in "abc":
        writer.decide(call, "denied")
        writer.close()
        kept.append(held(checkpoint(root)))
    writer.ledger.rotate_key(FIRST, SECOND, ts=writer.tick())
    writer.ledger.checkpoint(SECOND, ts=writer.tick())
    data = prove_growth(str(root), 2)
    keys = [KEY, public(ORIGIN, SECOND)]
    assert check(data, keys, kept[1]).proved
    with pytest.raises(InputError, match="begins with another checkpoint"):
        check(data, keys, kept[0])
    with pytest.raises(InputError, match="that was kept is not signed"):
        check(data, keys[1:], kept[1])


# -- edits


def places(value, path=()):
    """Yield the path to every value in a proof."""
    yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def edits(value):
    """Return other values to put in the place of one."""
    other = [None, 0, -1, 2**53 - 1, "", "x", [], {}, True]
    if isinstance(value, str):
        other += [value + "x", value[:-1], value.replace("1", "2", 1)]
    if isinstance(value, int):
        other += [value + 1]
    if isinstance(value, list):
        other += [value[:-1], [*value, "sha256:" + "0" * 64], value[::-1], value + value[-1:]]
    if isinstance(value, dict):
        other += [{**value, "more": 1}]
    return [one for one in other if one != value or type(one) is not type(value)]


def put(body, path, value):
    made = json.loads(json.dumps(body))
    at = made
    if not path:
        return value
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


def at(body, path):
    for key in path:
        body = body[key]
    return body


@pytest.fixture(scope="module")
def proofs(root, kit):
    wanted = [
        kit.decision("a0").old,
        kit.decision("a3").old,
        kit.decision("d0").old,
        kit.find("policy_set").old,
        kit.find("session_close", "alpha").old,
        kit.find("key_rotate").old,
    ]
    made = [prove_entry(str(root), one) for one in wanted]
    return [*made, prove_growth(str(root), 3), prove_growth(str(root), 6)]


def test_no_edit_of_any_field_proves_anything_else(proofs):
    tried = 0
    for data in proofs:
        body = json.loads(data)
        for path in places(body):
            for value in edits(at(body, path)):
                changed = profile_bytes(put(body, path, value)) + b"\n"
                if changed == data:
                    continue
                tried += 1
                with pytest.raises(InputError):
                    pytest.fail(f"{path} {value!r}: {check(changed, [KEY])}")
    assert tried > 800


def test_proofs_cannot_be_mixed(proofs):
    bodies = [json.loads(data) for data in proofs if b'"entry"' in data]
    for one in bodies:
        for two in bodies:
            for name in one:
                if one[name] == two[name]:
                    continue
                with pytest.raises(InputError):
                    check(profile_bytes({**one, name: two[name]}), [KEY])


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data + b"\n",
        lambda data: data.replace(b":", b": ", 1),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: b"[" * 100_000,
        lambda data: b"",
        lambda data: data[:-2],
        lambda data: b"1",
        lambda data: b"[]",
        lambda data: b'{"format":1}',
        lambda data: b'{"format":["a"]}',
        lambda data: data.replace(b"toolgate.proof/1", b"toolgate.proof/2"),
    ],
)
def test_bytes_that_are_no_proof(proofs, change):
    with pytest.raises(InputError) as caught:
        check(change(proofs[0]), [KEY])
    assert "\n" not in str(caught.value)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_bytes_prove_nothing_new(proofs, data):
    base = bytearray(data.draw(st.sampled_from(proofs)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(base) - 1))
        base[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        shown = check(bytes(base), [KEY])
    except InputError as error:
        assert "\n" not in str(error)
        return
    # A line feed at the end may be there or not; nothing else may change.
    assert bytes(base).rstrip(b"\n") in [one.rstrip(b"\n") for one in proofs]
    assert shown.size == 6


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
def test_random_bytes_prove_nothing(data):
    with pytest.raises(InputError):
        check(data, [KEY])


def test_a_damaged_ledger_proves_nothing(tmp_path):
    ledgers.build(tmp_path / "ledger")
    checkpoint(tmp_path / "ledger")
    kit = ledgers.Kit(tmp_path / "ledger")
    entry = kit.decision("a3").old
    kit.drop(kit.outcome("a0"))
    kit.write()
    with pytest.raises(LedgerError, match="does not prove it"):
        prove_entry(str(kit.root), entry)
    kit.reload()
    kit.find("turn_open", "alpha", turn=2).body["ev"]["why"] = "other"
    kit.write()
    with pytest.raises(LedgerError):
        prove_entry(str(kit.root), kit.find("session_open", "alpha").old)


def test_a_ledgers_bad_checkpoint_is_named(tmp_path):
    ledgers.build(tmp_path / "ledger")
    kit = ledgers.Kit(tmp_path / "ledger")
    checkpoints.checkpointed(kit)
    checkpoints.retext(kit, lambda text: "none")
    with pytest.raises(LedgerError, match="last checkpoint is none"):
        prove_growth(str(kit.root), 1)
