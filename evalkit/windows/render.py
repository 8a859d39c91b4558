"""A window's report: Markdown for people and a JSON twin, both from the close record alone."""

import json
import os
from typing import Any

from evalkit.report.render import cell
from evalkit.windows.figures import cell_rate
from toolgate.canonical import digest

TEMPLATE = "window.md.j2"

VERDICTS = {
    "PASS": "PASS: every check holds, up to a head that was kept outside the ledger.",
    "CONDITIONAL": "CONDITIONAL: every check holds, but nothing kept outside the ledger pins its "
    "end, so entries cut off at the end would not be seen, or an approval is inferred from an "
    "execution. It does not lower the grade. Keep the head outside the ledger: `toolgate "
    "ledger verify --expect-head` then shows such a cut.",
    "INCOMPLETE": "INCOMPLETE: nothing contradicts anything, but a turn, session or line is "
    "unfinished.",
    "FAIL": "FAIL: entries contradict each other, or calls have no outcome; see the findings.",
}
"""What the verifier's verdict means for a window."""


def markdown(record: dict[str, Any], close_digest: str) -> bytes:
    """Return the report for people.

    Args:
        record: the close record.
        close_digest: digest of its canonical bytes.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(os.path.join(os.path.dirname(__file__), "templates")),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # the output is Markdown; cells are escaped by the filters
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        cell=_cell, code=_code, rate_cell=cell_rate, plan=_plan, less=_less, meaning=_meaning
    )
    text = environment.get_template(TEMPLATE).render(record=record, close_digest=close_digest)
    return text.encode("utf-8")


def twin(record: dict[str, Any], close_digest: str, report: bytes) -> bytes:
    """Return the report for machines: the record, its digest and the Markdown's digest."""
    body = {"close_digest": close_digest, "markdown_digest": digest(report), "record": record}
    text = json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


def _cell(value: object) -> str:
    """Return text that stays inside one cell; what has no value reads ``none``."""
    return "none" if value is None else cell(value)


def _code(value: object) -> str:
    """Return text that stays inside one code span of a table."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("`", "'")


def _less(calls: int) -> str:
    """Return what a step takes away; nothing is no minus."""
    return f"-{calls}" if calls else "0"


def _meaning(verdict: str) -> str:
    return VERDICTS.get(verdict, "")


def _plan(n: object) -> str:
    if n is None:
        return "not stated"
    return json.dumps(n, sort_keys=True) if isinstance(n, dict) else f"{n} a stratum"
