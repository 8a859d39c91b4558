"""bubblewrap, whose options take up to three words each, and which runs a command behind them.

Source: bwrap(1).
"""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import Command

_PAIRS = frozenset(
    (
        *("--bind", "--bind-try", "--dev-bind", "--dev-bind-try", "--ro-bind", "--ro-bind-try"),
        *("--bind-fd", "--ro-bind-fd", "--setenv", "--symlink", "--file", "--bind-data"),
        *("--ro-bind-data", "--chmod"),
    )
)
_ALONE = frozenset(
    (
        *(
            "--unshare-all",
            "--unshare-user",
            "--unshare-user-try",
            "--unshare-ipc",
            "--unshare-pid",
        ),
        *("--unshare-net", "--unshare-uts", "--unshare-cgroup", "--unshare-cgroup-try"),
        *("--share-net", "--disable-userns", "--assert-userns-disabled", "--clearenv"),
        *("--new-session", "--die-with-parent", "--as-pid-1", "--tmp-overlay"),
    )
)
_WRITABLE = frozenset(("--bind", "--bind-try", "--dev-bind", "--dev-bind-try"))


def bubblewrap(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of the command bwrap runs, and of folders shown to it elsewhere."""
    words = list(parsed.rest)
    option = parsed.options[-1][0] if parsed.options else ""
    made: list[Effect] = []
    while words:
        taken = 3 if option == "--overlay" else 2 if option in _PAIRS else 1
        if not option or option in _ALONE:
            taken = 0
        values, words = words[:taken], words[taken:]
        if option in _WRITABLE and len(values) == 2 and values[0].text != values[1].text:
            # The command reaches the folder by a name that says nothing of where it lies.
            made += reader.touch("fs.write", values[0], command, name, ("mount",))
        if option in ("--args", "--overlay"):
            made.append(reader.code_not_known(name))  # options from elsewhere, folders laid over
        if words and words[0].text.startswith("--") and len(words[0].text) > 2:
            option = words.pop(0).text
            continue
        if words and words[0].text == "--":
            words.pop(0)
        break
    return made + (reader.invoke(tuple(words), command) if words else [])
