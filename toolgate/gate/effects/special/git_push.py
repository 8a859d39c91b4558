"""Git's push: what it publishes, overwrites or deletes, ref by ref."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.hosts import covers, host_of, split_remote, split_url
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.patterns import matches, matches_any
from toolgate.gate.effects.production import deploys
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.git import earlier, git_words, inline_settings
from toolgate.gate.shell.model import HOLE, Command, Word

# --force-if-includes alone does nothing; it narrows --force-with-lease.
_FORCE = ["-f", "--force", "--force-with-lease"]
_DELETE = ["-d", "--delete", "--prune"]
_REMOTE_KEYS = ("remote.", "push.", "url.", "branch.")


def git_push(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what a push publishes, overwrites or deletes, ref by ref."""
    if parsed.has(["-n", "--dry-run"], abbreviated=False):
        return []
    marks = list(how)
    if parsed.has(_FORCE):
        marks.append("force")
    if parsed.has(_DELETE):
        marks.append("delete")
    refs = list(parsed.operands[1:])
    remote = parsed.operands[0].text if parsed.operands else "origin"
    changed = _remote_changed(reader, command)
    if parsed.has(["--repo"]):
        named = parsed.value("--repo")
        remote = named.text if named is not None and not parsed.operands else remote
        changed = True
    if changed or ((":" in remote or "/" in remote) and not _is_trusted(reader, remote)):
        marks.append("url")
    if parsed.has(["--mirror"]):
        # Everything that is not here is removed there, protected branches included.
        made = [_publish(name, f"{remote} *", [*marks, "mirror", "force", "delete", "protected"])]
    else:
        if parsed.has(["--all", "--branches"]) or _on_protected(reader, command, refs):
            marks.append("protected")
        made = [_ref(reader, word, remote, name, marks) for word in refs]
        made = made or [_publish(name, remote, marks)]
    if not {":", "/"} & set(remote) and deploys(remote):
        made.append(Effect("deploy.release", "outside", remote, False, PROVED, name))
    if any(word.text == HOLE and not word.sources for word in parsed.operands):
        # It may be an option, a protected branch, or nothing.
        proof = unresolved("arguments")
        made = [e._replace(proof=proof) if e.type == "vcs.publish" else e for e in made]
    if changed:
        # Where the remote of this name leads, or what a push sends, is set in the same text.
        proof = unresolved("remote-changed")
        made = [e._replace(proof=proof) if e.type == "vcs.publish" else e for e in made]
    return made


def _is_trusted(reader: Reading, remote: str) -> bool:
    """Say whether a remote is an address on a host that the policy trusts with the project."""
    if not reader.settings.trusted_remotes:
        return False
    if not covers(reader.settings.trusted_remotes, host_of(remote)):
        return False
    scheme = split_url(remote)[0]
    # Other schemes prove to nobody who answers, or name a program that helps.
    return scheme in ("https", "ssh") or (not scheme and split_remote(remote) is not None)


def _on_protected(reader: Reading, command: Command, refs: list[Word]) -> bool:
    """Say whether the current branch is pushed and this text has switched to a protected one."""
    if any(word.text not in ("HEAD", "@") for word in refs):
        return False
    for before in reversed(earlier(reader, command)):
        texts = [word.text for word in git_words(before)[1]]
        if texts[:1] in (["checkout"], ["switch"]) and "--" not in texts:
            return matches_any(texts[-1], reader.settings.protected_refs)
    return False


def _remote_changed(reader: Reading, command: Command) -> bool:
    before = git_words(command)[0]
    if any(key.startswith(_REMOTE_KEYS) for key, _ in inline_settings(before)):
        return True
    for other in earlier(reader, command):
        words = git_words(other)[1]
        texts = [word.text for word in words]
        if texts[:1] == ["remote"] and {"add", "set-url"} & set(texts[1:3]):
            return True
        if texts[:1] == ["config"] and any(t.lower().startswith(_REMOTE_KEYS) for t in texts[1:]):
            return True
    return False


def _ref(reader: Reading, word: Word, remote: str, name: str, marks: list[str]) -> Effect:
    text = word.text
    marks = list(marks)
    if text.startswith("+"):
        marks.append("force")
        text = text[1:]
    source, colon, target = text.partition(":")
    if colon and not source:
        marks.append("delete")
    branch = (target if colon else source).removeprefix("refs/").removeprefix("heads/")
    if not branch:
        # ":" alone pushes every branch both sides have.
        marks.append("protected")
    protected = reader.settings.protected_refs
    # A refspec pattern stands for every branch it fits.
    fits = "*" in branch and any(matches(ref, branch) for ref in protected)
    if fits or matches_any(branch, protected):
        marks.append("protected")
    effect = _publish(name, f"{remote} {branch}", marks)
    if HOLE in branch and ("force" in marks or "delete" in marks):
        return effect._replace(proof=unresolved("ref-not-known"))
    return effect


def _publish(name: str, resource: str, marks: list[str]) -> Effect:
    how = " ".join(dict.fromkeys(marks))
    return Effect("vcs.publish", "outside", resource, False, PROVED, name, how)
