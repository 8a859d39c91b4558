"""A session for tests: each call is decided on what went before it, and then has run."""

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.decision import LEDGER_STATE, Decision
from toolgate.gate.engine import Gate
from toolgate.gate.facts.history import Decided, History
from toolgate.gate.recorded import effects_json, resource_ref

CWD, HOME = "/home/dev/app", "/home/dev"
SALT = b"x" * 32


class Session:
    """A session of one gate."""

    def __init__(self, gate: Gate, *, kept_shell: bool = False) -> None:
        self.gate = gate
        self.place = Place(CWD, (CWD,), HOME, kept_shell=kept_shell)
        self.count = 0
        self.turn = 1
        self.history = History(lambda path: resource_ref(path, SALT))

    def __call__(self, command="", *, ending="ok", tool="Bash", tool_input=None) -> Decision:
        """Decide a call, and let it end; with ``ending=None`` its outcome is not known yet."""
        call = ToolCall(
            host="test",
            session="s",
            key=None,
            call="c",
            agent=("main",),
            principal="user:dev",
            auth_mode="user",
            tool=tool,
            input={"command": command} if tool_input is None else tool_input,
            place=self.place,
            mode="default",
            task=None,
            ts=0,
        )
        decision = self.gate.decide(call, self.history)
        self.count += 1
        name = f"e{self.count}"
        effects = effects_json(decision.effects, SALT)
        self.history.decided(
            Decided(name, name, name, tool, LEDGER_STATE[decision.state], self.turn, effects)
        )
        if ending is not None:
            self.history.ended(ending)
        return decision

    def write(self, path, content, ending="ok") -> Decision:
        """Let the session write a file of the workspace."""
        path = path if path.startswith("/") else f"{CWD}/{path}"
        tool_input = {"file_path": path, "content": content}
        return self(tool="Write", tool_input=tool_input, ending=ending)

    def edit(self, path, new, ending="ok") -> Decision:
        """Let the session replace a piece of a file of the workspace."""
        tool_input = {"file_path": f"{CWD}/{path}", "old_string": "a", "new_string": new}
        return self(tool="Edit", tool_input=tool_input, ending=ending)

    def next_turn(self, turns=1) -> None:
        """Let prompts pass."""
        self.turn += turns
        self.history.turn(self.turn)


def codes(decision: Decision) -> set[str]:
    """Return the codes of a decision's facts."""
    return {fact.code for fact in decision.facts}
