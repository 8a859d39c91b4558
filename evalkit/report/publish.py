"""Publishing a run's report, and reading what others have published."""

import glob
import json
import os
import re
import tempfile
from typing import Any

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.claims import names_of
from evalkit.challenge.read import read_bytes
from evalkit.errors import RefusedError, UsageError
from evalkit.report.context import SCHEMA
from evalkit.report.render import write_report
from toolgate.canonical import digest
from toolgate.ledger.append import Ledger

RENDERED = "report.rendered"

_READ = (
    ("set", ("label", "name", "digest"), str),
    ("run", ("id", "look_name"), str),
    ("build", ("digest",), str),
    ("scores", ("match", "cases"), int),
)
"""What is read of a published report, and its types; any other file is passed over."""


def tag_of(build: str, gate: dict[str, Any] | None) -> str:
    """Return what a report's name says of what was run: our build, or the gate and its digest.

    Args:
        build: short form of the build's digest.
        gate: the report's part on a gate that is not ours, or None.
    """
    return build if gate is None else f"{gate['name'].partition(' ')[0]}-{gate['short']}"


def report_name(label: str, tag: str, run: str, directory: str) -> str:
    """Return the name of a run's report, without ending.

    It is ``<set>-<tag>``; when that name is taken by another run's report,
    the end of the run's id follows, so that no report replaces another.

    Args:
        label: what people call the set.
        tag: what ``tag_of`` returned.
        run: the run's id.
        directory: the reports' directory.
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "-", f"{label}-{tag}")
    path = os.path.join(directory, name)
    taken = os.path.exists(path + ".md") or os.path.exists(path + ".json")
    if taken and (_twin(path + ".json") or {}).get("run", {}).get("id") != run:
        return f"{name}-{run.rpartition('-')[2]}"
    return name


def publish(
    context: dict[str, Any], made: ChallengeSet, directory: str, ledger: Ledger, ts: int
) -> str:
    """Write a report, record its digests in the ledger, and return its path.

    Args:
        context: what ``report_context`` returned.
        made: the set.
        directory: the reports' directory.
        ledger: the ledger the run was claimed in.
        ts: microseconds UTC.

    Raises:
        RefusedError: the report cannot be written; names the remedy.
    """
    run = context["run"]["id"]
    tag = tag_of(context["build"]["short"], context["gate"])
    name = report_name(context["set"]["label"], tag, run, directory)
    try:
        page, data, html = write_report(context, made, directory, name)
    except RefusedError as error:
        raise RefusedError(
            f"{error}; the run is sealed and nothing is lost. Write its report: "
            f"evalkit resume {run} --reports DIR"
        ) from None
    details = {"report": os.path.basename(page)}
    for key, path in (("markdown", page), ("json", data), ("html", html)):
        with open(path, "rb") as file:
            details[key] = digest(file.read())
    ledger.audit(action=RENDERED, actor="evalkit", target=run, details=details, ts=ts)
    return page


def refuse_unwritable(directory: str) -> None:
    """Refuse a reports' directory in which a report could not be written.

    Nothing is left behind; the directory itself is made with the report.

    Args:
        directory: the reports' directory; it need not exist.

    Raises:
        RefusedError: it, or what it would be made in, is no directory or not writable.
    """
    place = os.path.abspath(directory)
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    reason = "" if os.path.isdir(place) else f"{place} is not a directory"
    if not reason:
        try:
            tempfile.TemporaryFile(dir=place).close()
        except OSError as error:
            reason = f"{place}: {error.strerror}"
    if reason:
        raise RefusedError(
            f"{directory}: expected a directory for reports, got: {reason}; nothing was done. "
            "Choose another: --reports DIR"
        )


def published_looks(
    directory: str, details: dict[str, Any], known: set[str]
) -> list[dict[str, Any]]:
    """Return looks at a set's lineage that were published and this ledger does not know.

    They are shown and refuse nobody: a ledger counts its own looks only.

    Args:
        directory: the reports' directory.
        details: what the run's claim says of its set.
        known: ids of the runs this ledger knows.
    """
    paths = sorted(glob.glob(os.path.join(glob.escape(directory), "*.json")))
    twins = [body for body in map(_twin, paths) if body is not None]
    return [_look(body) for body in _related(twins, details) if body["run"]["id"] not in known]


def _related(twins: list[dict[str, Any]], details: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the reports of a set's lineage: of itself, and of what it replaces, followed back."""
    names = names_of(details)
    found: set[int] = set()
    size = -1
    while len(found) > size:  # a report may name what another, already passed, is about
        size = len(found)
        for place, body in enumerate(twins):
            own = {body["set"][key] for key in ("label", "name", "digest")}
            if names & own:
                before = body["set"].get("supersedes")
                names |= own | ({before} if type(before) is str else set())
                found.add(place)
    return [twins[place] for place in sorted(found)]


def _look(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "run": body["run"]["id"],
        "claimed": str(body["run"].get("claimed")),
        "set": body["set"]["label"],
        "build": body["build"]["digest"],
        "match": body["scores"]["match"],
        "cases": body["scores"]["cases"],
        "look_name": body["run"]["look_name"],
    }


def _twin(path: str) -> dict[str, Any] | None:
    """Return a run report's JSON twin; None for any other file."""
    try:
        body = json.loads(read_bytes(path, "run report"))
        right = body["schema"] == SCHEMA and all(
            type(body[part][name]) is kind for part, names, kind in _READ for name in names
        )
    except (UsageError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return body if right else None
