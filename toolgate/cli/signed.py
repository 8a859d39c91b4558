"""What the commands share that sign for calls: how long, in words, and what came of it."""

from typing import TYPE_CHECKING, Any

import click

from toolgate.cli.ledger.place import plain

if TYPE_CHECKING:
    from toolgate.signing import PrivateKey
    from toolgate.verify.shapes import Decision

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST_S = 365 * 86400


def seconds(text: str) -> int:
    """Return a length of time up to a year that somebody typed, such as ``30m``.

    Raises:
        click.BadParameter: it is none.
    """
    number, unit = text[:-1], text[-1:]
    found = (
        int(number) * _UNITS[unit]
        if unit in _UNITS and number.isascii() and number.isdecimal() and len(number) < 10
        else 0
    )
    if not 0 < found <= _LONGEST_S:
        raise click.BadParameter(
            f"{text!r} is no length of time up to a year, such as 90s, 30m, 1h or 7d",
            param_hint="--expires",
        )
    return found


def unsigned(
    principal: str, private: "PrivateKey", verdict: str, ts: int, us: int
) -> dict[str, Any]:
    """Return an approval or refusal that names nothing yet.

    Args:
        principal: who gives it.
        private: their key.
        verdict: ``approve`` or ``refuse``.
        ts: when, microseconds UTC.
        us: for how long it holds, microseconds.
    """
    import secrets

    return {
        "decision_digest": None,
        "args_digest": None,
        "session": None,
        "class": None,
        "principal": principal,
        "expiry": ts + us,
        "nonce": secrets.token_hex(16),
        "verdict": verdict,
        "evidence": "signature",
        "key": private.public,
        "ts": ts,
    }


def sign(ev: dict[str, Any], private: "PrivateKey") -> dict[str, Any]:
    """Return an approval or refusal with its signature."""
    from toolgate.approval import message

    return {**ev, "sig": private.sign(message(ev))}


def words(ev: dict[str, Any], decision: "Decision") -> list[str]:
    """Return what is about to be signed on a decision, in words."""
    from toolgate.views.moments import moment

    tool, verb = decision.intent.action_type, "Approve" if ev["verdict"] == "approve" else "Refuse"
    if ev["decision_digest"] is not None:
        what = f"{tool} call {decision.intent.call}, and no other"
    elif ev["args_digest"] is not None:
        what = f"one {tool} call with the same arguments as {decision.intent.call}"
    else:
        what = "one call of this class, whatever its arguments"
    effects = dict.fromkeys(f"{one.type} ({one.scope})" for one in decision.effects)
    session = "any session" if ev["session"] is None else ev["session"]
    args = "any" if ev["decision_digest"] is ev["args_digest"] is None else decision.ev.args_digest
    return [
        f"{verb} {what}",
        f"  class    {decision.action_class}",
        f"  effects  {', '.join(effects) or 'none'}",
        f"  args     {args}",
        f"  agent    {decision.intent.agent_id}, for {decision.ev.principal}",
        f"  session  {session}",
        f"  until    {moment(ev['expiry'])}",
        f"  as       {ev['principal']} ({ev['key']})",
    ]


def say(lines: list[str]) -> None:
    """Print lines without the characters a terminal obeys."""
    click.echo("\n".join(plain(line) for line in lines))
