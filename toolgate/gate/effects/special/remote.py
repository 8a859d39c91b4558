"""Other machines: ssh and the HTTP interface of forges."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import flow
from toolgate.gate.effects.hosts import host_of, scope_of
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

_TUNNELS = ("-L", "-R", "-D", "-W", "-w")
_READS = ("get", "head")
_LOOKS = ("inspect", "fs.read", "net.fetch")


def remote_shell(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of a command on another machine, where no path is ours."""
    for option, value in parsed.options:
        if option == "-o" and value is not None and "command=" in value.text.lower():
            return [reader.unknown("proxy-command", name)]
    rest = parsed.rest
    if not rest:
        return []
    host = host_of(rest[0].text)
    scope = scope_of(host, reader.settings)
    elsewhere = Effect(
        "exec.code", scope, host, True, unresolved("remote-host"), name, "remote-host"
    )
    words = rest[1:]
    if not words:
        # The account of that name serves git, and greets whoever asks for more (ssh -T git@HOST).
        greets = rest[0].text.startswith(("git@", "ssh://git@")) and not parsed.has(_TUNNELS)
        asks = greets and not flow.has_standard_input(command) and not reader.fed
        return [reader.net("net.fetch", rest[0].text, name)] if asks else [elsewhere]
    text = " ".join(word.text for word in words)
    if HOLE in text:
        return [elsewhere, reader.code_not_known(name)]
    made = reader.inner(text, inside="remote-host")
    # Entering a container over there is what the command in it does.
    within = [effect for effect in made if not _enters_container(effect)]
    if scope != "unknown" and within and all(effect.type in _LOOKS for effect in within):
        return within  # read whole: it only looks over there
    return [elsewhere, *made]


def _enters_container(effect: Effect) -> bool:
    entered = effect.type == "exec.code" and effect.how == "container"
    return entered and effect.program.endswith(" exec")


def gh_api(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return whether a call of the forge's interface reads or changes."""
    method = parsed.value("-X", "--method")
    fields = parsed.has(["-f", "--raw-field", "-F", "--field", "--input"])
    verb = method.text.lower() if method is not None else ("post" if fields else "get")
    path = parsed.operands[0].text if parsed.operands else name
    told = Effect("inspect", "outside", path, True, PROVED, name)  # what others wrote
    if verb in _READS:
        return [told]
    if path.strip("/") == "graphql" and method is None:
        query = " ".join(value.text for _, value in parsed.options if value is not None)
        if "mutation" not in query and HOLE not in query:
            return [told]
    kind = "infra.destroy" if verb == "delete" else "msg.send"
    return [Effect(kind, "outside", path, kind != "infra.destroy", PROVED, name, verb)]
