"""What really happens to the calls of a world's sessions, and who reports it."""

from world_people import People
from world_sessions import NOT_RUN, Call, Place, Stray

from toolgate.canonical import digest, digest_of
from toolgate.ledger.calls import Report
from toolgate.ledger.settle import Shown
from toolgate.verify.endings import Ending


class Ends(People):
    """Sessions and people, and what became of the calls."""

    # -- ends

    def outcome(
        self, process: int, call: Call, terminal: str, *, other_args: bool, by_content: bool
    ) -> None:
        """Report how a call ended; what really happened to it, if that is settled."""
        held = self.place(call.session)
        if call.ran:
            terminal = call.ran
        args = digest(b"other") if other_args else call.ran_with or digest_of(call.args)
        by_content = by_content and self._by_content(held, call) is call and not other_args
        done = self._at(process, call.session).outcome(
            call.id,
            terminal,
            tool=call.tool,
            args_digest=args,
            result_digest=None if terminal == "refused" else call.result,
            **({"call": None} if by_content else {}),
        )
        self._ended(process, call, terminal, args, done)

    def _by_content(self, held: Place, call: Call) -> Call | None:
        """Return the latest call that waits with the arguments and the tool of one."""
        found = None
        for other in held.calls.values():
            if (other.args, other.tool, other.end) == (call.args, call.tool, ""):
                found = other
        return found

    def _ended(self, process: int, call: Call, terminal: str, args: str, done: str) -> None:
        held, ran = self.place(call.session), terminal not in NOT_RUN
        if call.end not in ("", "unresolved"):
            if call.end != terminal:
                result = None if terminal == "refused" else call.result
                stated = f"unmatched {args} {result}"
                assert done == ("repeated" if stated in call.said else "unmatched")
                self.unmatched += stated not in call.said
                call.said.add(stated)
                return
            assert done == "repeated"
        if ran and args != digest_of(call.args) and not (done == "repeated" and args in call.said):
            self.differ += 1
            call.said.add(args)
        if done == "repeated":
            return
        self.outcomes[terminal] += 1
        if ran:
            call.ran, call.ran_with = terminal, args
        if call.end == "unresolved":
            assert done == "superseded"
        elif call.state == "asked" and ran:
            assert done == "inferred"
            self._enter(process, call.session)
            event = self._latest_event(call)
            self._decided(call, "allowed", event, told=call.told, by="inferred")
            self.unmet += self._matter(call).composed
        elif call.state == "denied" and ran:
            assert done == "after_deny"
            self.after_deny += held.executes
        else:
            assert done in ("outcome", "late")
        self.in_run += ran and not held.executes
        call.end = terminal

    def run_unseen(self, call: Call, terminal: str) -> None:
        """Let a call run, and its hook die before it can say so."""
        call.ran = terminal
        call.ran_with = digest_of(call.args)

    def stray(self, process: int, session: str, *, with_id: bool, reported: bool) -> None:
        """Let a call run that nobody decided."""
        name = self._fresh()
        one = Stray(session, name if with_id else None, digest(name.encode()))
        self.strays.append(one)
        if reported:
            done = self._at(process, session).outcome(name, call=one.call, args_digest=one.args)
            assert done == "unmatched"
            one.stated = 1
            self.unmatched += 1

    def reconcile(self, process: int, endings: list[Ending]) -> None:
        """Write the ends a trace shows and the ledger does not have."""
        for ending in endings:
            held = self.place(ending.session)
            desk, was_open = self._at(process, ending.session), held.open
            report = Report(**{name: getattr(ending, name) for name in Report._fields})
            seen = Shown(ending.decided, ending.call, report)
            (done,) = desk.ledger.settle(ending.session, shown=[seen], ts=self._later())
            if ending.decided is None:
                assert done == "unmatched"
                known = next(one for one in self.strays if one.args == ending.args_digest)
                known.stated = 1
                self.unmatched += 1
                continue
            call = held.calls[str(ending.call)]
            self._ended(process, call, ending.terminal_state, ending.args_digest, done)
            if not was_open:
                self._closed(held)
