"""What is wrong with a text that a policy's source has to say. Pure."""

from typing import Any


def text_faults(item: dict[str, Any], key: str, where: str) -> list[str]:
    """Return what is wrong with a text that has to be there: missing, or no text."""
    value = item.get(key)
    if value is None or (isinstance(value, str) and not value.strip()):
        return [f"{where} is missing"]
    return [] if isinstance(value, str) else [f"{where} is {value!r:.80}; expected a text"]
