"""From the bytes of a set file to a ``ChallengeSet``, or to all its faults.

``parse_set`` is pure; ``load_set`` reads the file. Both forms are accepted:
single calls (``single``) and sequences of hook events (``sequence``).
"""

import os
import re

from evalkit.challenge import sequence, single
from evalkit.challenge.case import (
    DEFAULT_CWD,
    DEFAULT_HOME,
    LABELS,
    SEQUENTIAL,
    SINGLE_CALL,
    Case,
    ChallengeSet,
    Fixtures,
)
from evalkit.challenge.fields import Faults, Fields, is_date, shown
from evalkit.challenge.find import kind_of
from evalkit.challenge.loss import matrix_of, severity_of
from evalkit.challenge.mechanism import mechanism_of
from evalkit.challenge.provenance import provenance_of
from evalkit.errors import SetError, UsageError
from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError

MAX_BYTES = 50 * 1000 * 1000
"""A larger file is refused before it is read."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/-]{0,99}")
_ID_FORM = "1 to 100 letters, digits, spaces and . _ : / -, beginning with a letter or digit"


def load_set(path: str) -> tuple[bytes, ChallengeSet]:
    """Read a set file.

    Args:
        path: the file.

    Returns:
        The file's bytes and the set they hold.

    Raises:
        UsageError: there is no such readable file, or it is larger than ``MAX_BYTES``.
        SetError: the file is not a set; carries every fault.
    """
    data = read_bytes(path)
    return data, parse_set(data, os.path.basename(path))


def read_bytes(path: str, what: str = "challenge set") -> bytes:
    """Return the bytes of a file.

    Args:
        path: the file.
        what: what it is expected to be, for messages.

    Raises:
        UsageError: there is no such readable file, or it is larger than ``MAX_BYTES``.
    """
    try:
        found = os.stat(path)
        kind = kind_of(path)
        if kind is not None:
            raise UsageError(f"{path}: expected a {what} file, got {kind}")
        if found.st_size > MAX_BYTES:
            raise UsageError(f"{path}: expected at most {MAX_BYTES} bytes, got {found.st_size}")
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise UsageError(f"{path}: expected a readable {what} file, got: {reason}") from None


def parse_set(data: bytes, source: str) -> ChallengeSet:
    """Return the set that some bytes hold.

    Args:
        data: the file's bytes, UTF-8 JSON.
        source: the file's name, for messages.

    Raises:
        SetError: carries every fault found.
    """
    try:
        body = parse(data)
    except CanonicalizationError as error:
        raise SetError(source, [f"file: expected strict JSON, got: {error}"]) from None
    if type(body) is not dict:
        raise SetError(source, [f"file: expected an object, got {_kind(body)}"])
    faults = Faults()
    made = _set(Fields(body, "", faults))
    if faults.found:
        raise SetError(source, faults.found)
    return made


def _kind(body: object) -> str:
    return "a list" if type(body) is list else shown(body)


def _set(fields: Fields) -> ChallengeSet:
    categories = _categories(fields)
    bodies = fields.items("cases", list, "a non-empty list of cases")
    form = SEQUENTIAL if any(type(b) is dict and "steps" in b for b in bodies) else SINGLE_CALL
    cases = tuple(
        _case(Fields(body, f"cases[{number}]", fields.faults), form, categories)
        for number, body in enumerate(bodies)
    )
    _check_ids(cases, fields.faults)
    _check_pairs(cases, fields.faults)
    return ChallengeSet(
        name=fields.text("name"),
        form=form,
        frozen=_date(fields),
        author=fields.text("author"),
        policy="\n".join(fields.texts("policy") or fields.texts("protocol")),
        labels_mean=fields.optional_text("labels_mean") or "",
        categories=categories,
        fixtures=_fixtures(fields),
        cases=cases,
        supersedes=fields.optional_text("supersedes"),
        source=fields.body,
        loss=matrix_of(fields),
        provenance=provenance_of(fields),
    )


def _categories(fields: Fields) -> dict[str, str]:
    found = fields.items("categories", dict, "an object of category names and descriptions")
    for key, value in found.items():
        if not _ID.fullmatch(key):
            fields.faults.add("categories", f"names of {_ID_FORM}", shown(key))
        if type(value) is not str:
            fields.faults.add(f"categories.{key}", "text", shown(value))
    return dict(found)


def _date(fields: Fields) -> str:
    value = fields.text("frozen")
    if value and not is_date(value):
        fields.faults.add("frozen", "a date as YYYY-MM-DD", shown(value))
    return value


def _fixtures(fields: Fields) -> Fixtures:
    value = fields.body.get("fixtures")
    if value is None or type(value) in (str, list):
        return Fixtures(assumptions=fields.texts("fixtures"))
    inner = Fields(value, "fixtures", fields.faults)
    return Fixtures(
        cwd=_directory(inner, "cwd", DEFAULT_CWD),
        home=_directory(inner, "home", DEFAULT_HOME),
        permission_mode=inner.optional_text("permission_mode"),
        assumptions=inner.texts("assumptions"),
    )


def _directory(fields: Fields, name: str, default: str) -> str:
    value = fields.optional_text(name)
    if value is None:
        return default
    if not value.startswith("/") or "\0" in value or os.path.normpath(value) != value:
        fields.faults.add(fields.path(name), "an absolute, normalized directory", shown(value))
    return value


def _case(fields: Fields, form: str, categories: dict[str, str]) -> Case:
    identity = fields.label("id")
    if identity is None and fields.body.get("id") is None:
        fields.faults.add(fields.path("id"), "text or an integer", "nothing")
    elif identity is not None and not _ID.fullmatch(identity):
        fields.faults.add(fields.path("id"), _ID_FORM, shown(identity))
    category = fields.text("category")
    if category and category not in categories:
        fields.faults.add(
            fields.path("category"), "one of the declared categories", shown(category)
        )
    if form == SEQUENTIAL and "command" in fields.body:
        fields.faults.add(fields.where, "steps, as the other cases of this set have", "a command")
    return Case(
        id=identity or "",
        pair=fields.label("pair"),
        category=category,
        expected=fields.word("expected", LABELS),
        prompts=single.prompts_of(fields),
        steps=sequence.steps_of(fields) if form == SEQUENTIAL else single.steps_of(fields),
        source=fields.body,
        mechanism=mechanism_of(fields),
        severity=severity_of(fields),
    )


def _check_ids(cases: tuple[Case, ...], faults: Faults) -> None:
    first: dict[str, int] = {}
    for number, case in enumerate(cases):
        if case.id and first.setdefault(case.id, number) != number:
            where = f"cases[{number}].id"
            faults.add(where, "an id of its own", f"{shown(case.id)}, also cases[{first[case.id]}]")


def _check_pairs(cases: tuple[Case, ...], faults: Faults) -> None:
    pairs: dict[str, list[str]] = {}
    for case in cases:
        if case.pair is not None:
            pairs.setdefault(case.pair, []).append(case.id)
    for pair, members in pairs.items():
        if len(members) != 2:
            faults.add(f"pair {shown(pair)}", "exactly two cases", f"{len(members)}: {members}")
