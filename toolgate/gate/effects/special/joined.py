"""Programs that join their words to shell text: eval, watch, screen, tmux."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

# These hand more than one word to the system as they are; a single word goes to a shell.
_RUN_AS_GIVEN = frozenset(
    (
        "screen",
        "tmux new-session",
        "tmux new",
        "tmux new-window",
        "tmux neww",
        "tmux split-window",
        "tmux splitw",
        "tmux respawn-pane",
    )
)


def words_as_shell(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of words that are joined by blanks and run as shell text."""
    words = parsed.rest or parsed.operands
    if not words:
        return []
    if name in _RUN_AS_GIVEN and len(words) > 1:
        return reader.invoke(words, command._replace(words=words))
    text = " ".join(word.text for word in words)
    if HOLE not in text:
        return reader.inner(text, cwd=command.cwd)
    if len(words) == 1 and not text.strip(HOLE + " \n\t"):
        from toolgate.gate.effects.interpreted import printed

        return printed(reader, words[0], name) or [reader.code_not_known(name)]
    return [reader.code_not_known(name)]
