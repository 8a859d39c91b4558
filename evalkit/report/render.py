"""Writing a report: Markdown by Jinja, and the JSON twin."""

import os
from functools import cache
from typing import Any

from evalkit.challenge.case import ChallengeSet
from evalkit.errors import RefusedError
from evalkit.report.context import short_rate
from evalkit.report.page import page
from evalkit.stats.present import p_value

_TEMPLATES = os.path.join(os.path.dirname(__file__), "templates")


def markdown(context: dict[str, Any], template: str = "run.md.j2") -> str:
    """Return a report's Markdown.

    Args:
        context: what ``report_context`` returned.
        template: file name of the template.
    """
    return str(_environment().get_template(template).render(context))


def twin(context: dict[str, Any]) -> str:
    """Return a report's JSON twin."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return bytes(orjson.dumps(context, option=options)).decode("utf-8")


def cell(value: object) -> str:
    """Return text that stays one cell of a Markdown table and is not read as markup."""
    text = " ".join(str(value).split())
    for character in "\\`*_[]<>|":
        text = text.replace(character, "\\" + character)
    return text


def write_report(
    context: dict[str, Any], made: ChallengeSet, directory: str, name: str
) -> tuple[str, str, str]:
    """Write a report's three files.

    Args:
        context: what ``report_context`` returned.
        made: the set.
        directory: where; created when it does not exist.
        name: file name without ending.

    Returns:
        The paths of the Markdown page, of the JSON twin and of the HTML page.

    Raises:
        RefusedError: a file cannot be written.
    """
    text = os.path.join(directory, name + ".md")
    data = os.path.join(directory, name + ".json")
    html = os.path.join(directory, name + ".html")
    written = (
        (data, twin(context)),
        (html, page(context, made)),
        (text, markdown(context)),
    )
    try:
        os.makedirs(directory, exist_ok=True)
        for path, content in written:
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.write(content)
            os.replace(path + ".new", path)
    except OSError as error:
        raise RefusedError(f"{text}: the report cannot be written: {error.strerror}") from None
    return text, data, html


@cache
def _environment() -> Any:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # Markdown, not HTML: text from outside goes through ``cell``
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["cell"] = cell
    made.filters["short"] = short_rate
    made.filters["p"] = p_value
    return made
