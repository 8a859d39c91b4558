"""A tool call as the gate sees it, and the place it would run in."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from toolgate.gate.task.task import Task


class Place(NamedTuple):
    """Where paths of a call are resolved. All paths are absolute, without a trailing slash.

    Args:
        cwd: working directory of the call; "" when the host did not say.
        roots: workspace roots; the cwd alone when the host names none.
        home: the user's home directory; "" when unknown.
        temp: directories whose content nobody keeps.
        gate: paths that belong to the gate and the agent's own settings.
        disposable: folders below a root that the caller knows can be made again, such as
            those that git ignores and holds nothing of.
        kept_shell: whether the host runs each call in the same shell, so that aliases,
            functions and variables outlive the call that sets them.
    """

    cwd: str
    roots: tuple[str, ...]
    home: str
    temp: tuple[str, ...] = ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm")
    gate: tuple[str, ...] = ()
    disposable: tuple[str, ...] = ()
    kept_shell: bool = False


class ToolCall(NamedTuple):
    """One call of one tool, before it runs.

    Args:
        host: the host adapter's name.
        session: the host's session id.
        key: prompt or turn id the call belongs to, if the host has one.
        call: the host's call id, if it has one.
        agent: the agent chain, outermost first.
        principal: who the call runs for.
        auth_mode: one of ``records.AUTH_MODES``.
        tool: the tool's name.
        input: the tool's input, as parsed JSON.
        place: where it would run.
        mode: the host's permission mode, if it says one.
        task: what the user asked for, if that comes with the call.
        ts: when the call was received, microseconds UTC.
    """

    host: str
    session: str
    key: str | None
    call: str | None
    agent: tuple[str, ...]
    principal: str
    auth_mode: str
    tool: str
    input: dict[str, Any]
    place: Place
    mode: str | None
    task: "Task | None"
    ts: int
