"""Writing a report: Markdown by Jinja, and the JSON twin."""

import os
from functools import cache
from typing import Any

from evalkit.errors import RefusedError
from evalkit.report.context import short_rate
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


def write_report(context: dict[str, Any], directory: str, name: str) -> tuple[str, str]:
    """Write a report's two files.

    Args:
        context: what ``report_context`` returned.
        directory: where; created when it does not exist.
        name: file name without ending.

    Returns:
        The paths of the Markdown page and of the JSON twin.

    Raises:
        RefusedError: a file cannot be written.
    """
    page = os.path.join(directory, name + ".md")
    data = os.path.join(directory, name + ".json")
    try:
        os.makedirs(directory, exist_ok=True)
        for path, text in ((data, twin(context)), (page, markdown(context))):
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(path + ".new", path)
    except OSError as error:
        raise RefusedError(f"{page}: the report cannot be written: {error.strerror}") from None
    return page, data


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
