"""Publishing a run's report, and reading what others have published."""

import glob
import json
import os
import re
from typing import Any

from evalkit.challenge.read import read_bytes
from evalkit.errors import UsageError
from evalkit.report.context import SCHEMA
from evalkit.report.render import write_report
from toolgate.canonical import digest
from toolgate.ledger.append import Ledger

RENDERED = "report.rendered"


def report_name(label: str, build: str, run: str, directory: str) -> str:
    """Return the name of a run's report, without ending.

    It is ``<set>-<build>``; when that name is taken by another run's report,
    the end of the run's id follows, so that no report replaces another.

    Args:
        label: what people call the set.
        build: short form of the build's digest.
        run: the run's id.
        directory: the reports' directory.
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "-", f"{label}-{build}")
    path = os.path.join(directory, name)
    taken = os.path.exists(path + ".md") or os.path.exists(path + ".json")
    if taken and (_twin(path + ".json") or {}).get("run", {}).get("id") != run:
        return f"{name}-{run.rpartition('-')[2]}"
    return name


def publish(context: dict[str, Any], directory: str, ledger: Ledger, ts: int) -> str:
    """Write a report, record its digests in the ledger, and return its path.

    Args:
        context: what ``report_context`` returned.
        directory: the reports' directory.
        ledger: the ledger the run was claimed in.
        ts: microseconds UTC.
    """
    run = context["run"]["id"]
    name = report_name(context["set"]["label"], context["build"]["short"], run, directory)
    page, data = write_report(context, directory, name)
    details = {"report": os.path.basename(page)}
    for key, path in (("markdown", page), ("json", data)):
        with open(path, "rb") as file:
            details[key] = digest(file.read())
    ledger.audit(action=RENDERED, actor="evalkit", target=run, details=details, ts=ts)
    return page


def published_looks(directory: str, set_digest: str, known: set[str]) -> list[dict[str, Any]]:
    """Return the looks at a set that lie in a reports' directory and this ledger does not know.

    They are shown and refuse nobody: a ledger counts its own looks only.

    Args:
        directory: the reports' directory.
        set_digest: canonical digest of the set.
        known: ids of the runs this ledger knows.
    """
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(directory), "*.json"))):
        body = _twin(path)
        if body is None or body["set"]["digest"] != set_digest or body["run"]["id"] in known:
            continue
        found.append(
            {
                "run": str(body["run"]["id"]),
                "build": str(body["build"]["digest"]),
                "match": body["scores"]["match"],
                "cases": body["scores"]["cases"],
                "look_name": str(body["run"]["look_name"]),
            }
        )
    return found


def _twin(path: str) -> dict[str, Any] | None:
    """Return a run report's JSON twin; None for any other file."""
    try:
        body = json.loads(read_bytes(path))
        right = body["schema"] == SCHEMA and all(
            type(body[part]) is dict for part in ("set", "run", "build", "scores")
        )
    except (UsageError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return body if right else None
