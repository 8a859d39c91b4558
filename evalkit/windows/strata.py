"""Names of strata in a sampling plan, held to the declared columns. Pure."""

import re
from typing import Any

_STATES = ("allowed", "asked", "denied")
"""What the column ``state`` can be; the values of other columns are not known beforehand."""


def stratum_faults(columns: list[str], plan: Any) -> list[str]:
    """Return one sentence for each stratum of a plan that no call could be in.

    Args:
        columns: the declared columns, in order.
        plan: ``sample.n``; anything but a mapping names no stratum.
    """
    if type(plan) is not dict:
        return []
    form = ",".join(f"{name}=VALUE" for name in columns) or "all"
    pattern = ",".join(f"{re.escape(name)}=(.*)" for name in columns) or "all"
    found = []
    for stratum in plan:
        match = re.fullmatch(pattern, stratum, re.DOTALL) if type(stratum) is str else None
        if match is None:
            found.append(f"sample.n: {stratum!r:.60} does not name the strata; expected {form}")
        elif "state" in columns and match[columns.index("state") + 1] not in _STATES:
            words = ", ".join(_STATES)
            found.append(f"sample.n: {stratum!r:.60}: no call has that state; known are {words}")
    return found
