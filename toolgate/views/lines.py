"""An entry as one line."""

from toolgate.verify import shapes
from toolgate.verify.read import Bad, Line
from toolgate.verify.words import counted
from toolgate.views.moments import moment, stamp
from toolgate.views.sheet import plain


def line_text(item: Line | Bad) -> str:
    """Return one line about an entry, or about lines that are no entry."""
    if isinstance(item, Bad):
        what = "sealed fragment" if item.covered else "no entry"
        return f"{item.file}: {counted(item.total, 'line')}: {what}"
    entry = item.entry
    turn = "" if entry.turn is None else f" turn {entry.turn}"
    where = "" if entry.session is None else f" {entry.session}{turn}"
    said = f"{stamp(entry.ts)} {item.digest[7:19]} {entry.kind}{where} {_says(entry)}"
    return plain(said.rstrip())


def _says(entry: shapes.Entry) -> str:
    """Return what an entry says, for people."""
    ev = entry.ev
    if isinstance(entry, shapes.Decision):
        intent = entry.intent
        return f"{entry.ev.decision_state} {intent.action_type} {intent.call} by {entry.rule}"
    if isinstance(entry, shapes.Outcome):
        decision = entry.ev.decision_digest[7:19]
        return f"{entry.ev.terminal_state} for decision {decision} ({entry.source})"
    if isinstance(entry, shapes.TurnOpen):
        return f"{entry.ev.key} part {entry.ev.part} ({entry.ev.why})"
    if isinstance(entry, shapes.TurnClose):
        return f"{counted(entry.ev.count, 'entry')}, by {entry.ev.closed_by}"
    if isinstance(entry, shapes.SessionOpen):
        return f"part {entry.ev.part}, {entry.ev.shape}, host {entry.ev.host}"
    if isinstance(entry, shapes.SessionClose):
        return f"by {entry.ev.closed_by}"
    if isinstance(entry, shapes.Recovery):
        return f"{entry.ev.length} bytes at offset {entry.ev.offset}"
    if isinstance(entry, shapes.PolicySet):
        return entry.ev.policy
    assert isinstance(ev, dict)
    return _says_rare(entry.kind, ev)


def _says_rare(kind: str, ev: dict[str, object]) -> str:
    if kind == "approval":
        evidence, expiry = ev["evidence"], ev["expiry"]
        until = moment(expiry) if isinstance(expiry, int) else ""
        return f"{ev['verdict']} by {ev['principal']} ({evidence}), until {until}"
    if kind == "key_rotate":
        return f"{ev['role']} {ev['name']}: {ev['new']}"
    if kind == "checkpoint":
        origin, size = [*str(ev["text"]).split("\n"), "", ""][:2]
        return f"{origin}, {size} closed sessions"
    said = [str(ev[name]) for name in ("action", "actor", "target") if ev[name]]
    details = ev["details"]
    call = details.get("call") if isinstance(details, dict) else None
    return " ".join([*said, f"call {call}"] if isinstance(call, str) else said)
