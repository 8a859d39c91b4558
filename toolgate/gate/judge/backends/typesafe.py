"""TypeSafe's own endpoint: what makes an answer yes or no stands in the question's text."""

from toolgate.gate.judge.backends.decisions import Decisions

BACKEND = Decisions(folded=True)
