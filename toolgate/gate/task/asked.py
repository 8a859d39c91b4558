"""Whether the latest prompt asks for just what a call does. Pure."""

from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.readings import AUTHORIZED, LEXICON, Reading
from toolgate.gate.task.deeds import Deed
from toolgate.gate.task.match import REQUESTED, SURE, Found
from toolgate.gate.task.meanings import Meanings
from toolgate.gate.task.statement import (
    ENVIRONMENT,
    NAME,
    PERMITS,
    REQUESTS,
    WORD,
    Name,
    Statement,
)
from toolgate.gate.task.touch import does, same_path, touch

_CHANGES = ("infra.mutate", "infra.destroy", "db.mutate", "db.destroy", "deploy.release")
_CONTAINERS = ("docker", "podman", "nerdctl")
_NEVER = frozenset(("secret", "near-secret", "socket", "stored", "production"))
_PLACES = frozenset(("development", "staging", "local", "qa"))
_SQL_WORDS = frozenset(
    ("drop", "table", "if", "exists", "cascade", "delete", "from", "truncate", "where", "and", "or")
)


def requested(
    statements: list[Statement],
    deeds: list[Deed],
    asked: list[Deed],
    latest: int,
    entry: str | None,
    lexicon: Meanings,
) -> Found | None:
    """Return that the latest prompt asks for just what a call does, if it does.

    Args:
        statements: what the task says.
        deeds: what the call does.
        asked: of these the ones that the policy asks about.
        latest: number of the latest prompt.
        entry: digest of the ledger entry of that prompt.
        lexicon: the lexicon.
    """
    wanted = [
        one
        for one in statements
        if one.prompt == latest and one.says in (REQUESTS, PERMITS) and one.sure and one.acts
    ]
    found: Found | None = None
    reads = [deed for deed in deeds if deed.effect.type in ("fs.read", "secret.read")]
    for deed in asked:
        by = next((one for one in wanted if _covers(one, deed, reads, lexicon)), None)
        if by is None:
            return None
        reading = Reading(AUTHORIZED, SURE, LEXICON, REQUESTED, by.words, entry)
        found = found or Found(reading, by, deed.effect)
    return found


def can_be_lowered(deed: Deed) -> bool:
    """Say whether a deed is of a kind that the user's request can allow where a rule asks.

    Never what is secret, unread, another user's right, production's or written earlier unseen.
    """
    effect = deed.effect
    marks = set(effect.how.split())
    if effect.proof != PROVED or "production" in deed.places or marks & _NEVER:
        return False
    if effect.type == "vcs.publish":
        return not ("protected" in marks and marks & {"force", "delete"}) and not marks & {
            "mirror",
            "url",
        }
    if effect.type == "fs.delete":
        return effect.scope == "workspace" and not marks & {"anchor", "gitdir"}
    if effect.type in _CHANGES:
        return bool(deed.places & _PLACES) or effect.scope == "workspace"
    return effect.type in ("vcs.discard", "proc.kill", "net.send")


def _covers(statement: Statement, deed: Deed, reads: list[Deed], lexicon: Meanings) -> bool:
    """Say whether a request is for just this deed."""
    effect = deed.effect
    marks = effect.how.split()
    names = tuple(one for one in statement.names if one.kind == NAME)
    verbatim = any(" " in one.text and tuple(one.text.split()) == deed.words for one in names)
    if not verbatim and not any(does(act, deed, lexicon) for act in statement.acts):
        return False
    if any(touch(one, deed, lexicon) for one in statement.but):
        return False
    if _is_other_side(statement, effect):
        return False
    if effect.type == "vcs.publish":
        return _covers_push(statement, names, deed)
    if effect.type == "vcs.discard":
        return verbatim or _names_all(names, deed) or _discards_all(statement, deed)
    if effect.type == "fs.delete":
        direct = [one for one in names if one.after not in ("from", "in")]
        return "glob" not in marks and any(
            same_path(_bare(one.text), deed, wide=False) for one in direct
        )
    if effect.type == "proc.kill":
        return set(effect.resource.split()) <= {one.text for one in names}
    if effect.type == "net.send":
        return _covers_send(names, deed, reads)
    if effect.type in _CHANGES:
        return _covers_change(statement, names, deed, lexicon)
    return False


def _is_other_side(statement: Statement, effect: Effect) -> bool:
    """Say whether a branch here is meant and one on the remote is deleted, or the other way."""
    words = statement.words.lower().replace(",", " ").split()
    there = "remote" in words or "remotely" in words or "origin" in words
    here = "local" in words or "locally" in words
    if effect.type == "vcs.publish" and "delete" in effect.how.split():
        return here and not there
    return effect.type == "vcs.discard" and "branch" in effect.how.split() and there and not here


def _bare(text: str) -> str:
    return text.strip("`'\"").removeprefix("./").rstrip("/")


def _covers_push(statement: Statement, names: tuple[Name, ...], deed: Deed) -> bool:
    marks = set(deed.effect.how.split())
    if "force" in marks and "force-push" not in statement.acts:
        return False
    if "delete" in marks and "delete" not in statement.acts:
        return False
    remote, *refs = deed.effect.resource.split() or [""]
    refs = refs or [branch for branch in (deed.branch,) if branch]
    named = {_bare(one.text) for one in names}
    remotes = named & {"origin", "upstream"}
    return (
        bool(refs)
        and set(refs) <= named
        and (not remotes or remote in remotes)
        and (remote == "origin" or remote in named)
    )


def _names_all(names: tuple[Name, ...], deed: Deed) -> bool:
    """Say whether every operand of a command was named, and something was."""
    skipped = len(deed.effect.program.split())
    given = [_bare(word) for word in deed.words[skipped:] if not word.startswith("-")]
    named = {_bare(one.text) for one in names}
    return bool(given) and set(given) <= named


def _discards_all(statement: Statement, deed: Deed) -> bool:
    """Say whether all uncommitted work is meant, in the request and by the command."""
    marks = set(deed.effect.how.split())
    given = [word for word in deed.words[2:] if not word.startswith("-")]
    if "stash" in marks:
        return "drop-stash" in statement.acts and not given[1:]
    if statement.names or not {"discard", "reset", "clean"} & set(statement.acts):
        return False
    if "hard" in marks:
        return "reset" in statement.acts and given in ([], ["HEAD"])
    return marks <= {"clean"} and "clean" in statement.acts and not given


def _covers_send(names: tuple[Name, ...], deed: Deed, reads: list[Deed]) -> bool:
    if any(one.effect.type != "fs.read" for one in reads):
        return False
    hosts = any(deed.effect.resource in one.text.lower() for one in names) and bool(
        deed.effect.resource
    )
    files = bool(reads) and all(
        any(same_path(_bare(one.text), read, wide=False) for one in names) for read in reads
    )
    return hosts and files


def _covers_change(
    statement: Statement, names: tuple[Name, ...], deed: Deed, lexicon: Meanings
) -> bool:
    """Say whether a change was asked for, of the thing and in the place that it names."""
    meant = {one.text for one in statement.names if one.kind == ENVIRONMENT}
    local = deed.effect.scope == "workspace"
    if deed.places - _PLACES or (
        meant and not (meant & deed.places or (local and "local" in meant))
    ):
        return False
    words = [one for one in statement.names if one.kind == WORD and not one.after]
    named = {
        part for one in (*names, *words) for part in (_bare(one.text), *_bare(one.text).split())
    }
    given: list[str] = []
    for word in deed.words[len(deed.effect.program.split()) :]:
        if not word.startswith("-"):
            given += [part.strip("();,'\"`*=") for part in word.replace("/", " ").split()]
    program = set(deed.effect.program.split())
    kinds = lexicon.kinds if deed.words[:1] and deed.words[0] not in _CONTAINERS else frozenset()
    left = [
        word
        for word in given
        if word
        and _bare(word) not in named
        and word not in program
        and word.lower() not in _SQL_WORDS
        and word.lower() not in kinds
        and lexicon.places.get(word.lower(), "") not in meant
    ]
    return not left and (any(_bare(word) in named for word in given) or bool(meant))
