"""A ledger, a reports directory and a frozen set, all in one directory."""

import contextlib
import json
from pathlib import Path
from typing import Any

from evalkit.build import Build
from evalkit.challenge.claims import read_claims
from evalkit.challenge.freeze import freeze
from evalkit.challenge.sealing import Finished, Watch
from evalkit.gates.choice import Choice
from evalkit.runs import Request, resume, start

from .sets import WordGate, body, build_of, case, encoded

CASES = 12


class Place:
    """A ledger, a reports directory and a frozen set."""

    def __init__(self, root: Path, value: object) -> None:
        self.root = root
        self.path = root / "one.json"
        self.path.write_bytes(encoded(value))
        freeze(str(self.path))

    def request(self, **more: Any) -> Request:
        values: dict[str, Any] = {
            "set_path": str(self.path),
            "choice": Choice(),
            "purpose": None,
            "rerun_of": None,
            "reason": None,
            "ledger": str(self.root / "ledger"),
            "reports": str(self.root / "reports"),
        }
        return Request(**{**values, **more})

    def run(
        self, gate: Any = None, build: Build | None = None, watch: Watch | None = None, **more: Any
    ) -> Finished:
        return start(
            self.request(**more), gate or WordGate(), build or build_of(), watch or Watch()
        )

    def resume(self, run: str, gate: Any = None, build: Build | None = None) -> Finished:
        def gate_of(choice: Choice) -> Any:
            return gate or WordGate(), build or build_of()

        return resume(run, self.request(), gate_of, Watch())

    def claimed(self) -> str:
        return read_claims(str(self.root / "ledger"))[-1].run

    def decisions(self, run: str) -> list[dict[str, Any]]:
        path = self.root / "ledger" / "runs" / run / "sessions" / f"{run}.jsonl"
        rows = []
        for line in path.read_bytes().splitlines():
            # A fragment is no row; the verifier holds it to the entry that covers it.
            with contextlib.suppress(ValueError):
                rows.append(json.loads(line))
        return [row for row in rows if row["kind"] == "decision"]


def many(cases: int = CASES) -> dict[str, Any]:
    return body(*[case(n, ("allow", "ask", "deny")[n % 3]) for n in range(cases)])
