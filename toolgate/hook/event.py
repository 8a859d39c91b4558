"""A host's event, whatever host it came from."""

from typing import NamedTuple

from toolgate.gate.call import ToolCall


class Event(NamedTuple):
    """One event of a session.

    Args:
        kind: ``pre`` (a call asks to run), ``outcome`` (a call has ended or was
            refused), ``prompt``, ``stop``, ``session_start``, ``session_end``
            or ``other``.
        session: the host's session id.
        key: prompt or turn id, if the host has one.
        call: the call, for ``pre`` and ``outcome``.
        terminal_state: how the call ended, for ``outcome``.
        result_digest: digest of what it gave back; None for ``refused``.
        prompt: what the user wrote, for ``prompt``.
        transcript: the host's own record of the session, "" where it names none.
    """

    kind: str
    session: str
    key: str | None
    call: ToolCall | None = None
    terminal_state: str = ""
    result_digest: str | None = None
    prompt: str = ""
    transcript: str = ""
