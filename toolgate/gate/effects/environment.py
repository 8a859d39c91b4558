"""Secrets that come from the environment, and the places where a request takes a credential."""

from toolgate.gate.effects.hosts import split_url
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.shell.model import HOLE, Command, Word

_SECRET_PARTS = frozenset(
    (
        "TOKEN",
        "TOKENS",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWORDS",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "KEY",
        "KEYS",
        "APIKEY",
    )
)
_SECRET_ENDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIALS")
_PUBLIC_PARTS = frozenset(("PUBLIC", "PUB"))
# A name that ends so tells where or how, and is no secret itself.
_WHERE_OR_HOW = frozenset(
    (
        *("FILE", "PATH", "DIR", "URL", "NAME", "TTL", "LIMIT", "COUNT", "LENGTH", "ENABLED"),
        *("EXPIRY", "EXPIRES"),
    )
)
_PRINTS = frozenset(("echo", "printf", "print", "cat", "tee"))
_REACHES = ("net.fetch", "net.send", "msg.send")
# Options whose value a host takes as who is asking, not as content.
_CREDENTIALS = (
    "-H",
    "--header",
    "--proxy-header",
    "-u",
    "--user",
    "-U",
    "--proxy-user",
    "--oauth2-bearer",
    "-b",
    "--cookie",
    "--password",
    "--http-password",
    "--http-user",
    "-a",
    "--auth",
    "--token",
    "--api-key",
)


# Clients that take NAME:VALUE among their operands as a header.
_HEADER_OPERANDS = frozenset(("http", "https", "xh", "xhs"))


def names_secret(name: str) -> bool:
    """Say whether a variable's name says that it holds a token, password or key."""
    parts = name.upper().split("_")
    if len(parts) == 1 and not name.isupper():
        return False  # a variable of the script, not of the environment
    if not _PUBLIC_PARTS.isdisjoint(parts) or parts[-1] in _WHERE_OR_HOW:
        return False
    return any(part in _SECRET_PARTS or part.endswith(_SECRET_ENDS) for part in parts)


def secrets_in(word: Word) -> tuple[str, ...]:
    """Return the variables in a word whose names say that they hold a secret."""
    return tuple(name for name in word.variables if names_secret(name))


def credentials(command: Command) -> set[int]:
    """Return which words of a request say who is asking: headers, users, a URL's own part.

    Returns:
        The identities of the words.
    """
    found: set[int] = set()
    before = ""
    http = bool(command.words) and command.words[0].text in _HEADER_OPERANDS
    for word in command.words:
        text = word.text
        attached = text[:2] in _CREDENTIALS and not text.startswith("--")
        header = http and ":" in text and "=" not in text and "://" not in text
        option = header or before in _CREDENTIALS or text.partition("=")[0] in _CREDENTIALS
        if option or attached or (HOLE in text and _only_user(text)):
            found.add(id(word))
        before = text
    return found


def _only_user(text: str) -> bool:
    """Say whether what is not known of a URL stands before the host alone."""
    scheme, rest = split_url(text)
    user, mark, behind = rest.partition("@")
    return bool(scheme and mark) and HOLE in user and HOLE not in behind and "/" not in user


def used(made: list[Effect], command: Command, words: list[Word]) -> tuple[list[Effect], bool]:
    """Return a command's effects with its secret variables taken into account.

    Args:
        made: its effects.
        command: the command.
        words: its words: program, arguments, what it assigns, redirections.

    Returns:
        The effects, and whether a secret is in what the command sends, prints or writes.
    """
    shown = [name for word in words for name in secrets_in(word)]
    if not shown:
        return made, False
    reached = [effect for effect in made if effect.type in _REACHES]
    if reached:
        asking = credentials(command)
        inside = [name for word in words if id(word) not in asking for name in secrets_in(word)]
        if inside:
            return made, True
        if all(effect.scope == "workspace" for effect in reached):
            return made, False
        return [*made, _effect("secret.read", shown[0], reached[0].program, "credential")], False
    prints = next((effect.program for effect in made if effect.program in _PRINTS), "")
    if not prints:
        return made, False
    return [*made, _effect("secret.print", shown[0], prints, "variable")], True


def _effect(kind: str, name: str, program: str, how: str) -> Effect:
    return Effect(kind, "secret", f"${name}", kind != "secret.print", PROVED, program, how)
