"""The second opinion on how shell text is read: shfmt, started for the few texts that need one.

The binary is the one the package ``shfmt-py`` has put beside this interpreter,
never one from PATH, which is the workspace's to change.
"""

import json
import sys
from os import path

from toolgate.gate.shell.opinion import Names, names_in

MAX_TEXT = 8_192
MAX_OUTPUT = 4 * 1024 * 1024
MOST_SECONDS = 0.5
_FROM_PACKAGES = path.join("..", "..", "..", "bin", "shfmt")


def second_reading(text: str) -> Names | str:
    """Return the programs shfmt sees in a text, or the slug of why it says nothing.

    What it prints grows with the square of the depth; only texts come here that
    the first parser has read, whose depth is bound.

    Reasons: ``second-reader-missing``, ``second-reader-too-long``,
    ``second-reader-too-slow``, ``second-reader-refused``.
    """
    program = _program()
    if not program:
        return "second-reader-missing"
    if len(text) > MAX_TEXT:
        return "second-reader-too-long"
    import subprocess

    process = subprocess.Popen(
        [program, "-ln=bash", "--to-json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        close_fds=True,
    )
    with process:
        try:
            data, _ = process.communicate(text.encode(), MOST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return "second-reader-too-slow"
    if process.returncode != 0:
        return "second-reader-refused"
    if len(data) > MAX_OUTPUT:
        return "second-reader-too-long"
    try:
        return names_in(json.loads(data))
    except (ValueError, RecursionError):
        return "second-reader-refused"


def _program() -> str:
    """Return where shfmt lies beside this interpreter or its packages; "" where it does not."""
    folders = [entry for entry in sys.path if path.basename(entry) == "site-packages"]
    places = [path.normpath(path.join(folder, _FROM_PACKAGES)) for folder in folders]
    places.append(path.join(path.dirname(sys.executable), "shfmt"))
    return next((place for place in places if path.isfile(place)), "")
