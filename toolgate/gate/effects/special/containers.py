"""Containers: what a ``run`` mounts, which rights it takes, what it starts."""

from typing import NamedTuple

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.facts.session import PART_MARK
from toolgate.gate.shell.model import HOLE, Command, Word

_MOST_MOUNTS = 32
_HOST_PATHS = (".", "/", "~", HOLE)
_ACCESS = ("recursive", "force", "append", "truncate", "in-place", "extract", "move", "glob")
# Effects of a command in a container that reach beyond it.
_OUTSIDE = (
    "net.send",
    "net.fetch",
    "net.shell",
    "vcs.",
    "db.",
    "infra.",
    "deploy.",
    "msg.",
    "pay.",
)
_HOST_SPACES = ("--pid", "--ipc", "--userns", "--cgroupns", "--uts", "--network", "--net")
# Options that reach out of the container whatever their value.
_HOST_RIGHTS = ("--privileged", "--device", "--device-cgroup-rule", "--volumes-from")
_HARMLESS_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/fuse")
# Capabilities that stay inside the container's own namespaces.
_TAME_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "FOWNER",
        "FSETID",
        "IPC_LOCK",
        "KILL",
        "NET_BIND_SERVICE",
        "NET_RAW",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
        "SYS_NICE",
        "SYS_RESOURCE",
    )
)


class _Mount(NamedTuple):
    """A folder of the host inside a container."""

    source: str
    target: str
    read_only: bool


def docker_run(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of starting a container: rights over the host, mounts, code."""
    rest = parsed.rest or parsed.operands
    mounts: list[_Mount] = []
    image = rest[0].text if rest else name
    made = [Effect("exec.code", "outside", image, True, unresolved("container"), name, "container")]
    for option, value in parsed.options:
        text = value.text if value is not None else ""
        if _reaches_host(option, text):
            made.append(Effect("proc.privilege", "system", image, True, PROVED, name, option[2:]))
        if option in ("-v", "--volume") and value is not None:
            source, _, rights = value.text.partition(":")
            made += _mount(reader, source, rights.endswith(":ro"), name, command)
            mounts.append(_Mount(source, rights.partition(":")[0], ":ro" in rights))
        if option == "--mount" and value is not None:
            fields = dict(part.partition("=")[::2] for part in value.text.split(","))
            source = fields.get("source", fields.get("src", ""))
            read_only = "readonly" in fields or "ro" in fields
            made += _mount(reader, source, read_only, name, command)
            target = fields.get("target", fields.get("dst", fields.get("destination", "")))
            mounts.append(_Mount(source, target, read_only))
    return [*made, *_inside(reader, parsed, rest, mounts, name, command)]


def _inside(
    reader: Reading,
    parsed: Parsed,
    rest: tuple[Word, ...],
    mounts: list[_Mount],
    name: str,
    command: Command,
) -> list[Effect]:
    """Return what the command in the container does outside of it: to mounts, and to others."""
    entrypoint = parsed.value("--entrypoint")
    words = (*((entrypoint,) if entrypoint is not None else ()), *rest[1:])
    if not words:
        return []
    workdir = parsed.value("-w", "--workdir")
    cwd = workdir.text if workdir is not None else ""
    inner = command._replace(words=words, cwd=cwd, assigns=(), redirects=())
    made: list[Effect] = []
    if len(mounts) > _MOST_MOUNTS:
        return [reader.unknown("too-many-mounts", name)]
    there = reader.elsewhere("container", cwd)
    there.files.noted = reader.files.may_know or reader.files.noted
    for effect in there.invoke(words, inner):
        if effect.type.startswith("fs.") or effect.type == "secret.read":
            made += _through_mounts(reader, effect, mounts, name, command)
        elif reaches_out(effect):
            made.append(effect)
    for path in list(there.files.runs):
        made += _run_through_mounts(reader, path, mounts, name, command)
    return made


def _run_through_mounts(
    reader: Reading, path: str, mounts: list[_Mount], name: str, command: Command
) -> list[Effect]:
    """Return what a file of a mounted folder does in a container that earlier calls have written.

    What it does to home and system is the container's own.
    """
    made: list[Effect] = []
    for mount in mounts:
        below = _below(path, mount)
        if below is None or not mount.source.startswith(_HOST_PATHS):
            continue
        file, mark, part = (mount.source.rstrip("/") + below).partition(PART_MARK)
        host = reader.paths.resolve(file or "/", command.cwd) + mark + part
        made += [effect for effect in reader.run_known(host, name) or [] if _stays(effect)]
    return made


def _stays(effect: Effect) -> bool:
    """Say whether what a file does when it is run here is also done from inside a container."""
    if effect.type.startswith(("fs.", "secret.")):
        return effect.scope not in ("home", "system")
    return reaches_out(effect) or not {"unknown", "stdin"}.isdisjoint(effect.how.split())


def _below(path: str, mount: _Mount) -> str | None:
    """Return the path of a file of a container below a mount; None where it lies elsewhere."""
    target = mount.target.rstrip("/")
    if path == target or path.startswith(target + "/"):
        return path[len(target) :]
    if path.startswith(HOLE + "/"):
        return path[1:]  # from the image's own directory, which may be the mount
    return None


def reaches_out(effect: Effect) -> bool:
    """Say whether an effect of a command in a container reaches beyond it, mounts aside."""
    return effect.type.startswith(_OUTSIDE) or "remote" in effect.how.split()


def _through_mounts(
    reader: Reading, effect: Effect, mounts: list[_Mount], name: str, command: Command
) -> list[Effect]:
    marks = tuple(mark for mark in effect.how.split() if mark in _ACCESS)
    kind = "fs.read" if effect.type == "secret.read" else effect.type
    path = effect.resource
    sweeps = kind == "fs.delete" and bool({"recursive", "glob"} & set(marks))
    made: list[Effect] = []
    for mount in mounts:
        if not mount.source.startswith(_HOST_PATHS) or (mount.read_only and kind != "fs.read"):
            continue
        below = _below(path, mount)
        if below is None:
            if not (sweeps and mount.target.rstrip("/").startswith(path.rstrip("/") + "/")):
                continue
            below = ""  # a folder that holds the mount
        word = Word(mount.source.rstrip("/") + below or "/", glob="glob" in marks)
        access = tuple(mark for mark in marks if mark != "glob")
        made += reader.touch(kind, word, command, name, access)
    return made


def _reaches_host(option: str, value: str) -> bool:
    if option in ("--device", "--device-cgroup-rule"):
        return value.partition(":")[0] not in _HARMLESS_DEVICES
    if option == "--privileged":
        return value.lower() not in ("false", "0")
    if option in _HOST_RIGHTS:
        return True
    if option in _HOST_SPACES:
        return value == "host" or value.startswith(("container:", "ns:")) or HOLE in value
    if option == "--cap-add":
        names = value.upper().replace("CAP_", "").split(",")
        return any(one not in _TAME_CAPABILITIES for one in names)
    if option == "--security-opt":
        folded = value.lower().replace(":", "=")
        return folded.endswith(("=unconfined", "=disable")) or HOLE in value
    return False


def _mount(
    reader: Reading, source: str, read_only: bool, name: str, command: Command
) -> list[Effect]:
    if not source.startswith(_HOST_PATHS):
        return []  # a named volume
    path = reader.paths.resolve(source, command.cwd)
    if path.endswith("docker.sock"):
        return [Effect("proc.privilege", "system", path, True, PROVED, name, "socket")]
    kind = "fs.read" if read_only else "fs.write"
    return reader.touch(kind, Word(source), command, name, ("mount",))
