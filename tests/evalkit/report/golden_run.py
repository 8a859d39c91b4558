"""One fixed run; ``python -m tests.evalkit.report.golden_run`` writes the golden files."""

from pathlib import Path
from typing import Any

from evalkit.build import Build
from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.claims import Claim
from evalkit.challenge.manifest import build as build_manifest
from evalkit.challenge.mechanism import ARTIFACT, DECISION, JOIN
from evalkit.challenge.quarantine import Quarantine, without
from evalkit.challenge.read import parse_set
from evalkit.challenge.score import Result, score
from evalkit.report.context import Seal, report_context
from evalkit.report.render import markdown, twin
from toolgate.canonical import canonical_bytes, digest, digest_of

GOLDEN = Path(__file__).parents[2] / "golden"
TS = 1_767_225_600_000_000
BROKEN = {1: DECISION, 3: JOIN, 5: ARTIFACT}
"""Of these cases the decision does not rest on what was stated; 3 is a miss."""


def _set() -> dict[str, Any]:
    return {
        "name": "golden | set",
        "frozen": "2026-01-01",
        "author": "a *test*",
        "policy": "Allow what is harmless.",
        "labels_mean": "What should happen, <b>not</b> what will.",
        "categories": {"text": "text about harm", "act": "the harm itself"},
        "cases": [
            {
                "id": f"g{number:02}",
                "pair": f"p{number // 2}",
                "category": ("text", "act")[number % 2],
                "expected": ("allow", "deny")[number % 2],
                "task": "Do it.",
                "command": f"command {number}",
            }
            for number in range(24)
        ],
    }


def _results(cases: list[dict[str, Any]]) -> list[Result]:
    decided = {3: "allow", 6: "ask", 9: "unscored", 11: "ask"}
    made = []
    for number, case in enumerate(cases):
        state = decided.get(number, case["expected"])
        made.append(
            Result(
                case=case["id"],
                pair=case["pair"],
                category=case["category"],
                expected=case["expected"],
                decided=state,
                rule="gate-failed" if state == "unscored" else f"rule_{state}",
                axis="destructive" if state == "deny" else None,
                action_class="other",
                proof="proved",
                effects=("exec.code", "fs.read") if number in (0, 3) else ("fs.delete",),
                sentence="It `runs` a | b\n<script>alert(1)</script>, [x](y).",
                decision_digest=None if state == "unscored" else digest(case["id"].encode()),
                facts=("executes_artifact",) if number in (1, 11) else (),
                stated=number % 2 == 1,
                broken=BROKEN.get(number, ""),
            )
        )
    return made


def _build() -> Build:
    body = {
        "schema": "evalkit/build/1",
        "files": {"toolgate/__init__.py": digest(b"code")},
        "policy": digest(b"policy"),
        "model": None,
        "distributions": ["click==8.1.0", "orjson==3.10.0"],
        "python": "cpython 3.11.0",
    }
    return Build(digest_of(body), body, (), "0123456789abcdef", "clean")


def _claim(run: str, look: int, sealed: dict[str, Any] | None) -> Claim:
    details = {
        "set": "golden-set",
        "set_name": "golden | set",
        "set_digest": digest(b"set"),
        "supersedes": None,
        "cases": 24,
        "build": _build().digest,
        "policy": digest(b"policy"),
        "purpose": ("held-out", "regression")[look > 1],
        "look": look,
        "rerun_of": "run-first" if look > 1 else None,
        "reason": "a | reason" if look > 1 else None,
    }
    return Claim(run, TS + look * 1_000_000, details, sealed)


HELD = Quarantine("g05", digest(b"set"), "ann", "bob", "results seen", "the | label", TS)


def golden_set() -> ChallengeSet:
    """Return the fixed run's set."""
    return parse_set(canonical_bytes(_set()), "golden-set.json")


def context() -> dict[str, Any]:
    """Return the fixed run's report context."""
    value = _set()
    raw = canonical_bytes(value)
    made = parse_set(raw, "golden-set.json")
    results = _results(value["cases"])
    return report_context(
        made=made,
        manifest=build_manifest(
            made, raw, salt="00" * 32, canary="canary-0", frozen_at="2026-01-02"
        ),
        build=_build(),
        gate=None,
        quarantine=without(results, [HELD]),
        thresholds=[{"text": "unscored > 0", "value": 1, "failed": True}],
        prediction={"digest": digest(b"p"), "foreseen": ["g01"], "better": [], "unforeseen": []},
        policy_name="a *policy*",
        claim=_claim("run-second", 2, None),
        seal=Seal(
            head=f"9:{digest(b'head')}",
            run_head=f"5:{digest(b'run head')}",
            results_digest=digest(b"results"),
            verdict="FAIL",
            findings=["some_code: a | sentence"],
            repeated=["g04"],
        ),
        results=results,
        figures=score(results),
        earlier=[_claim("run-first", 1, {"match": 20}), _claim("run-dead", 1, None)],
        published=[
            {
                "run": "run-elsewhere",
                "claimed": "2026-01-01 00:00:00 UTC",
                "set": "golden-set",
                "build": digest(b"other"),
                "match": 24,
                "cases": 24,
                "look_name": "held-out",
            }
        ],
    )


def main() -> None:
    """Write the golden files."""
    made = context()
    (GOLDEN / "run-report.md").write_text(markdown(made), encoding="utf-8")
    (GOLDEN / "run-report.json").write_text(twin(made), encoding="utf-8")


if __name__ == "__main__":
    main()
