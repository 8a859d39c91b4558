"""Who may let calls through, as a policy says it, and which call a code names."""

from typing import TYPE_CHECKING, Any, NamedTuple

from toolgate.errors import InputError

if TYPE_CHECKING:
    from toolgate.cli.codes import Named
    from toolgate.gate.policy.lift import Lift, Lifting
    from toolgate.verify.shapes import Decision

_NOBODY = (
    "the policy gives nobody a key. Make one with `toolgate key new NAME` and put what it prints "
    'into the policy, as principals: {NAME: ["ed25519:..."]}. A policy file of your own that keeps '
    "the shipped rules says version: 1, name: mine, extends: {policy: balanced}, and that"
)


class People(NamedTuple):
    """What a policy says about who lets calls through.

    Args:
        principals: the keys of each principal.
        lift: what a person may lift.
        composed: the classes whose own approvers decide.
        classes: every class.
        compiled: the compiled policy.
    """

    principals: dict[str, list[str]]
    lift: "Lift"
    composed: frozenset[str]
    classes: frozenset[str]
    compiled: dict[str, Any]

    def signer(self, named: str | None) -> str:
        """Return who signs: the one who is named, else the only one there is.

        Raises:
            InputError: there is none, or several.
        """
        people = ", ".join(self.principals)
        if not self.principals:
            raise InputError(_NOBODY)
        if named is None and len(self.principals) > 1:
            raise InputError(f"say who signs with --as; the policy knows {people}")
        name = named or people
        if name not in self.principals:
            raise InputError(f"{name!r} is no principal of the policy; it knows {people}")
        return name

    def lifting(self, answer: str) -> "Lifting":
        """Return who may lift an answer, and by which approvals."""
        from toolgate.gate.policy.lift import Lifting

        return Lifting(tuple(self.principals), answer, self.lift.minutes)


def _people(body: dict[str, Any]) -> People:
    from toolgate.gate.policy.lift import lift_of

    return People(
        body.get("principals") or {},
        lift_of(body.get("lift")),
        frozenset(body.get("composition") or {}),
        frozenset({"other", *(str(item["name"]) for item in body.get("classes") or [])}),
        body,
    )


def people_of(root: str, decision: "Decision") -> People:
    """Return what the policy of a decision says."""
    from toolgate.ledger.append import open_store
    from toolgate.ledger.policies import read_policy

    return _people(read_policy(open_store(root, durable=True), decision.ev.policy_version))


def people_now() -> People:
    """Return what the policy says that the hook would use now."""
    import os

    from toolgate.canonical import parse
    from toolgate.gate.open import gate_for

    return _people(parse(gate_for(os.environ).policy_bytes))


def named(root: str, text: str) -> "Named":
    """Return the calls a code names, by the latest decision on them.

    Raises:
        InputError: it is no code, or names nothing, or two things.
    """
    from toolgate.approval import typed_code
    from toolgate.cli.codes import named_by
    from toolgate.cli.ledger.place import shown
    from toolgate.cli.ledger.progress import Progress
    from toolgate.verify.place import open_ledger
    from toolgate.views.gather import all_lines

    code = typed_code(text)
    if code is None:
        raise InputError(
            f"{text!r:.80} is no code; expected eight letters and digits such as K7M2-QX4A, "
            "as the gate's answer names them"
        )
    with Progress("reading: {:,} entries read") as progress:
        found = named_by(all_lines(open_ledger(root), progress), code)
    if not found:
        raise InputError(f"the ledger at {shown(root)} holds no call with the code {code}")
    if len(found) > 1:
        calls = ", ".join(
            f"{one.decision.intent.call} of session {one.decision.session}" for one in found
        )
        raise InputError(
            f"{len(found)} different calls have the code {code}, so it names none: {calls}"
        )
    return found[0]
