"""Predicted misses: said before a run, held against it afterwards."""

import os
from typing import Any

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.read import read_bytes
from evalkit.challenge.score import Result
from evalkit.errors import UsageError
from toolgate.canonical import digest, parse
from toolgate.errors import CanonicalizationError


def read_prediction(path: str, made: ChallengeSet) -> dict[str, Any]:
    """Read a prediction, as a claim keeps it.

    Args:
        path: JSON: ``{"misses": {"CASE": "why"}}``; a list of ids says no reasons.
        made: the set it is about.

    Returns:
        ``misses`` (ids, in the set's order) and ``digest`` (of the file).

    Raises:
        UsageError: the file cannot be read, is something else, or names no case of the set.
    """
    name = os.path.basename(path)
    data = read_bytes(path, "prediction")
    try:
        body = parse(data)
    except CanonicalizationError as error:
        raise UsageError(f"{name}: expected JSON, got {error}") from None
    misses = body.get("misses") if type(body) is dict else None
    listed: list[Any] = list(misses) if isinstance(misses, (dict, list)) else [None]
    if not all(type(item) is str for item in listed):
        raise UsageError(f'{name}: expected {{"misses": {{"CASE": "why"}}}}, got something else')
    known = [case.id for case in made.cases]
    unknown = sorted(set(listed) - set(known))
    if unknown:
        raise UsageError(f"{name}: expected cases of {made.name}, got {', '.join(unknown[:5])}")
    wanted = set(listed)
    return {"misses": [case for case in known if case in wanted], "digest": digest(data)}


def kept_promise(prediction: dict[str, Any], results: list[Result]) -> dict[str, Any]:
    """Return how a prediction fared.

    Args:
        prediction: as the claim keeps it.
        results: one a case.

    Returns:
        ``digest`` and case ids: ``foreseen`` (missed as predicted), ``better`` (predicted to
        miss, and a match) and ``unforeseen`` (missed, not predicted).
    """
    wanted = set(prediction["misses"])
    missed = {result.case for result in results if result.kind() != "match"}
    order = [result.case for result in results]
    return {
        "digest": prediction["digest"],
        "foreseen": [case for case in order if case in wanted & missed],
        "better": [case for case in order if case in wanted - missed],
        "unforeseen": [case for case in order if case in missed - wanted],
    }
