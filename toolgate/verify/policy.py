"""What the verifier reads of a compiled policy. Other keys are the gate's business."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class Wanted(Struct):
    """Admissible values of an effect; absent means any."""

    type: list[str] | None = None
    scope: list[str] | None = None
    reversible: list[bool] | None = None
    proof: list[str] | None = None


class ActionClass(Struct):
    """A class of actions: the tools (as patterns) and effects it applies to; none means any."""

    name: str
    tools: list[str] | None = None
    effects: list[Wanted] | None = None


class Rule(Struct):
    """Who has to approve an action of a class; ``n`` counts for ``any-of`` only."""

    operator: Literal["all-of", "any-of", "staged"]
    principals: Annotated[list[str], Meta(min_length=1)]
    n: Annotated[int, Meta(ge=1)] = 1


class Author(Struct):
    """Who says to have written a policy, and the policy that lets them."""

    name: str
    key: str
    authorizing_policy: str | None


class Answer(Struct):
    """A rule of a policy: its name and what it decides."""

    rule: str
    decide: str


class Override(Struct):
    """An exception from a rule: its name and what it decides."""

    override: str
    decide: str


class Lift(Struct, frozen=True):
    """What a person may let through once; the values are those of a policy that says nothing."""

    ask: Literal["person", "never"] = "person"
    deny: Literal["person", "never"] = "never"
    never: tuple[str, ...] = ()
    minutes: Annotated[int, Meta(ge=1, le=1440)] = 60


class Policy(Struct):
    """A policy."""

    classes: list[ActionClass] = []
    composition: dict[str, Rule] = {}
    principals: dict[str, list[str]] = {}
    authors: list[str] = []
    authored_by: Author | None = None
    default: str = "ask"
    rules: list[Answer] = []
    overrides: list[Override] = []
    lift: Lift = Lift()
