"""``toolgate approve`` and ``toolgate refuse``: a principal's signed word on a call."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from toolgate.cli.keys import load_key
from toolgate.cli.ledger.place import existing_ledger
from toolgate.cli.signed import say, seconds, sign, unsigned, words
from toolgate.errors import InputError

if TYPE_CHECKING:
    from toolgate.approval import Target
    from toolgate.gate.policy.compose import Rule
    from toolgate.ledger.approvals import Given
    from toolgate.verify.shapes import Decision

CALL, ARGS, CLASS = "call", "args", "class"


class _Said(NamedTuple):
    """What the command line says."""

    decision: str
    principal: str
    key: str | None
    expires: str
    about: str | None
    any_session: bool
    ledger: str | None


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument and options that both share."""
    for option in reversed(
        (
            click.argument("decision", metavar="DECISION"),
            click.option("--as", "principal", required=True, help="Who says so."),
            click.option("--key", metavar="FILE", help="Their private key, if not at its place."),
            click.option(
                "--expires", default="1h", show_default=True, help="How long: 90s, 30m, 1h, 7d."
            ),
            click.option(
                "--for",
                "about",
                type=click.Choice((CALL, ARGS, CLASS)),
                help="This call, calls with these arguments, or any call of this class. By "
                "default an ask is answered for this call, a denied call for its arguments.",
            ),
            click.option("--any-session", is_flag=True, help="Not only in this session."),
            click.option("--ledger", metavar="PATH", help="The ledger; this user's by default."),
        )
    ):
        command = option(command)
    return command


@click.command()
@_options
def approve(**said: Any) -> None:
    """Approve the call of DECISION and sign that.

    DECISION is a decision digest, an entry digest, at least 8 hex digits that begin one of
    them, or a call id (its latest decision). What is approved is printed before it is signed.

    Exit codes: 0 done, 2 it cannot be approved like this (also if DECISION may be several
    calls, which are listed, or none), 3 it could not be done.
    """
    _give("approve", _Said(**said))


@click.command()
@_options
def refuse(**said: Any) -> None:
    """Refuse the call of DECISION and sign that; takes back what was approved of it.

    Arguments and exit codes as for approve.
    """
    _give("refuse", _Said(**said))


def _give(verdict: str, said: _Said) -> None:
    import time

    from toolgate.approval import Approvers
    from toolgate.ledger.append import Ledger

    root = existing_ledger(said.ledger)
    event, decision = _meant(root, said.decision)
    rule, principals, target = _asked(root, decision, event, said)
    private = load_key(said.principal, said.key)
    ts = max(time.time_ns() // 1000, decision.ts)
    length = seconds(said.expires) * 1_000_000
    ev = {
        **unsigned(said.principal, private, verdict, ts, length),
        "decision_digest": target.decision_digest,
        "session": None if said.any_session else target.session,
    }
    if target.decision_digest is None:
        ev["class"] = target.action_class
        ev["args_digest"] = None if said.about == CLASS else target.args_digest
    say(words(ev, decision))
    given = Ledger(root).approve(
        sign(ev, private),
        target=target,
        call=decision.intent.call,
        approvers=Approvers(rule, principals),
    )
    say(_became(verdict, rule, given, ev))


def _meant(root: str, wanted: str) -> "tuple[str, Decision]":
    """Return the decision somebody means, after its decision_digest.

    Raises:
        InputError: they name none, several, or one that was replaced.
    """
    from toolgate.cli.ledger.progress import Progress
    from toolgate.verify.place import open_ledger
    from toolgate.views.find import decision_at, find
    from toolgate.views.gather import all_lines, lines_of

    with Progress("reading: {:,} entries read") as progress:
        directory = open_ledger(root)
        found = find(lambda: all_lines(directory, progress), wanted)
        unclear = found.unclear(directory.root, wanted)
        if unclear is not None:
            raise InputError(unclear)
        (one,), (named,) = found.calls, found.named
        decision = decision_at(lines_of(directory, one.session, progress), one.entry)
    if decision is None or named != one.decision:
        raise InputError(f"call {one.call} has been decided again since {named}")
    return one.decision, decision


def _asked(
    root: str, decision: "Decision", event: str, said: _Said
) -> "tuple[Rule, dict[str, list[str]], Target]":
    """Return who may speak about a decision, and what about.

    Raises:
        InputError: nobody may, or not like this.
    """
    from toolgate.approval import Target, code_of
    from toolgate.gate.policy.compose import ANY_OF, Rule
    from toolgate.ledger.append import open_store
    from toolgate.ledger.policies import read_policy

    ev, name = decision.ev, decision.action_class
    policy = read_policy(open_store(root, durable=True), ev.policy_version)
    composed = (policy.get("composition") or {}).get(name)
    asked = ev.decision_state == "asked"
    about = said.about or (CALL if asked else ARGS)
    if ev.decision_state == "allowed":
        raise InputError(f"call {decision.intent.call} was allowed; nothing waits for a word on it")
    if not asked and composed is None:
        code = code_of(decision.session, ev.args_digest, name)
        raise InputError(
            f"call {decision.intent.call} was denied by rule {decision.rule}, and no approvals "
            f"are provided for class {name}; "
            f"`toolgate allow-once {code}` lets a retry through, if the policy allows that"
        )
    if about == CALL and not asked:
        raise InputError("a denied call does not run any more; approve its retry with --for args")
    if about != CALL and composed is None:
        raise InputError(f"no approvals are collected for class {name}; use --for call")
    if about == CALL and said.any_session:
        raise InputError("a call belongs to its session; leave --any-session out")
    rule = (
        Rule(ANY_OF, 1, tuple(policy.get("principals") or {}))
        if composed is None
        else Rule(composed["operator"], composed.get("n", 1), tuple(composed["principals"]))
    )
    target = Target(event if about == CALL else None, ev.args_digest, decision.session or "", name)
    return rule, policy.get("principals") or {}, target


def _became(verdict: str, rule: "Rule", given: "Given", ev: dict[str, Any]) -> list[str]:
    """Return what an approval or refusal brought about."""
    done = "Approved" if verdict == "approve" else "Refused"
    lines = [f"{done}: {given.entry}"]
    if given.decision_digest is not None:
        state = "allowed" if verdict == "approve" else "denied"
        lines.append(f"The call is {state} by decision {given.decision_digest}.")
    elif rule.choose(given.standing):
        lines.append("All approvals are there: the agent may try the call again.")
    elif verdict == "approve":
        lines.append(f"Not yet enough: {rule.phrase(given.standing)}.")
    else:
        lines.append(f"What {ev['principal']} approved of this before counts no more.")
    return lines
