"""Who answers what: ours against each peer's verdicts, and whom the other peers side with.

Peers disagree with each other on commands that several of them judge, so a
difference by itself says little about who is right.
"""

import json
from collections import Counter
from typing import Any

from outside_rows import PEERS, Row

from toolgate.gate.decision import ALLOW, ASK, DENY

STATES = (ALLOW, ASK, DENY)


class Peers:
    """Collects our answers on rows that peers have judged."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Counter[str]]] = {}
        self._lets_pass: dict[str, dict[str, bool]] = {}
        self._differ: list[tuple[str, str, bool]] = []

    def add(self, row: Row, state: str) -> None:
        """Count our answer on a row; rows of no peer are passed over."""
        if row.source not in PEERS.values() or row.call is None:
            return
        answers = self._tables.setdefault(row.source, {})
        answers.setdefault(row.theirs or "no opinion", Counter())[state] += 1
        if row.theirs is None:
            return
        asked = json.dumps([row.call.tool, row.call.input], sort_keys=True)
        theirs, ours = row.theirs == ALLOW, state == ALLOW
        self._lets_pass.setdefault(asked, {})[row.source] = theirs
        if theirs != ours:
            self._differ.append((row.source, asked, ours))

    def sides(self) -> dict[str, dict[str, int]]:
        """Return, by peer, how many rows differ (allow against the rest) and who else says what."""
        made = {
            source: {"differ": 0, "judged by others too": 0, "all others with us": 0}
            for source in self._tables
        }
        for source, asked, ours in self._differ:
            others = [said for peer, said in self._lets_pass[asked].items() if peer != source]
            made[source]["differ"] += 1
            made[source]["judged by others too"] += bool(others)
            made[source]["all others with us"] += bool(others) and all(o == ours for o in others)
        return made

    def as_json(self) -> dict[str, Any]:
        """Return the counts by peer."""
        sides = self.sides()
        return {
            source: {
                "answers": {theirs: dict(row) for theirs, row in rows.items()},
                **sides[source],
            }
            for source, rows in self._tables.items()
        }

    def text(self) -> str:
        """Return the counts for people; "" when no peer's row was read."""
        if not self._tables:
            return ""
        lines = ["\nOurs against each peer's verdict (rows: theirs, columns: ours)"]
        sides = self.sides()
        for source, rows in self._tables.items():
            lines.append(f"  {source:<16}" + "".join(f"{state:>8}" for state in STATES))
            for theirs, answers in sorted(rows.items()):
                lines.append(f"    {theirs:<14}" + "".join(f"{answers[s]:>8}" for s in STATES))
            lines.append("    " + ", ".join(f"{name} {n}" for name, n in sides[source].items()))
        return "\n".join(lines)
