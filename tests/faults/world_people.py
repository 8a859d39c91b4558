"""People who approve and refuse what a world's sessions want to do."""

from typing import Any

import pytest
from approved import key
from consent import Matter
from world_sessions import Call, Sessions

from toolgate.errors import InputError
from toolgate.ledger.settle import Shown
from toolgate.ledger.told import Told


class People(Sessions):
    """Sessions, and the people who answer what they ask."""

    def attempt(
        self, process: int, session: str, action_class: str, args: str, before: Call | None
    ) -> None:
        """Try a call of a composed class, or the one that waits once more."""
        call = before or Call(session, self._fresh(), action_class, args, "", "", "")
        matter = self._matter(call)
        done = self._at(process, session).attempt(call.id, action_class, args=args)
        chosen = matter.met_by(matter.standing(None, call.rests_on))
        assert done.allowed is bool(chosen), "the writer and the people count differently"
        self._enter(process, session)
        matter.use(chosen)
        call.rests_on = tuple(item.entry for item in chosen)
        self._decided(call, "allowed" if chosen else "denied", done.decision_digest)

    # -- approvals

    def _matter(self, call: Call) -> Matter:
        name = (call.session, call.action_class, call.args)
        return self.matters.setdefault(name, Matter(call.action_class))

    def approve(self, process: int, session: str, by: str, matter: tuple[str, str], verdict: str):
        """Approve or refuse calls before they are tried."""
        action_class, args = matter
        one = self._matter(Call(session, "", action_class, args, "", "", ""))
        desk = self._at(process, session, exact=True)
        approves = verdict == "approve"

        def give() -> str:
            signer = self.signers[by]
            return desk.approve(by, action_class, args=args, signer=signer, verdict=verdict)

        if not one.may_give(by, None, approves):
            with pytest.raises(InputError):
                give()
            return
        after = one.previous(by, None) if approves else None
        one.give(give(), by, approves, None, after)

    def answer(self, process: int, call: Call, by: str, verdict: str) -> None:
        """Answer an ask with a signature."""
        held, matter = self.place(call.session), self._matter(call)
        desk, approves = self._at(process, call.session, exact=True), verdict == "approve"

        def give() -> Any:
            more = {"action_class": call.action_class, "verdict": verdict}
            signer = self.signers[by]
            return desk.answer(by, call.id, call.event, args=call.args, signer=signer, **more)

        if not held.open or not matter.may_give(by, call.event, approves):
            with pytest.raises(InputError):
                give()
            return
        after = matter.previous(by, call.event) if approves else None
        given = give()
        matter.give(given.entry, by, approves, call.event, after)
        chosen = matter.met_by(matter.standing(call.event)) if approves else []
        assert (given.decision_digest is not None) is bool(chosen or not approves)
        if given.decision_digest is not None:
            self._enter(process, call.session)
            matter.use(chosen)
            call.rests_on = tuple(item.entry for item in chosen)
            state = "allowed" if approves else "denied"
            told = {"told": call.told, "by": "signature"}
            self._decided(call, state, given.decision_digest, **told)

    def report_answer(self, process: int, call: Call, approved: bool) -> None:
        """Report what the host's user said; nobody signed that.

        It waits while the session was written last by a process whose clock is ahead.
        """
        held = self.place(call.session)
        desk, was_open, last = self._at(process, call.session), held.open, self._last_ts(held)
        self.count += 1
        told = Told(approved, "user:dev", f"{self.count:032x}")
        seen = Shown(call.event, call.id, None, told)
        ts = desk.tick()
        (done,) = desk.ledger.settle(call.session, shown=[seen], ts=ts)
        assert (done == "busy") is (was_open and last > ts)
        if done == "busy":
            (done,) = desk.ledger.settle(call.session, shown=[seen], ts=self._later())
        if call.state != "asked" or call.end:
            assert done == "known"
        elif approved and self._matter(call).composed:
            assert done == ("known" if f"yes {call.event}" in call.said else "collected")
            call.said.add(f"yes {call.event}")
        else:
            assert done == ("approved" if approved else "refused")
            self._enter(process, call.session)
            state = "allowed" if approved else "denied"
            event = self._latest_event(call)
            self._decided(call, state, event, told=call.told, by="telemetry")
        if not was_open:
            self._closed(held)

    def rotate(self, process: int, by: str) -> None:
        """Replace an approver's key; the old one approves nothing any more."""
        if not (self.root / "policies").exists():
            return
        old, self.count = self.signers[by], self.count + 1
        desk = self._at(process, "", exact=True)
        new = f"{by} {self.count}"
        desk.ledger.rotate_approver(by, old=key(old), new=key(new), ts=desk.tick())
        self.signers[by] = new
        desk.session = "anywhere"
        with pytest.raises(InputError, match="is not a key of"):
            desk.approve(by, "pay", signer=old)
