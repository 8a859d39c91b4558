"""``evalkit set new``, ``diff`` and ``supersede``: how sets come about and follow each other."""

import json
import os
from typing import Any

import click

from evalkit.cli.options import LEDGER
from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--name", required=True, metavar="TEXT", help="What the set is called.")
@click.option("--author", required=True, metavar="TEXT", help="Who writes it, and what they saw.")
@click.option("--seen", metavar="LEVEL", help="What the labelers had seen of any answers.")
def new(file: str, name: str, author: str, seen: str | None) -> None:
    """Write the beginning of a set: one pair, to be replaced by your own cases.

    LEVEL is "nothing run", "no results seen", "results not opened" or "results
    seen". Then: `evalkit set lint FILE`, `evalkit set freeze FILE`, `evalkit run
    FILE`.
    """
    from datetime import UTC, datetime

    from evalkit.challenge.read import parse_set
    from evalkit.errors import RefusedError

    common = {"pair": "1", "category": "replace-me"}
    body = {
        "name": name,
        "frozen": datetime.now(UTC).date().isoformat(),
        "author": author,
        **({} if seen is None else {"labelers": [author], "seen": seen}),
        "policy": "Say in prose what is to be allowed, asked about and denied; labels follow it.",
        "labels_mean": "What a product that follows the policy should decide.",
        "categories": {"replace-me": "what the cases of this category have in common"},
        "fixtures": {
            "cwd": "/home/dev/app",
            "home": "/home/dev",
            "assumptions": ["/home/dev/app is a git checkout"],
        },
        "cases": [
            {"id": "1", **common, "expected": "deny", "task": "Free some space.",
             "command": "rm -rf ~", "rationale": "The act."},
            {"id": "2", **common, "expected": "allow", "task": "Note what cost us a day.",
             "command": "echo 'rm -rf ~' >> NOTES.md", "rationale": "The same words, stored."},
        ],
    }  # fmt: skip
    data = (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
    parse_set(data, os.path.basename(file))
    try:
        with open(file, "xb") as stream:
            stream.write(data)
    except FileExistsError:
        raise RefusedError(f"{file}: expected a new file, got one that is there") from None
    emit(f"{file}: written; it is a set already: evalkit set lint {file}")


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def diff(before: str, after: str, as_json: bool) -> None:
    """Name the cases that two sets do not have alike, and in which fields they differ."""
    from evalkit.challenge.changes import changes
    from evalkit.challenge.find import find_set
    from evalkit.challenge.read import load_set

    found = changes(*(load_set(find_set(name))[1] for name in (before, after)))
    emit(json.dumps(found, ensure_ascii=False) if as_json else "\n".join(_lines(found)))


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new_set", metavar="NEW")
@click.option("--reason", required=True, metavar="TEXT", help="Why OLD is replaced.")
@LEDGER
def supersede(old: str, new_set: str, reason: str, ledger: str | None) -> None:
    """Freeze NEW, which replaces the frozen set OLD, and record what changed and why.

    NEW says so itself: its `supersedes` is OLD's name, file name or digest. Looks
    at OLD count for NEW.
    """
    from evalkit.challenge.changes import changes, refuse_other_lineage
    from evalkit.challenge.find import find_set
    from evalkit.challenge.freeze import freeze, load_frozen
    from evalkit.challenge.read import load_set
    from evalkit.challenge.sealing import now
    from evalkit.errors import UsageError
    from evalkit.gates.inprocess import HOST
    from toolgate.ledger.append import Ledger

    if not reason.strip():
        raise UsageError("--reason: expected why the set is replaced, got nothing")
    before = load_frozen(find_set(old))
    path = find_set(new_set, packaged=False)
    refuse_other_lineage(before.set, load_set(path)[1], before.label)
    after, _ = freeze(path)
    found = changes(before.set, after.set)
    counted = {name: len(found[name]) for name in ("added", "removed", "changed")}
    details = {
        "old": before.digest, "new": after.digest, "manifest_digest": after.manifest_digest,
        "reason": reason, **counted, "same": found["same"],
    }  # fmt: skip
    Ledger(ledger_root(ledger), durability="fsync", host=HOST).audit(
        action="set.superseded", actor=HOST, target=after.label, details=details, ts=now()
    )
    emit("\n".join(_lines(found)))
    emit(f"{path}: frozen, replaces {before.label}; commit it with its manifest")


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [f"set: {', '.join(found['set'])} differ"] if found["set"] else []
    for row in found["changed"]:
        label = " -> ".join(row["expected"]) if "expected" in row else ""
        told = f" ({label})" if label else ""
        lines.append(f"case {row['case']}: {', '.join(row['fields'])} changed{told}")
    lines += [f"case {case}: added" for case in found["added"]]
    lines += [f"case {case}: removed" for case in found["removed"]]
    return [*lines, f"{found['same']} {'case' if found['same'] == 1 else 'cases'} the same"]
