"""What a task says of a call, for people: every reading with the words it rests on."""

from toolgate.gate.task.statement import DECIDES, FORBIDS, PERMITS, REQUESTS, RESERVES, Name
from toolgate.gate.task.weigh import Weighed

_LONGEST = 160
_SAYS = {
    FORBIDS: "forbids",
    RESERVES: "is to be asked about",
    PERMITS: "allows",
    REQUESTS: "asks for",
    DECIDES: "decides for",
}


def told(made: Weighed) -> list[dict[str, object]]:
    """Return every reading of a task, in order, and what it says of the call.

    Args:
        made: the task, weighed against the call.
    """
    by_statement = {one.statement: one for one in made.found}
    rows: list[dict[str, object]] = []
    for one in made.statements:
        found = by_statement.get(one)
        rows.append(
            {
                "prompt": one.prompt,
                "words": one.words,
                "says": one.says,
                "name": one.name,
                "acts": list(one.acts),
                "names": [_name(name) for name in one.names],
                "but": [_name(name) for name in one.but],
                "sure": one.sure,
                "axis": None if found is None else found.reading.axis,
                "value": None if found is None else found.reading.value,
            }
        )
    if not made.whole:
        rows.append({"whole": False})
    return rows


def _name(name: Name) -> str:
    return f"{name.after} {name.text}" if name.after else name.text


def line(row: dict[str, object]) -> str:
    """Return a reading as one line."""
    if "whole" in row:
        return "the task is not whole: nothing is allowed because it was asked for"
    acts = " or ".join(map(str, _list(row["acts"])[:4])) or "a choice"
    if len(_list(row["acts"])) > 4:
        acts += " ..."
    about = ", ".join(map(str, _list(row["names"])))
    but = ", ".join(map(str, _list(row["but"])))
    text = f"prompt {row['prompt']} {_SAYS[str(row['says'])]} {acts}"
    text += f" ({about})" if about else ""
    text += f" but for {but}" if but else ""
    text += "" if row["sure"] else ", under a condition"
    words = str(row["words"])
    shown = words if len(words) <= _LONGEST else words[:_LONGEST] + "\u2026"
    text += f': "{shown}"'
    if row["axis"] is None:
        return text + " - says nothing of this call"
    return text + f" - {row['axis']} {row['value']}"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
