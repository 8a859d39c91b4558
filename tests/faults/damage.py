"""How several rows of the catalogue do their damage."""

from typing import Any

from toolgate.canonical import digest


def turn_of(kit: Any, session: str, turn: int) -> list[Any]:
    return [
        row for _, row in kit.rows() if (row.body["session"], row.body["turn"]) == (session, turn)
    ]


def audit(kit: Any, action: str, details: dict[str, Any], session: str | None = None) -> None:
    made = kit.copy(kit.find("policy_set"))
    made.body |= {"kind": "audit", "session": session}
    made.body["ev"] = {
        "action": action,
        "actor": "claude-code",
        "target": None,
        "details": details,
        "ts": made.body["ts"],
    }
    made.old = digest(b"made")
    kit.spine.append(made)
    kit.rehash()


def ran_with(kit: Any, call: str, ran: str) -> None:
    body = kit.decision(call).body
    details = {
        "call": call,
        "tool": "Bash",
        "args_digest": ran,
        "decided": body["ev"]["args_digest"],
    }
    audit(kit, "execution.args_differ", details, body["session"])


def show_call(kit: Any, call: str) -> None:
    at = kit.span("a0")
    row = kit.decision(call)
    kit.spans.append(
        kit.spans[at]._replace(
            where=f"trace {call}",
            call=call,
            session=row.body["session"],
            args_digest=row.body["ev"]["args_digest"],
            decision_digest=None,
            result_digest=None,
        )
    )
