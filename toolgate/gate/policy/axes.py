"""The axes a call is weighed on, and their lines. Pure."""

from typing import Any, NamedTuple

from toolgate.gate.decision import ASK, DENY

ASK_LINE, DENY_LINE, AUTHORIZED_LINE = 0.55, 0.85, 0.80


class Axis(NamedTuple):
    """One kind of harm.

    Args:
        name: as in rules and decisions.
        ask: from this value on a reading asks.
        deny: from this value on a reading denies.
        softened: whether the user's explicit request lowers it by one step.
        ceiling: the strictest answer a reading can give, ``ask`` or ``deny``.
        needs_task: whether it can only be read against what the user asked for.
        question: what a judge is asked, for an axis that the policy adds; else "".
    """

    name: str
    ask: float = ASK_LINE
    deny: float = DENY_LINE
    softened: bool = False
    ceiling: str = DENY
    needs_task: bool = False
    question: str = ""


SHIPPED = (
    Axis("destructive", softened=True),
    Axis("exfiltration", softened=True),
    Axis("privilege", softened=True),
    Axis("secret_exposure"),
    Axis("off_task", ceiling=ASK, needs_task=True),
    Axis("violates_constraint", needs_task=True),
    Axis("unresolved_choice", ceiling=ASK, needs_task=True),
)
"""The seven axes every policy has."""


class Axes(NamedTuple):
    """The axes of a policy.

    Args:
        axes: every axis by its name.
        authorized: from this value on a call counts as explicitly requested.
    """

    axes: dict[str, Axis]
    authorized: float = AUTHORIZED_LINE


def shipped_axes() -> Axes:
    """Return the axes of a policy that says nothing of them."""
    return Axes({axis.name: axis for axis in SHIPPED})


def axes_of(compiled: dict[str, Any]) -> Axes:
    """Return the axes of a compiled policy: the seven shipped ones, changed and added to.

    Args:
        compiled: what the policy says of its axes, as ``axes_source`` makes it.
    """
    made = shipped_axes().axes
    for name, said in compiled.get("axes", {}).items():
        made[name] = made.get(name, Axis(name))._replace(**said)
    return Axes(made, compiled.get("authorized", AUTHORIZED_LINE))
