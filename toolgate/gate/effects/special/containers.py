"""Containers: what a ``run`` mounts, which rights it takes, what it starts."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

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


def docker_run(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of starting a container: rights over the host, mounts, code."""
    rest = parsed.rest or parsed.operands
    image = rest[0].text if rest else name
    made = [Effect("exec.code", "outside", image, True, unresolved("container"), name, "container")]
    for option, value in parsed.options:
        text = value.text if value is not None else ""
        if _reaches_host(option, text):
            made.append(Effect("proc.privilege", "system", image, True, PROVED, name, option[2:]))
        if option in ("-v", "--volume") and value is not None:
            source, _, rights = value.text.partition(":")
            made += _mount(reader, source, rights.endswith(":ro"), name, command)
        if option == "--mount" and value is not None:
            fields = dict(part.partition("=")[::2] for part in value.text.split(","))
            source = fields.get("source", fields.get("src", ""))
            read_only = "readonly" in fields or "ro" in fields
            made += _mount(reader, source, read_only, name, command)
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
    if not source.startswith((".", "/", "~", "\x00")):
        return []  # a named volume
    path = reader.paths.resolve(source, command.cwd)
    if path.endswith("docker.sock"):
        return [Effect("proc.privilege", "system", path, True, PROVED, name, "socket")]
    kind = "fs.read" if read_only else "fs.write"
    return reader.touch(kind, Word(source), command, name, ("mount",))
