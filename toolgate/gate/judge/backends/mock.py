"""A judge for tests: it says what the policy makes it say, and asks nobody."""

from toolgate.gate.judge.backends.decisions import KIND, Decisions
from toolgate.gate.judge.request import as_text
from toolgate.gate.policy.judge import Judge

BACKEND = Decisions(folded=False)


def answer(judge: Judge) -> bytes:
    """Return the answer the policy prescribes, in the decisions shape."""
    said = {name: {KIND: value} for name, value in judge.says.items()}
    return as_text({"model": judge.model, "answers": said}).encode("ascii")
