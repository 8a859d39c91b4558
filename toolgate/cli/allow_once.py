"""``toolgate allow-once``: signed leave for one call that the policy holds back."""

from typing import TYPE_CHECKING

import click

from toolgate.cli.keys import load_key
from toolgate.cli.ledger.place import existing_ledger
from toolgate.cli.people import People, named, people_of
from toolgate.cli.signed import say, seconds, sign, unsigned, words
from toolgate.errors import InputError

if TYPE_CHECKING:
    from toolgate.approval import Approval, Target
    from toolgate.verify.shapes import Decision


@click.command()
@click.argument("code")
@click.option("--as", "principal", metavar="NAME", help="Who signs, if the policy knows several.")
@click.option("--key", metavar="FILE", help="Their private key, if not at its place.")
@click.option("--expires", default="10m", show_default=True, help="How long: 90s, 10m, 1h.")
@click.option("--revoke", is_flag=True, help="Take back what was signed and not used.")
@click.option("--again", is_flag=True, help="Sign leave for one more such call where one stands.")
@click.option("--ledger", metavar="PATH", help="The ledger; this user's by default.")
def allow_once(
    code: str,
    principal: str | None,
    key: str | None,
    expires: str,
    revoke: bool,
    again: bool,
    ledger: str | None,
) -> None:
    """Let the call that CODE names through, once, and sign that.

    The gate names the code (such as K7M2-QX4A) when it asks about a call or denies it. The
    next call of the same session with the same arguments, class and effects is allowed. What
    is let through is printed before it is signed. Where leave stands already nothing is signed;
    --again signs leave for one more such call.

    Exit codes: 0 done, 2 it cannot be let through like this, 3 it could not be done.
    """
    import time

    from toolgate.approval import Approvers, Target
    from toolgate.ledger.append import Ledger
    from toolgate.views.moments import moment

    root = existing_ledger(ledger)
    decision = named(root, code).decision
    people = people_of(root, decision)
    name = people.signer(principal)
    lifting = people.lifting(_liftable(people, decision, revoke=revoke))
    target = Target(None, decision.ev.args_digest, str(decision.session), decision.action_class)
    if not (revoke or again):
        stands = _standing(root, people, target, name, decision)
        if stands is not None:
            say(
                [
                    f"It stands already: {stands.entry}, signed by {name}.",
                    f"One such call goes through until {moment(stands.ev['expiry'])}; nothing was "
                    "signed. --again signs leave for one more.",
                ]
            )
            return
    private = load_key(name, key)
    ts = max(time.time_ns() // 1000, decision.ts)
    verdict = "refuse" if revoke else "approve"
    ev = {
        **unsigned(name, private, verdict, ts, seconds(expires) * 1_000_000),
        "args_digest": decision.ev.args_digest,
        "session": decision.session,
        "class": decision.action_class,
    }
    lifting.check(ev)
    say(words(ev, decision))
    given = Ledger(root).approve(
        sign(ev, private),
        target=target,
        call=decision.intent.call,
        approvers=Approvers(lifting, people.principals),
    )
    if revoke:
        say([f"Refused: {given.entry}", f"What {name} signed for this call counts no more."])
        return
    say(
        [
            f"Approved: {given.entry}",
            f"Let the agent try again: one such call goes through until {moment(ev['expiry'])}.",
        ]
    )


def _standing(
    root: str, people: People, target: "Target", name: str, decision: "Decision"
) -> "Approval | None":
    """Return the leave of somebody that the next such call would use; None where there is none.

    What was signed before the decision was made of something that may do other things now.
    """
    import time

    from toolgate.ledger.append import open_store
    from toolgate.ledger.known import Known

    now = max(time.time_ns() // 1000, decision.ts)
    known = Known(open_store(root, durable=True))
    found = [
        item
        for item in known.standing(target, people.principals, now)
        if item.principal == name and item.ts >= decision.ts and _is_of_one_call(item, target)
    ]
    return max(found, key=lambda item: int(item.ev["expiry"]), default=None)


def _is_of_one_call(item: "Approval", target: "Target") -> bool:
    ev = item.ev
    named = (ev["decision_digest"], ev["args_digest"], ev["session"], ev["class"])
    return named == tuple(target)


def _liftable(people: People, decision: "Decision", *, revoke: bool) -> str:
    """Return what would be lifted, ``ask`` or ``deny``.

    Raises:
        InputError: nobody may lift it.
    """
    from toolgate.gate.policy.lift import answer_by

    call, name = decision.intent.call, decision.action_class
    # One that went through may have more leave left, which can be taken back.
    if decision.ev.decision_state == "allowed" and not revoke:
        raise InputError(f"call {call} was allowed; nothing waits for a word on it")
    if name in people.composed:
        raise InputError(
            f"class {name} is decided by the approvals of its own people; "
            f"`toolgate approve {call}` gives one"
        )
    answer = answer_by(people.compiled, decision.rule)
    effects = (effect.type for effect in decision.effects)
    why = people.lift.refusal(decision.rule, answer, effects)
    if why or answer is None:
        raise InputError(f"call {call} cannot be let through: {why}")
    return answer
