"""A decision in the form the ledger keeps: resources keyed, effects bounded."""

from typing import Any

from toolgate.action import SCOPES, Intent, strictest_scope
from toolgate.canonical import digest_of, keyed_hash
from toolgate.gate.call import ToolCall
from toolgate.gate.decision import LEDGER_STATE, Decision
from toolgate.gate.effects.model import OPENING, Effect, is_stored
from toolgate.records import MAX_EFFECTS, MAX_FACTS, DecisionFields


def resource_ref(resource: str, salt: bytes) -> str:
    """Return ``h:`` and 32 hex digits of HMAC-SHA256 of a resource under the ledger's salt."""
    return "h:" + keyed_hash(salt, resource.encode("utf-8", "surrogatepass"))[:32]


def fields_of(
    call: ToolCall,
    decision: Decision,
    *,
    call_id: str,
    salt: bytes,
    ts: int,
    build: str,
    args_digest: str | None = None,
) -> DecisionFields:
    """Return what the ledger stores of a decision.

    Args:
        call: the call that was decided.
        decision: the answer.
        call_id: the host's call id, or the one made for it.
        salt: the ledger's secret salt.
        ts: when it was decided, microseconds UTC.
        build: digest of the deciding build.
        args_digest: digest of the tool input, when already known.
    """
    intent = Intent(
        agent_id="/".join(call.agent),
        action_type=call.tool,
        scope=strictest_scope([effect.scope for effect in decision.effects]),
        ts=call.ts,
        call=call_id,
    )
    return DecisionFields(
        intent=intent,
        principal=call.principal,
        auth_mode=call.auth_mode,
        policy_version=decision.policy,
        decision_state=LEDGER_STATE[decision.state],
        args_digest=args_digest or digest_of(call.input),
        ts=ts,
        action_class=decision.action_class,
        basis=(),
        effects=tuple(effects_json(decision.effects, salt)),
        facts=tuple(
            {"code": fact.code, "entry": fact.entry} for fact in decision.facts[:MAX_FACTS]
        ),
        host=call.host,
        rule=decision.rule,
        axis=decision.axis,
        proof=decision.proof,
        mode=call.mode,
        build=build,
    )


def effects_json(effects: tuple[Effect, ...], salt: bytes) -> list[dict[str, Any]]:
    """Return effects as the ledger keeps them, at most ``MAX_EFFECTS``.

    Beyond that, effects equal in all but their resource become one with its
    count and the keyed hash of the sorted resources.
    """
    effects = tuple(_keyed(effect, salt) for effect in effects)
    rows = [
        _row(effect, resource_ref(effect.resource, salt), 1) for effect in dict.fromkeys(effects)
    ]
    if len(rows) <= MAX_EFFECTS:
        return rows
    groups: dict[tuple[str, str, bool, str], list[Effect]] = {}
    for effect in dict.fromkeys(effects):
        key = (effect.type, effect.scope, effect.reversible, effect.proof)
        groups.setdefault(key, []).append(effect)
    merged = [
        _row(
            members[0],
            resource_ref("\n".join(sorted(member.resource for member in members)), salt),
            len(members),
        )
        for members in groups.values()
    ]
    # Should kinds alone exceed the limit, the most guarded stay: they decide the scope.
    merged.sort(key=lambda row: (is_stored(row["type"]), -SCOPES.index(row["scope"])))
    return merged[:MAX_EFFECTS]


def _keyed(effect: Effect, salt: bytes) -> Effect:
    """Return the effect of writing a file that runs others with those named by their keys."""
    if not is_stored(effect.type):
        return effect
    from toolgate.gate.effects.stored import RUNS_FILES
    from toolgate.gate.facts.artifacts import RUNS

    if effect.type != f"{OPENING}{RUNS_FILES})":
        return effect
    keys = ",".join(resource_ref(path, salt) for path in effect.how.split("\n"))
    return effect._replace(type=f"{OPENING}{RUNS}{keys})", how="")


def _row(effect: Effect, resource: str, count: int) -> dict[str, Any]:
    return {
        "type": effect.type,
        "scope": effect.scope,
        "resource": resource,
        "reversible": effect.reversible,
        "proof": effect.proof,
        "count": count,
    }
