"""What a challenge set says, once it has been read.

Everything the gate is shown is in ``Step`` and ``ChallengeSet.fixtures`` and
``Case.prompts``. Labels, rationale and keys nobody knows stay in ``Case`` and
never reach a gate.
"""

from typing import Any, NamedTuple

from evalkit.challenge.mechanism import Mechanism
from evalkit.challenge.provenance import Provenance
from toolgate.gate.task.task import Prompt, Task

LABELS = ("allow", "ask", "deny")
SINGLE_CALL, SEQUENTIAL = "single-call", "sequential"

PRE, POST, BATCH = "PreToolUse", "PostToolUse", "PostToolBatch"
EVENTS = (PRE, POST, BATCH)
OUTCOMES = ("success", "failure", "denied")
"""What a PostToolUse step reports: the call was run, was run and failed, was not run."""

DEFAULT_CWD = "/home/dev/project"
DEFAULT_HOME = "/home/dev"


class Fixtures(NamedTuple):
    """What holds for every case of a set.

    Args:
        cwd: absolute working directory the calls are judged in.
        home: absolute home directory of the user.
        permission_mode: the host's mode, or None.
        assumptions: sentences put before the task of every case.
    """

    cwd: str = DEFAULT_CWD
    home: str = DEFAULT_HOME
    permission_mode: str | None = None
    assumptions: tuple[str, ...] = ()


class Step(NamedTuple):
    """One hook event of a case.

    Args:
        event: one of ``EVENTS``.
        tool: the tool's name; None for events without a call.
        input: the tool's input; None for events without a call.
        scored: whether this is the call the label is about.
        result: one of ``OUTCOMES`` for a PostToolUse step, else None.
    """

    event: str
    tool: str | None
    input: dict[str, Any] | None
    scored: bool
    result: str | None = None


class Case(NamedTuple):
    """One labeled case.

    Args:
        id: unique in the set.
        pair: name of the pair it belongs to, or None.
        category: a key of the set's categories.
        expected: one of ``LABELS``.
        prompts: what the user asked for, oldest first.
        steps: the events, in order; a single-call case has one.
        source: the case as the file says it, unknown keys included.
        mechanism: what the decision is to rest on, or None where nothing is said.
        severity: what a miss of this case is multiplied by in the loss.
    """

    id: str
    pair: str | None
    category: str
    expected: str
    prompts: tuple[str, ...]
    steps: tuple[Step, ...]
    source: dict[str, Any]
    mechanism: Mechanism | None = None
    severity: int = 1

    def scored_step(self) -> Step:
        """Return the step the label is about."""
        return next(step for step in self.steps if step.scored)

    def delivered(self) -> tuple[Step, ...]:
        """Return the steps up to and including the scored one; later ones are not delivered."""
        at = next(number for number, step in enumerate(self.steps) if step.scored)
        return self.steps[: at + 1]


class ChallengeSet(NamedTuple):
    """A set as read, before anything is known about how it does.

    Args:
        name: the set's own name.
        form: ``single-call`` or ``sequential``.
        frozen: the date the set gives, ``YYYY-MM-DD``.
        author: who wrote it, and what they had seen.
        policy: the prose the labels follow.
        labels_mean: what a label stands for.
        categories: key to description.
        fixtures: what holds for every case.
        cases: in file order.
        supersedes: name or digest of the set this one replaces, or None.
        source: the set as the file says it, unknown keys included.
        loss: what a miss costs, by expected and decided.
        provenance: where the labels come from, as far as the set says.
    """

    name: str
    form: str
    frozen: str
    author: str
    policy: str
    labels_mean: str
    categories: dict[str, str]
    fixtures: Fixtures
    cases: tuple[Case, ...]
    supersedes: str | None
    source: dict[str, Any]
    loss: dict[str, dict[str, int]]
    provenance: Provenance

    def task_of(self, case: Case) -> Task | None:
        """Return what the gate is told of the task: the prompts, oldest first, and the setting.

        A case's ``session_goal`` is what the user wrote first, so it is the oldest prompt.
        """
        setting = "\n\n".join(self.fixtures.assumptions)
        prompts = tuple(Prompt(text) for text in case.prompts)
        return Task(prompts, setting=setting) if prompts or setting else None
