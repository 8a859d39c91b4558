"""OpenRouter's decisions endpoint: criteria are a field, and the asking program is named."""

from toolgate.gate.judge.backends.decisions import Decisions

BACKEND = Decisions(folded=False, headers=(("x-title", "toolgate-evalkit"),))
