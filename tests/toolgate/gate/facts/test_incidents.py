"""Documented incidents, step by step, under the policy each of them assumes."""

import json
import os
from pathlib import Path

import pytest

import toolgate
from toolgate.gate.catalog.load import shipped
from toolgate.gate.engine import Gate
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.model import Policy

from .session import Session, codes

ROOT = Path(__file__).resolve().parents[4]
SHARED = Path(os.environ.get("TOOLGATE_SHARED", ROOT.parent / "shared"))
CASES = SHARED / "cases" / "sequences.jsonl"
SHIPPED = Path(toolgate.__file__).parent / "gate" / "policy" / "defaults" / "balanced.yaml"


def rule(name, decide, *effects, **more):
    return {
        "rule": name,
        "decide": decide,
        "because": "the incident's policy says so",
        "effects": list(effects),
        **more,
    }


ASSUMED = {
    "SQ-D1": {
        "rules": [
            rule("initialise", "ask", {"type": ["pkg.install"], "program": ["terraform init"]}),
            rule("destroy-infrastructure", "deny", {"type": ["infra.destroy"]}),
        ]
    },
    "SQ-D2": {
        "mcp": {
            "mcp__github__list_*": ["read"],
            "mcp__github__get_issue": ["read"],
            "mcp__github__get_file_contents": ["secret.read"],
            "mcp__github__create_*": ["send"],
            "mcp__github__add_*": ["write"],
        },
        "rules": [
            rule(
                "write-after-both",
                "deny",
                {"type": ["net.send", "msg.send"]},
                facts=["read_secret", "read_untrusted"],
            ),
        ],
    },
    "SQ-D3": {},
    "SQ-D4": {
        "rules": [
            rule("new-package", "ask", {"type": ["pkg.install"], "how": ["named"]}),
            rule(
                "package-code",
                "ask",
                {"type": ["exec.code"], "resource": ["*/node_modules/*"]},
            ),
            rule("credentials", "deny", {"type": ["secret.read"]}),
            rule("second-agent", "deny", {"program": ["claude"]}),
            rule("publish-repository", "deny", {"program": ["gh repo create"]}),
        ]
    },
    "SQ-D5": {
        "rules": [
            rule("download", "ask", {"type": ["net.fetch"], "scope": ["outside"]}),
            rule(
                "run-what-was-downloaded",
                "deny",
                {"type": ["exec.code"], "how": ["unknown"]},
                facts=["unread_artifact"],
            ),
            rule("mark-follows", "ask", {"type": ["fs.write"]}, facts=["copies_artifact"]),
        ]
    },
    "SQ-D6": {},
}
"""What each incident assumes beyond the shipped policy, written in the policy's language."""

KEPT_SHELL = ("SQ-D6",)
"""Incidents in which one shell runs all calls."""

DIFFERS = {
    ("SQ-D3", 6): ("allow", "a rebase onto what was fetched moves commits nobody else has"),
    ("SQ-D6", 3): ("ask", "a function that is only defined; calling it asks, as its delete does"),
}
"""Steps that are answered otherwise than the incident's author would, and why."""


def gate_for(case):
    import yaml

    body = yaml.safe_load(SHIPPED.read_text())
    assumed = ASSUMED[case]
    body["rules"] += assumed.get("rules", [])
    body["mcp"] = assumed.get("mcp", {})
    catalog = shipped()
    data = compile_policy(yaml.safe_dump(body).encode(), catalog.digest)
    return Gate(Policy(data), catalog)


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not available here")
@pytest.mark.parametrize("case", ASSUMED)
def test_every_step_is_answered(case):
    rows = [json.loads(line) for line in CASES.read_text().splitlines()]
    told = next(row for row in rows if row["id"] == case)
    session = Session(gate_for(case), kept_shell=case in KEPT_SHELL)
    for step in told["steps"]:
        made = session(tool=step["tool_name"], tool_input=step["tool_input"])
        expected = DIFFERS.get((case, step["step"]), (step["expected"],))[0]
        assert made.state == expected, (step, made.sentence, codes(made))
