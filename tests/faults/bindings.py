"""A rewriter who unties an entry from what it rests on: intent, policy, class, decision."""

from typing import Any

from catalogue import fault

from toolgate.canonical import digest


@fault("outcomes-swapped", "R", "entries.swapped_outcome")
def _(kit: Any) -> None:
    one, two = kit.outcome("a0").body["ev"], kit.outcome("a1").body["ev"]
    names = ("decision_digest",)
    for name in names:
        one[name], two[name] = two[name], one[name]
    kit.rehash()


@fault("policy-not-held", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    kit.decision("a3").body["ev"]["policy_version"] = digest(b"another policy")
    kit.rehash()


@fault("policy-removed", "B", "entries.policy_unknown")
def _(kit: Any) -> None:
    next((kit.root / "policies").iterdir()).unlink()


@fault("policy-not-announced", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    kit.drop(kit.find("policy_set"))
    kit.rehash()


@fault("policy-announced-after-the-turn", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    rows = kit.spine
    rows.append(rows.pop(rows.index(kit.find("policy_set"))))
    kit.rehash()


@fault("policy-text-altered", "B", "entries.policy_altered")
def _(kit: Any) -> None:
    path = next((kit.root / "policies").iterdir())
    path.write_bytes(path.read_bytes().replace(b"look", b"lool"))


@fault("class-relabelled", "R", "entries.class")
def _(kit: Any) -> None:
    kit.decision("a0").body["class"] = "shell"
    kit.rehash()


@fault("effects-weakened", "R", "entries.scope")
def _(kit: Any) -> None:
    kit.decision("a0").body["effects"][0]["scope"] = "temp"
    kit.rehash()


@fault("basis-of-another-action", "R", "entries.basis_other_action")
def _(kit: Any) -> None:
    kit.decision("a6").body["basis"] = [kit.decision("a4").old_event]
    kit.rehash()


@fault("basis-that-is-nothing", "R", "entries.basis_unknown")
def _(kit: Any) -> None:
    kit.decision("a6").body["basis"] = [digest(b"nothing")]
    kit.rehash()


@fault("replacement-changes-the-intent", "R", "entries.intent_differs")
def _(kit: Any) -> None:
    first = kit.decision("a5")
    second = next(
        row
        for _, row in kit.rows()
        if row.body["kind"] == "decision"
        and row.body["intent"]["call"] == "a5"
        and row is not first
    )
    second.body["intent"]["agent_id"] = "other"
    second.old_ref = "second"
    kit.outcome("a5").body["ev"]["action_ref"] = "second"
    kit.rehash()


@fault("action_ref-not-derived", "R", "entries.action_ref")
def _(kit: Any) -> None:
    row = kit.decision("a3")
    row.body["ev"]["action_ref"] = digest(b"other")
    row.keep.add("action_ref")
    kit.rehash()


@fault("action-decided-in-two-sessions", "R", "entries.action_ref_reused")
def _(kit: Any) -> None:
    kit.decision("b0").body["intent"] = dict(kit.decision("a0").body["intent"])
    kit.rehash()


@fault("action-decided-twice", "R", "entries.action_ref_reused")
def _(kit: Any) -> None:
    kit.decision("a3").body["intent"] = dict(kit.decision("a0").body["intent"])
    kit.rehash()


@fault("decision_id-reused", "R", "entries.decision_id")
def _(kit: Any) -> None:
    row = kit.decision("a1")
    row.body["ev"]["decision_id"] = kit.decision("a0").body["ev"]["decision_id"]
    row.keep.add("decision_id")
    kit.rehash()


@fault("rule-relabelled", "R", "entries.decision_id")
def _(kit: Any) -> None:
    row = kit.decision("a1")
    row.body["rule"] = "other"
    row.keep.add("decision_id")
    kit.rehash()


@fault("outcome-commits-to-nothing", "R", "entries.outcome_unbound")
def _(kit: Any) -> None:
    kit.outcome("a0").body["ev"]["decision_digest"] = digest(b"nothing")
    kit.rehash()


@fault("policy-swapped-without-announcement", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    _use(kit, b'{"classes":[{"name":"look"}],"x":1}')


@fault("policy-that-is-no-json", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    _use(kit, b'{"classes":[{"name":"look"', announced=True)


@fault("policy-with-classes-of-another-form", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    _use(kit, b'{"classes":[{"name":"look","tools":"Bash"}]}', announced=True)


@fault("fact-from-another-session", "R", "log.fact_unknown")
def _(kit: Any) -> None:
    kit.decision("a6").body["facts"][0]["entry"] = kit.decision("c0").old
    kit.rehash()


@fault("class-relabelled-other", "R", "entries.class")
def _(kit: Any) -> None:
    kit.decision("a3").body["class"] = "other"
    kit.rehash()


def _use(kit: Any, policy: bytes, *, announced: bool = False) -> None:
    version = digest(policy)
    (kit.root / "policies" / f"{version[7:]}.json").write_bytes(policy)
    kit.decision("a3").body["ev"]["policy_version"] = version
    if announced:
        row = kit.find("policy_set")
        again = kit.copy(row)
        again.old = digest(b"again")
        again.body["ev"]["policy"] = version
        kit.spine.insert(kit.spine.index(row) + 1, again)
    kit.rehash()
