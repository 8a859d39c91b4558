"""Typed effects: what a call does, to what, and whether that is proved."""

from typing import NamedTuple

TYPES = (
    "inspect",
    "fs.read",
    "fs.write",
    "fs.delete",
    "fs.permission",
    "fs.link",
    "secret.read",
    "secret.print",
    "secret.persist",
    "exec.code",
    "net.fetch",
    "net.send",
    "net.listen",
    "net.shell",
    "vcs.publish",
    "vcs.history_rewrite",
    "vcs.discard",
    "vcs.config",
    "pkg.install",
    "pkg.publish",
    "proc.kill",
    "proc.privilege",
    "sys.config",
    "sys.startup",
    "gate.tamper",
    "infra.mutate",
    "infra.destroy",
    "db.mutate",
    "db.destroy",
    "deploy.release",
    "msg.send",
    "pay.spend",
)

IRREVERSIBLE = frozenset(
    (
        "fs.delete",
        "vcs.discard",
        "vcs.history_rewrite",
        "vcs.publish",
        "infra.destroy",
        "db.destroy",
        "net.send",
        "net.shell",
        "msg.send",
        "pay.spend",
        "pkg.publish",
        "deploy.release",
        "secret.print",
    )
)
"""Types that an ordinary user cannot undo."""

PROVED = "proved"

OPENING = "stores("
"""How the type of an effect begins that only says what a written file would do when run."""

MARK = "stored"
"""Qualifier of an effect that a call has because a file written earlier has it."""


def unresolved(reason: str) -> str:
    """Return the proof state of an effect that is not proved, with its reason slug."""
    return f"unresolved({reason})"


def is_stored(kind: str) -> bool:
    """Say whether an effect's type only says what a file holds."""
    return kind.startswith(OPENING)


class Effect(NamedTuple):
    """One thing a call does.

    Args:
        type: one of ``TYPES``.
        scope: one of ``action.SCOPES``.
        resource: the path, host, ref, table or program it is done to, in plain text.
        reversible: whether an ordinary user can undo it.
        proof: ``proved``, or ``unresolved(reason)``.
        program: the program or tool that does it.
        how: a qualifier from the catalogue (``inline``, ``remote``, ``force``, ...), or "".
    """

    type: str
    scope: str
    resource: str
    reversible: bool
    proof: str
    program: str = ""
    how: str = ""
