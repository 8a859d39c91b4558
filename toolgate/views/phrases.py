"""The ledger's words in plain English, one table for each closed set of them."""

from collections.abc import Iterable, Mapping

EFFECTS: Mapping[str, str] = {
    "inspect": "look at something",
    "fs.read": "read a file",
    "fs.write": "write a file",
    "fs.delete": "delete a file",
    "fs.permission": "change who may use a file",
    "fs.link": "link a file",
    "secret.read": "read a secret",
    "secret.print": "print a secret",
    "secret.persist": "store a secret",
    "exec.code": "run code",
    "net.fetch": "fetch from the network",
    "net.send": "send data over the network",
    "net.listen": "open a network port",
    "net.shell": "open a shell over the network",
    "vcs.publish": "publish to a repository",
    "vcs.history_rewrite": "rewrite a repository's history",
    "vcs.discard": "throw away uncommitted work",
    "vcs.config": "change a repository's settings",
    "pkg.install": "install a package",
    "pkg.publish": "publish a package",
    "proc.kill": "end a process",
    "proc.privilege": "take other rights",
    "sys.config": "change the system's settings",
    "sys.startup": "change what starts by itself",
    "gate.tamper": "change the gate itself",
    "infra.mutate": "change infrastructure",
    "infra.destroy": "destroy infrastructure",
    "db.mutate": "change a database",
    "db.destroy": "destroy data in a database",
    "deploy.release": "release software",
    "msg.send": "send a message",
    "pay.spend": "spend money",
}

SCOPES: Mapping[str, str] = {
    "inspect-only": "touching nothing",
    "workspace": "inside the workspace",
    "temp": "in a temporary folder",
    "home": "in the user's home folder",
    "outside": "outside the workspace and what the policy trusts",
    "unknown": "at a place the gate could not tell",
    "system": "in the system's own files",
    "secret": "where secrets are kept",
    "gate": "in the gate's own files",
}

AXES: Mapping[str, str] = {
    "destructive": "something could be destroyed",
    "exfiltration": "data could leave",
    "privilege": "rights could be exceeded",
    "secret_exposure": "a secret could be exposed",
    "off_task": "it is not part of the task",
    "violates_constraint": "the task forbids it",
    "unresolved_choice": "a choice is the user's to make",
}

AUTH_MODES: Mapping[str, str] = {
    "agent": "the agent's own credentials",
    "user": "the rights of this user, whose account the agent runs under",
    "delegated": "rights that this user delegated to the agent",
    "service": "the credentials of a service account",
    "unknown": "the host does not say whose credentials",
}

LAYERS: Mapping[str, str] = {
    "entries": "each record is well formed, and bound to what it rests on",
    "log": "no record is missing, moved or added",
    "execution": "what ran is what was allowed",
}

STATES: Mapping[str, str] = {"allowed": "allowed", "asked": "asked first", "denied": "denied"}

FATES: Mapping[str, str] = {
    "ok": "it ran and ended well",
    "error": "it ran and ended with an error",
    "timeout": "it ran and was stopped when its time was up",
    "cancelled": "it ran and was interrupted",
    "refused": "it did not run: the host or its user refused it",
    "unresolved": "nobody reported how it ended; the close of the session wrote that down",
    "denied": "it was denied, and nothing says that it ran",
    "asked": "it was asked about, and nothing followed: no approval, no execution",
    "decided": "it was only decided: this session runs nothing",
    "pending": "nothing has been reported yet; the session is still open",
    "silent": "nothing says what became of it, although the session is over",
    "violation": "it ran, and it should not have",
}

SHORT_FATES: Mapping[str, str] = {
    "ok": "ok",
    "error": "error",
    "timeout": "timed out",
    "cancelled": "interrupted",
    "refused": "refused by host or user",
    "unresolved": "end not reported",
    "denied": "denied",
    "asked": "asked, nothing followed",
    "decided": "decided only",
    "pending": "no end yet",
    "silent": "no end recorded",
    "violation": "ran unauthorized",
}

SOURCES: Mapping[str, str] = {
    "hook": "the host reported it to the gate's hook",
    "telemetry": "the host's telemetry showed it",
    "transcript": "the session's transcript showed it",
    "person": "a person wrote it down",
    "close": "the closing of the session wrote it, because no report had come",
    "recovery": "a recovery wrote it, because no report had come",
}

REPORTED: Mapping[str, str] = {
    "hook": "reported to the hook",
    "telemetry": "from telemetry",
    "transcript": "from the transcript",
    "person": "written by a person",
    "close": "written by the close",
    "recovery": "written by a recovery",
}

JOINS: Mapping[str, str] = {
    "id": "matched to the decision by the call id",
    "content": "matched to the decision by tool and arguments, because there was no call id",
}

TURN_BEGAN: Mapping[str, str] = {
    "prompt": "the user's prompt began it",
    "event": "a call began it, because no turn was open",
    "limit": "the part before it was full",
    "recovery": "a recovery needed it",
}

TURN_ENDED: Mapping[str, str] = {
    "stop": "the agent had stopped",
    "next_turn": "the next prompt came",
    "session_end": "the session ended",
    "recovery": "a recovery ended it",
    "limit": "it was full and goes on as the next part",
}

SESSION_ENDED: Mapping[str, str] = {
    "session_end": "the host ended it",
    "recovery": "a recovery closed it after it had been idle",
}

CONFIRMED: Mapping[str, str] = {
    "not needed": "no confirmation needed",
    "signature": "signed approval",
    "telemetry": "unsigned approval from the host's telemetry",
    "inferred": "approval inferred from the execution",
    "refused": "refused",
    "open": "never answered",
    "missing": "approvals missing",
}


def effect(kind: str) -> str:
    """Return what an effect type means; the type itself where this program does not know it."""
    return EFFECTS.get(kind, kind)


def proof(state: str) -> str:
    """Return what a proof state means."""
    if state == "proved":
        return "proved from the call itself"
    reason = state.removeprefix("unresolved(").removesuffix(")")
    return f"not proved ({reason})"


def composition(operator: str, n: int, principals: Iterable[str]) -> str:
    """Return which approvals a composition wants."""
    who = list(principals)
    if operator == "all-of":
        return f"an approval by every one of {listed(who)}"
    if operator == "staged":
        return f"approvals in this order: {', then '.join(who)}"
    if operator == "any-of":
        return f"approvals by {n} of {listed(who)}"
    return f"{operator} of {listed(who)}"


def prompt(key: str) -> str:
    """Return which prompt a turn's key means."""
    if key == "#0":
        return "before any prompt"
    return f"prompt number {key[1:]}" if key.startswith("#") else f"prompt {key}"


def listed(items: list[str]) -> str:
    """Return items as a list in a sentence: ``a, b and c``."""
    if not items:
        return "nobody"
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def short(digest: str) -> str:
    """Return the beginning of a digest or key, enough to find it by."""
    prefix, _, digits = digest.rpartition(":")
    return f"{prefix}:{digits[:12]}…" if prefix else digits[:12]
