"""A rewriter at the chain: sessions, shapes, forks, and the files they lie in."""

from typing import Any

from catalogue import fault

from toolgate.canonical import digest, profile_bytes


@fault("linear-fork", "R", "log.fork")
def _(kit: Any) -> None:
    row = kit.decision("c1")
    row.keep.add("prev_digest")
    kit.rehash()
    before = kit.spine[kit.spine.index(row) - 1]
    row.body["prev_digest"] = before.body["prev_digest"]
    kit.rehash()


@fault("linear-relabelled-dag", "R", "log.shape")
def _(kit: Any) -> None:
    kit.find("session_open", "gamma").body["ev"]["shape"] = "dag"
    kit.rehash()


@fault("dag-relabelled-linear", "R", "log.shape")
def _(kit: Any) -> None:
    kit.find("session_open", "Beta_2").body["ev"]["shape"] = "linear"
    kit.rehash()


@fault("shape-changes-with-the-part", "R", "log.shape")
def _(kit: Any) -> None:
    kit.find("session_open", "alpha", part=2).body["ev"]["shape"] = "linear"
    kit.rehash()


@fault("head-digest-altered", "R", "log.head_digest")
def _(kit: Any) -> None:
    row = kit.find("turn_close", "alpha", turn=1)
    row.body["ev"]["ledger_head_digest"] = digest(b"other")
    row.keep.add("ledger_head_digest")
    kit.rehash()


@fault("session-close-removed", "R", "log.session_open", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.drop(kit.find("session_close", "Beta_2"))
    kit.rehash()


@fault("session-closed-twice", "R", "log.not_open")
def _(kit: Any) -> None:
    row = kit.find("session_close", "Beta_2")
    again = kit.copy(row)
    again.old = digest(b"again")
    kit.spine.insert(kit.spine.index(row) + 1, again)
    kit.rehash()


@fault("session-opened-twice", "R", "log.session_link")
def _(kit: Any) -> None:
    row = kit.find("session_open", "Beta_2")
    again = kit.copy(row)
    again.old = digest(b"again")
    kit.spine.insert(kit.spine.index(row) + 1, again)
    kit.rehash()


@fault("session-opening-removed", "R", "log.session_unknown")
def _(kit: Any) -> None:
    kit.drop(*[row for row in kit.spine if row.body["session"] == "Beta_2"])
    kit.rehash()


@fault("linear-decision-outside-a-turn", "R", "log.not_open")
def _(kit: Any) -> None:
    again = kit.copy(kit.decision("c0"))
    again.old, again.old_event = digest(b"again"), digest(b"event")
    again.body["intent"]["call"] = "c0-again"
    again.body["ev"]["decision_state"] = "denied"
    kit.spine.insert(kit.spine.index(kit.find("session_close", "gamma")), again)
    row = kit.find("turn_close", "gamma")
    kit.rehash()
    assert row.body["ev"]["count"] == 4


@fault("session-link-cut", "R", "log.session_link")
def _(kit: Any) -> None:
    kit.find("session_open", "alpha", part=2).body["parents"] = []
    kit.rehash()


@fault("part-that-no-longer-executes", "R", "log.session_link", "execution.in_run")
def _(kit: Any) -> None:
    kit.find("session_open", "alpha", part=2).body["ev"]["executes"] = False
    kit.rehash()


@fault("bytes-in-the-file-of-a-linear-session", "B", "log.shape")
def _(kit: Any) -> None:
    (kit.root / "sessions" / "gamma.jsonl").write_bytes(b'{"axis":null')


@fault("session-file-removed", "B", "log.file_missing")
def _(kit: Any) -> None:
    (kit.root / "sessions" / "run-1.jsonl").unlink()


@fault("session-renamed", "R", "log.session_mismatch")
def _(kit: Any) -> None:
    kit.decision("a3").body["session"] = "other"
    kit.rehash()


@fault("turn-forked", "R", "log.fork")
def _(kit: Any) -> None:
    row = kit.find("turn_open", "alpha", turn=2)
    row.keep.add("prev_digest")
    kit.rehash()
    row.body["prev_digest"] = kit.spine[kit.spine.index(row) - 1].body["prev_digest"]
    kit.rehash()


@fault("spine-number-skipped", "R", "log.spine_broken")
def _(kit: Any) -> None:
    row = kit.find("turn_open", "alpha", turn=2)
    row.keep.add("seq")
    row.body["seq"] += 1
    kit.rehash()


@fault("dag-decision-on-the-spine", "R", "log.shape")
def _(kit: Any) -> None:
    row = kit.decision("r1")
    kit.drop(row)
    kit.spine.insert(kit.spine.index(kit.find("turn_close", "run-1")), row)
    close = kit.find("turn_close", "run-1")
    close.keep |= {"root", "count"}
    close.body["ev"]["count"] = 1
    kit.rehash()
    close.keep = set()
    others = [one for one in kit.rows() if one[1] is not row]
    kit.files = {name: [one for of, one in others if of == name] for name in kit.files}
    kit.rehash()
    kit.spine.insert(kit.spine.index(close), row)
    close.keep |= {"root", "count"}
    kit.rehash()


@fault("chain-fields-in-the-file-of-a-session", "R", "log.shape")
def _(kit: Any) -> None:
    kit.decision("a3").body |= {"seq": 1, "prev_digest": digest(b"other")}
    kit.rehash()


@fault("spine-entry-in-the-file-of-a-session", "R", "log.shape")
def _(kit: Any) -> None:
    made = kit.copy(kit.find("session_close", "alpha"))
    made.old = digest(b"made")
    kit.alpha.append(made)
    kit.write()


@fault("recovery-of-the-spine-names-a-session", "R", "log.shape")
def _(kit: Any) -> None:
    fragment = b'{"ev":'
    opened = kit.find("turn_open", "alpha", turn=1)
    row = kit.find("turn_open", "alpha", turn=2)
    made = kit.copy(opened)
    ev = {"offset": 0, "length": len(fragment), "digest": digest(fragment), "ts": row.body["ts"]}
    made.body |= {"kind": "recovery", "parents": [opened.old], "ts": row.body["ts"], "ev": ev}
    made.old = digest(b"made")
    at = kit.spine.index(row)
    ev["offset"] = sum(len(profile_bytes(one.body)) + 1 for one in kit.spine[:at])
    kit.spine.insert(at, made)
    kit.rehash()
    path = kit.root / "spine-000000000001.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:at], fragment, *lines[at:]]))


@fault("session-files-exchanged", "B", "log.session_mismatch", "log.count")
def _(kit: Any) -> None:
    one, two = kit.root / "sessions" / "alpha.jsonl", kit.root / "sessions" / "run-1.jsonl"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


@fault("session-file-emptied", "B", "log.file_missing")
def _(kit: Any) -> None:
    (kit.root / "sessions" / "run-1.jsonl").write_bytes(b"")


@fault(
    "file-of-a-session-that-was-never-opened",
    "B",
    "log.session_unknown",
    "entries.action_ref_reused",
)
def _(kit: Any) -> None:
    data = (kit.root / "sessions" / "run-1.jsonl").read_bytes()
    (kit.root / "sessions" / "run-2.jsonl").write_bytes(data.replace(b'"run-1"', b'"run-2"'))


@fault("linear-turn-closed-out-of-turn", "R", "log.not_open")
def _(kit: Any) -> None:
    row = kit.find("turn_close", "gamma")
    again = kit.copy(row)
    again.old = digest(b"again")
    kit.spine.insert(kit.spine.index(row) + 1, again)
    kit.rehash()


@fault("session-open-with-a-turn", "R", "entries.schema")
def _(kit: Any) -> None:
    kit.find("session_open", "Beta_2").body["turn"] = 1
    kit.rehash()


@fault("policy_set-that-names-a-parent", "R", "entries.schema")
def _(kit: Any) -> None:
    kit.find("policy_set").body["parents"] = [kit.spine[0].old]
    kit.rehash()
