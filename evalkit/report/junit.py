"""A run as JUnit XML: every case is a test case, a miss is a failure. Pure."""

from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from evalkit.challenge.score import UNSCORED


def junit(context: dict[str, Any]) -> bytes:
    """Return a run's JUnit XML.

    Args:
        context: what ``report_context`` returned.

    Returns:
        UTF-8 with declaration. Unscored cases are errors; a threshold that is not kept is a
        failed case of its own, in the class ``thresholds``.
    """
    scores, thresholds = context["scores"], context["thresholds"]
    failed = [row for row in thresholds if row["failed"]]
    suite = Element(
        "testsuite",
        name=_text(context["set"]["label"]),
        tests=str(scores["cases"] + len(thresholds)),
        failures=str(scores["permissive"] + scores["stricter"] + len(failed)),
        errors=str(scores["unscored"]),
    )
    for row in context["results"]:
        one = SubElement(
            suite, "testcase", classname=_text(row["category"]), name=_text(row["case"])
        )
        if row["kind"] == UNSCORED:
            _say(one, "error", row["rule"], row["sentence"])
        elif row["kind"] != "match":
            told = f"expected {row['expected']}, decided {row['decided']} by {row['rule']}"
            _say(one, "failure", told, row["sentence"])
    for row in thresholds:
        one = SubElement(suite, "testcase", classname="thresholds", name=_text(row["text"]))
        if row["failed"]:
            _say(one, "failure", f"{row['text']}: the run shows {row['value']}", "")
    root = Element("testsuites")
    root.append(suite)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _say(case: Element, kind: str, message: str, text: str) -> None:
    SubElement(case, kind, message=_text(message)).text = _text(text)


def _text(value: str) -> str:
    """Return text without what XML cannot hold at all."""
    return "".join(char if _allowed(ord(char)) else "�" for char in value)


def _allowed(code: int) -> bool:
    """Source: XML 1.0, production 2 (Char)."""
    if code < 0x20:
        return code in (0x9, 0xA, 0xD)
    return not (0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF))
