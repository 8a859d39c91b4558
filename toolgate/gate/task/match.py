"""What a task's statements say of a call: readings, each with the words it rests on. Pure."""

from typing import NamedTuple

from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.readings import AUTHORIZED, LEXICON, Reading
from toolgate.gate.task.deeds import Deed
from toolgate.gate.task.lexicon import Lexicon
from toolgate.gate.task.read import ELSEWHERE, EVERY_ACT
from toolgate.gate.task.statement import (
    DECIDES,
    ENVIRONMENT,
    FORBIDS,
    NAME,
    PERMITS,
    REQUESTS,
    WORD,
    Name,
    Statement,
)
from toolgate.gate.task.touch import does, same_path, touch, touches

VIOLATES, CHOICE = "violates_constraint", "unresolved_choice"
PROHIBITS, RESERVED, REQUESTED = "task_prohibits", "task_reserves", "task_requests"
"""Names of readings, and codes of the facts they become."""

SURE, DOUBTFUL = 1.0, 0.7
"""Values: what the user said holds; it holds under a condition, or may not be meant here."""

_LOOKS = ("inspect", "fs.read", "net.fetch")


class Found(NamedTuple):
    """What one statement says of a call.

    Args:
        reading: the reading it becomes.
        statement: the statement.
        effect: the effect it speaks about.
    """

    reading: Reading
    statement: Statement
    effect: Effect


def constraints(
    statements: list[Statement],
    deeds: list[Deed],
    entries: tuple[str | None, ...],
    lexicon: Lexicon,
) -> list[Found]:
    """Return what forbids or reserves something that a call does.

    Of the statements that speak about a deed the latest decides.

    Args:
        statements: what the task says, oldest first.
        deeds: what the call does.
        entries: digest of the ledger entry of each prompt, the goal first.
        lexicon: the lexicon.
    """
    found: dict[tuple[Statement, str], Found] = {}
    for deed in deeds:
        said = _latest(statements, deed, lexicon)
        if said is None:
            continue
        statement, value = said
        entry = entries[statement.prompt]
        if statement.says == FORBIDS:
            reading = Reading(VIOLATES, value, LEXICON, PROHIBITS, statement.words, entry)
        else:
            reading = Reading(CHOICE, value, LEXICON, RESERVED, statement.words, entry)
        found.setdefault((statement, reading.axis), Found(reading, statement, deed.effect))
    return list(found.values())


def _latest(
    statements: list[Statement], deed: Deed, lexicon: Lexicon
) -> tuple[Statement, float] | None:
    """Return the prohibition or reservation that holds for a deed, and how sure that is."""
    later: list[Statement] = []
    decided: list[Statement] = []
    for statement in reversed(statements):
        if statement.says == DECIDES:
            decided.append(statement)
            continue
        if not _speaks(statement, deed, lexicon):
            continue
        if statement.says in (PERMITS, REQUESTS):
            later.append(statement)
            continue
        if not statement.acts and any(_chooses(one, statement) for one in decided):
            continue
        value = SURE if statement.sure else DOUBTFUL
        released = [_releases(one, statement, lexicon) for one in later]
        if SURE in released:
            continue
        return statement, DOUBTFUL if DOUBTFUL in released else value
    return None


def _chooses(decision: Statement, choice: Statement) -> bool:
    names = {one.text.lower() for one in choice.names}
    return any(one.text.lower() in names for one in decision.names)


def _speaks(statement: Statement, deed: Deed, lexicon: Lexicon) -> bool:
    """Say whether a statement is about a deed."""
    if not statement.acts:
        changes = deed.effect.type not in _LOOKS
        return changes and any(touch(one, deed, lexicon) for one in statement.names)
    if statement.acts == (EVERY_ACT,):
        return touches(statement.names, deed, lexicon)
    if statement.acts == (ELSEWHERE,):
        return _is_elsewhere(statement.but, deed, lexicon)
    if not any(does(act, deed, lexicon) for act in statement.acts):
        return False
    if any(_spares(act, names, deed, lexicon) for act, names in statement.spare):
        return False
    names = statement.names
    if statement.says in (PERMITS, REQUESTS):
        names = tuple(one for one in names if one.kind != WORD)
    if not touches(names, deed, lexicon):
        return False
    return not any(touch(one, deed, lexicon) for one in statement.but)


def _is_elsewhere(places: tuple[Name, ...], deed: Deed, lexicon: Lexicon) -> bool:
    """Say whether a deed is done in an environment other than those work is limited to."""
    if not deed.places or any(one.text in deed.places for one in places):
        return False
    program = deed.words[0].rpartition("/")[2] if deed.words else ""
    return deed.effect.type not in _LOOKS or program in lexicon.reaches


def _spares(act: str, names: tuple[Name, ...], deed: Deed, lexicon: Lexicon) -> bool:
    return does(act, deed, lexicon) and touches(names, deed, lexicon)


def _releases(later: Statement, earlier: Statement, lexicon: Lexicon) -> float:
    """Return how surely what was said later takes back what was said earlier; 0 if not.

    What names the thing takes back all about it. What names none is about the act in general:
    it takes back what was said of the act in general.
    """
    named = [one for one in later.names if one.kind != WORD]
    if named or later.acts == (EVERY_ACT,):
        return SURE if later.sure else DOUBTFUL
    if earlier.names or earlier.but or not later.sure:
        return 0.0
    if later.says == PERMITS:
        return SURE
    if later.prompt == earlier.prompt and earlier.name == "limit":
        return 0.0
    words = any(one.kind == WORD for one in later.names)
    broad = set(later.acts) <= lexicon.broad
    return DOUBTFUL if broad or words else SURE


# -- what the latest prompt asks for ----------------------------------------------------------

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
    lexicon: Lexicon,
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


def _covers(statement: Statement, deed: Deed, reads: list[Deed], lexicon: Lexicon) -> bool:
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
    statement: Statement, names: tuple[Name, ...], deed: Deed, lexicon: Lexicon
) -> bool:
    """Say whether a change was asked for, of the thing and in the place that it names."""
    meant = {one.text for one in statement.names if one.kind == ENVIRONMENT}
    local = deed.effect.scope == "workspace"
    if deed.places - _PLACES or (
        meant and not (meant & deed.places or (local and "local" in meant))
    ):
        return False
    named = {part for one in names for part in (_bare(one.text), *_bare(one.text).split())}
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
