"""Numbers in the sentences of a report."""

_ODD = {"copy": "copies", "entry": "entries"}


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 session``, ``2 sessions``.

    Args:
        number: how many.
        noun: what they are, in the singular; its last word takes the plural.
    """
    if number == 1:
        return f"1 {noun}"
    *before, last = noun.split()
    return " ".join([f"{number}", *before, _ODD.get(last, last + "s")])


def printable(text: str) -> str:
    """Return text without the characters a terminal obeys."""
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else "?" for char in text])
