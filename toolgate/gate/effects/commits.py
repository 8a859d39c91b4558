"""Secrets that go under version control: staged, committed, and taken along by a later push."""

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading, Written, part_of
from toolgate.gate.facts.session import READ_SECRET, SECRET

INDEX, COMMITS = "git index", "git commits"
"""Names of the parts of a workspace that stand for what is staged and what is committed."""

_PROGRAM = "git "
_UNSTAGES = ("git reset", "git restore", "git rm")
_NOTHING = Written("", False, False)


def followed(made: list[Effect], reader: Reading) -> list[Effect]:
    """Return a command's effects, and keep what it stages or commits.

    A push takes along the secret that an earlier call of the session has committed.

    Args:
        made: the command's effects.
        reader: keeps the files.
    """
    if not any(effect.program.startswith(_PROGRAM) for effect in made) or reader.inside:
        return made
    root = reader.place.roots[0] if reader.place.roots else reader.place.cwd
    index, commits = part_of(root, INDEX), part_of(root, COMMITS)
    programs = {effect.program for effect in made}
    if any(effect.type == "secret.persist" and effect.how == "staged" for effect in made):
        reader.files.put(index, _NOTHING._replace(secret=True, part=True))
    elif programs.intersection(_UNSTAGES):
        reader.files.put(index, _NOTHING)
    if "git commit" in programs:
        staged = reader.files.get(index)
        if staged is not None and staged.secret:
            if staged.artifact is not None:
                reader.files.rest_on(READ_SECRET, staged.artifact.entry_of(SECRET))
            reader.files.put(commits, _NOTHING._replace(secret=True, part=True))
    if not any(effect.type == "vcs.publish" for effect in made):
        return made
    held = reader.files.get(commits)
    if held is None or not held.secret:
        return made
    if held.artifact is not None:
        reader.files.rest_on(READ_SECRET, held.artifact.entry_of(SECRET))
    return [
        effect._replace(how=f"{effect.how} secret".strip())
        if effect.type == "vcs.publish" and "secret" not in effect.how.split()
        else effect
        for effect in made
    ]
