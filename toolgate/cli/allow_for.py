"""``toolgate allow-for``: signed leave, beforehand, for a few calls of a class."""

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

import click

from toolgate.cli.keys import load_key
from toolgate.cli.ledger.place import existing_ledger
from toolgate.cli.people import People, named, people_now, people_of
from toolgate.cli.signed import say, sign, unsigned
from toolgate.errors import InputError

if TYPE_CHECKING:
    from toolgate.approval import Target

_MINUTE_US = 60_000_000


@click.command()
@click.argument("code", required=False)
@click.option("--class", "action_class", metavar="CLASS", help="The class of the policy.")
@click.option("--session", metavar="ID", help="The session the calls belong to.")
@click.option("--any-session", is_flag=True, help="Calls of whatever session.")
@click.option("--minutes", type=click.IntRange(1), help="For how long. Needed unless --revoke.")
@click.option("--calls", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@click.option("--revoke", is_flag=True, help="Take back what is left.")
@click.option("--as", "principal", metavar="NAME", help="Who signs, if the policy knows several.")
@click.option("--key", metavar="FILE", help="Their private key, if not at its place.")
@click.option("--ledger", metavar="PATH", help="The ledger; this user's by default.")
def allow_for(
    code: str | None,
    action_class: str | None,
    session: str | None,
    any_session: bool,
    minutes: int | None,
    calls: int,
    revoke: bool,
    principal: str | None,
    key: str | None,
    ledger: str | None,
) -> None:
    """Let the next calls of a class through that the policy asks about, and sign that.

    The class and the session are those of the call that CODE names, or --class and --session.
    Each call that goes through uses up one of --calls signatures; what is left ends after
    --minutes. What a rule denies stays denied: allow-once is for a single call. `toolgate
    approvals` lists what is left.

    Exit codes: 0 done, 2 it cannot be let through like this, 3 it could not be done.
    """
    root = existing_ledger(ledger)
    if code is not None:
        if action_class or session or any_session:
            raise InputError("a CODE says class and session; leave --class and --session out")
        decision = named(root, code).decision
        people = people_of(root, decision)
        action_class, session = decision.action_class, decision.session
    else:
        people = people_now()
        if action_class is None:
            raise InputError("say what is let through: a CODE, or --class")
        if (session is None) is not any_session:
            raise InputError("say in which session: --session ID, or --any-session")
        _check_session(root, session)
    if minutes is None and not revoke:
        raise InputError("say for how long with --minutes")
    grant = _Grant(action_class, session, minutes or 1, 1 if revoke else calls, revoke)
    _give(root, people, grant, people.signer(principal), key)


class _Grant(NamedTuple):
    """Leave for calls of a class, or its end.

    Args:
        action_class: the class.
        session: the session, None for any.
        minutes: for how long.
        calls: for how many calls.
        revoke: whether it ends what was given before.
    """

    action_class: str
    session: str | None
    minutes: int
    calls: int
    revoke: bool

    @property
    def where(self) -> str:
        """Return the session, in words."""
        return "any session" if self.session is None else f"session {self.session}"

    @property
    def option(self) -> str:
        """Return the session, as the command line says it."""
        return "--any-session" if self.session is None else f"--session {quote(self.session)}"


def _check_session(root: str, session: str | None) -> None:
    """Check that a session was ever opened: a misspelt one would let nothing through.

    Raises:
        InputError: it was not.
    """
    from toolgate.cli.ledger.place import shown
    from toolgate.verify.place import open_ledger
    from toolgate.verify.read import Line
    from toolgate.verify.shapes import SessionOpen

    spine = open_ledger(root).read_spine()
    opens = (line.entry for line in spine if isinstance(line, Line))
    known = {entry.session for entry in opens if isinstance(entry, SessionOpen)}
    if session is not None and session not in known:
        raise InputError(f"the ledger at {shown(root)} holds no session {session!r:.80}")


def _give(root: str, people: People, grant: _Grant, name: str, key: str | None) -> None:
    import time

    from toolgate.approval import Approvers, Target
    from toolgate.gate.decision import ASK
    from toolgate.ledger.append import Ledger
    from toolgate.views.moments import moment

    target = Target(None, "", grant.session or "", grant.action_class)
    ts = time.time_ns() // 1000
    if not grant.revoke:
        _check(people, grant, _left(root, people, target, ts))
    private = load_key(name, key)
    lifting = people.lifting(ASK)
    writer = Ledger(root)
    verdict = "refuse" if grant.revoke else "approve"
    until = moment(ts + grant.minutes * _MINUTE_US)
    what = f"calls of class {grant.action_class} in {grant.where}"
    if grant.revoke:
        say([f"Take back what {name} signed for {what}"])
    else:
        say([f"Let through the next {grant.calls} {what} that the policy asks about"])
        say([f"  until {until}"])
    say([f"  as {name} ({private.public})"])
    for _ in range(grant.calls):
        ev = {
            **unsigned(name, private, verdict, ts, grant.minutes * _MINUTE_US),
            "session": grant.session,
            "class": grant.action_class,
        }
        approvers = Approvers(lifting, people.principals)
        given = writer.approve(sign(ev, private), target=target, call="", approvers=approvers)
    if grant.revoke:
        say([f"Refused: {given.entry}", f"What {name} signed for it counts no more."])
        return
    say(
        [
            f"Signed: {grant.calls} approvals, each for one call.",
            "To take back what is left: toolgate allow-for --revoke "
            f"--class {grant.action_class} {grant.option} --as {name}",
        ]
    )


def _left(root: str, people: People, target: "Target", ts: int) -> int:
    """Return how many calls of a class may go through already."""
    from toolgate.ledger.append import open_store
    from toolgate.ledger.known import Known

    known = Known(open_store(root, durable=True))
    return len(known.standing(target, people.principals, ts))


def _check(people: People, grant: _Grant, left: int) -> None:
    """Check that the policy lets somebody give this leave.

    Raises:
        InputError: it does not.
    """
    lift, name = people.lift, grant.action_class
    if name not in people.classes:
        raise InputError(
            f"no class of the policy is called {name!r:.80}; it has "
            f"{', '.join(sorted(people.classes))}"
        )
    if name in people.composed:
        raise InputError(
            f"class {name} is decided by the approvals of its own people: `toolgate approve`"
        )
    if lift.ask != "person":
        raise InputError("the policy lets nobody lift what it asks about")
    if grant.minutes > lift.minutes:
        raise InputError(f"the policy lets a signature hold at most {lift.minutes} minutes")
    if left + grant.calls > lift.calls:
        raise InputError(
            f"the policy lets at most {lift.calls} calls of a class through beforehand; "
            f"{left} of them are signed for already"
        )
