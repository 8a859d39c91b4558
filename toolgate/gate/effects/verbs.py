"""Command lines of nouns and verbs: what the verb says where no entry spells the call out."""

from typing import Any

from toolgate.gate.effects.patterns import matches_any
from toolgate.gate.shell.model import Word

# Verbs that change what the nouns before them name, alone or before a dash.
_CHANGES = frozenset(
    (
        *("add", "apply", "assign", "attach", "call", "cancel", "clear", "copy", "create"),
        *("delete", "deploy", "destroy", "detach", "disable", "edit", "enable", "exec", "execute"),
        *(
            "grant",
            "import",
            "invite",
            "invoke",
            "move",
            "patch",
            "purge",
            "put",
            "remove",
            "rename",
        ),
        *("replace", "reset", "resize", "restart", "restore", "revoke", "rm", "rotate", "run"),
        *("scp", "send", "set", "ssh", "start", "stop", "submit", "suspend", "unset", "update"),
        *("upload", "write"),
    )
)
# A noun alone that the verbs above follow; other empty entries are verbs, whose operands are names.
_NOUNS = frozenset(
    ("account", "context", "environment", "group", "org", "project", "service", "team", "user")
)
_RELEASE_TRACKS = frozenset(("alpha", "beta", "preview"))
_HOLDS_SECRETS = (
    *("*key", "*keys", "*credential*", "*password*", "*token*", "*connection-string*"),
    *("publishing-*", "appsettings", "*sas"),
)


def changes(word: str) -> bool:
    """Say whether a word is a verb that changes something."""
    return word.partition("-")[0] in _CHANGES


def only_reads(entry: dict[str, Any], words: tuple[Word, ...]) -> bool:
    """Say whether the verb of a call is one of the entry's ``reads``, behind whatever nouns.

    Only a call that no subcommand spells out is answered so, and none about
    keys, passwords or tokens, whose reading shows a secret.

    Args:
        entry: the entry of the program.
        words: the words from the subcommand on.
    """
    reads = tuple(entry.get("reads", ()))
    if not reads or _spelled_out(entry, words):
        return False
    before: list[str] = []
    for word in words:
        text = word.text
        # The first noun may be called like a verb: gcloud run, gcloud deploy.
        if text.startswith("-") or not word.known or (before and changes(text)):
            return False
        if matches_any(text, reads):
            secrets = any(noun.startswith("secret") for noun in before)
            if secrets and not text.startswith("list"):
                return False
            return not any(matches_any(noun, _HOLDS_SECRETS) for noun in (*before, text))
        before.append(text)
    return False


def _spelled_out(entry: dict[str, Any], words: tuple[Word, ...]) -> bool:
    """Say whether subcommands name every word up to an entry without any."""
    for word in words:
        below = entry.get("subcommands")
        if not below:
            return True
        if word.text not in below:
            return False
        entry = below[word.text] or {}
    return True


def without_track(entry: dict[str, Any], words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Drop a word in front that only chooses a release of the command line: ``gcloud beta``."""
    chosen = bool(entry.get("reads")) and len(words) > 1 and words[0].text in _RELEASE_TRACKS
    return words[1:] if chosen else words


def changes_a_noun(noun: str, entry: dict[str, Any], rest: tuple[Word, ...]) -> bool:
    """Say whether an empty entry names a thing and the word after it what is done to it."""
    if entry or not rest or not (noun.endswith("s") or noun in _NOUNS):
        return False
    return rest[0].text in _CHANGES
