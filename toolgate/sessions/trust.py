"""How far a source is trusted, and what the harness of its sessions is called.

Both tables are part of the format: a record's confidence is derived from the
first, and its id hashes the name the second gives.
"""

HIGH, MEDIUM, LOW = "high", "medium", "low"

CONFIDENCE = {
    "gateway": HIGH,
    "decision-ledger": HIGH,
    "anthropic": HIGH,
    "compliance-sessions": HIGH,
    "github": HIGH,
    "otel": MEDIUM,
    "codex": MEDIUM,
    "gemini": MEDIUM,
    "copilot": MEDIUM,
    "cursor": MEDIUM,
    "transcript": LOW,
    "jsonl": LOW,
}
"""Each source's confidence; the most trusted first, also among equals."""

RANK = {source: rank for rank, source in enumerate(CONFIDENCE)}
"""A source's place in the order of trust; the smaller is believed first."""

CLAUDE_CODE, CODEX, GEMINI, COPILOT = "claude-code", "codex", "gemini-cli", "copilot-cli"
OTHER_AGENT = "genai"
"""The harness of an agent that only names itself: its own word would choose its records' ids."""

HARNESS_OF_SERVICE = {
    "claude-code": CLAUDE_CODE,
    "claude-code-desktop": CLAUDE_CODE,
    "codex_cli_rs": CODEX,
    "codex_exec": CODEX,
    "codex-app-server": CODEX,
    "gemini-cli": GEMINI,
    "github-copilot": COPILOT,
    "copilot-cli": COPILOT,
}
"""The harness of what calls itself so (``service.name``) in telemetry."""

HARNESS_OF_HOST = {"claude-code": CLAUDE_CODE, "codex": CODEX, "gemini-cli": GEMINI}
"""The harness of a host of our own hook; another host's name is its harness's name."""


def best(sources: "tuple[str, ...] | list[str]") -> str:
    """Return the confidence of a record that rests on some sources."""
    return CONFIDENCE[min(sources, key=RANK.__getitem__)]
