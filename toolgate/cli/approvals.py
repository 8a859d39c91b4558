"""``toolgate approvals``: what was signed beforehand and can still be used."""

from typing import TYPE_CHECKING, Any

import click

from toolgate.cli.ledger.place import existing_ledger
from toolgate.cli.signed import say

if TYPE_CHECKING:
    from toolgate.approval import Approval
    from toolgate.ledger.known import Known


@click.command()
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@click.option("--ledger", metavar="PATH", help="The ledger; this user's by default.")
def approvals(as_json: bool, ledger: str | None) -> None:
    """List the approvals that later calls can still use.

    Those are the ones that name no single decision, have not expired, were not taken back and
    let nothing through yet. Equal ones are one line with their number.

    Exit codes: 0 done (none included), 3 the ledger cannot be read.
    """
    import json
    import time

    from toolgate.ledger.append import open_store
    from toolgate.ledger.known import Known
    from toolgate.ledger.policies import principals_of

    store = open_store(existing_ledger(ledger), durable=True)
    known = Known(store)
    people: dict[str, set[str]] = {}
    for given in principals_of(store):
        for name, keys in given.items():
            people.setdefault(name, set()).update(keys)
    now = time.time_ns() // 1000
    found = _grouped(known, {name: sorted(keys) for name, keys in people.items()}, now)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=True, indent=2))
    elif found:
        say([_line(one) for one in found])
    else:
        say(["No approval waits to be used."])


def _grouped(known: "Known", people: dict[str, list[str]], now: int) -> list[dict[str, Any]]:
    """Return what can still be used, the first to end first, equal approvals as one."""
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for item in _usable(known, people, now):
        ev = item.ev
        about = (ev["class"], ev["args_digest"], ev["session"], item.principal, ev["expiry"])
        group = groups.setdefault(
            about,
            {
                "class": ev["class"],
                "args_digest": ev["args_digest"],
                "session": ev["session"],
                "code": _code(item),
                "principal": item.principal,
                "expiry": ev["expiry"],
                "entries": [],
            },
        )
        group["entries"].append(item.entry)
    return sorted(groups.values(), key=lambda one: (one["expiry"], one["entries"][0]))


def _usable(known: "Known", people: dict[str, list[str]], now: int) -> "list[Approval]":
    from toolgate.approval import APPROVE, Target

    wanted: dict[Target, list[Approval]] = {}
    for item in known.approvals:
        ev = item.ev
        if ev["verdict"] == APPROVE and ev["decision_digest"] is None and ev["expiry"] >= now:
            named = (ev["args_digest"] or "", ev["session"] or "", ev["class"] or "")
            wanted.setdefault(Target(None, *named), []).append(item)
    found = []
    for target, items in wanted.items():
        there = {item.entry for item in known.standing(target, people, now)}
        found += [item for item in items if item.entry in there]
    return found


def _code(item: "Approval") -> str | None:
    """Return the code of an approval of one call's arguments; None for a wider one."""
    from toolgate.approval import code_of

    ev = item.ev
    parts = (ev["session"], ev["args_digest"], ev["class"])
    return None if None in parts else code_of(*parts)


def _line(one: dict[str, Any]) -> str:
    from toolgate.views.moments import moment

    many = len(one["entries"])
    calls = "1 call" if many == 1 else f"{many} calls"
    of = "any class" if one["class"] is None else f"class {one['class']}"
    where = "any session" if one["session"] is None else f"session {one['session']}"
    which = f" with the arguments of {one['code']}" if one["code"] else ""
    if one["args_digest"] and not one["code"]:
        which = f" with the arguments {one['args_digest']}"
    return (
        f"{calls} of {of}{which}, {where}, until {moment(one['expiry'])}, "
        f"signed by {one['principal']}"
    )
