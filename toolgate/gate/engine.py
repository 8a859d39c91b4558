"""From a call to a decision. Pure: the same call and policy give the same decision."""

from collections.abc import Callable
from posixpath import basename
from typing import TYPE_CHECKING

from toolgate.errors import InputError, PolicyError
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import Catalog
from toolgate.gate.decision import ALLOW, ASK, COMPOSITION, DENY, Decision, Fact
from toolgate.gate.effects.model import MARK, PROVED, Effect
from toolgate.gate.effects.paths import Paths, region
from toolgate.gate.effects.reading import TOUCHES, Files
from toolgate.gate.effects.shell import Reader
from toolgate.gate.effects.tools import SHELL_TOOLS, effects_of_tool, text_field
from toolgate.gate.facts.session import NOTHING, PART_MARK, Session
from toolgate.gate.policy.evaluate import Known, Verdict, evaluate, nothing_known, unattended
from toolgate.gate.policy.model import Policy
from toolgate.gate.shell.model import HOLE
from toolgate.gate.shell.work import SPENT, SpentError, Work
from toolgate.records import MAX_EFFECTS

if TYPE_CHECKING:
    from toolgate.gate.effects.trace import Node
    from toolgate.gate.kept import KeptTexts
    from toolgate.gate.readings import Reading
    from toolgate.gate.shell.opinion import Names
    from toolgate.gate.task.task import Task

Second = Callable[[str], "Names | str"]
MAX_SECOND_READINGS = 4
_SENTENCE_RESOURCE = 160
_MAX_PLACES = 32
GATE_FAULT = "gate-fault"
"""Rule name of a deny because reading the call failed inside the gate."""


def _none(text: str) -> "Names | str":
    return "second-reader-missing"


class Gate:
    """Decides calls under one policy.

    Args:
        policy: the compiled policy.
        catalog: the catalogue it was compiled with.
        second: another parser's reading of a shell text, or why there is none. It
            is asked where the answer would be allow and the text has a form that
            the grammar is known to misread in silence.

    Raises:
        PolicyError: the policy was compiled with another catalogue.
    """

    def __init__(self, policy: Policy, catalog: Catalog, second: Second = _none) -> None:
        if policy.catalog != catalog.digest:
            raise PolicyError(
                policy.name,
                [f"compiled with catalogue {policy.catalog}, but this one is {catalog.digest}"],
            )
        self.policy = policy
        self.catalog = catalog
        self._second = second
        self._paths: dict[tuple[object, ...], Paths] = {}
        self._last: tuple[Place, Paths] | None = None
        self._texts: KeptTexts | None = None
        self._begun = False

    @property
    def policy_digest(self) -> str:
        """Return the digest every decision carries."""
        return self.policy.digest

    @property
    def policy_bytes(self) -> bytes:
        """Return the compiled policy."""
        return self.policy.data

    def effects(self, call: ToolCall) -> tuple[Effect, ...]:
        """Return what a call would do that is the first of its session.

        Raises:
            InputError: the tool's input lacks a field the tool cannot do without.
        """
        return self._effects(call, Files(), nothing_known)

    def _read(
        self,
        call: ToolCall,
        files: Files,
        known: Known,
        session: Session,
        may_pass: tuple[str, ...],
    ) -> tuple[Effect, ...]:
        """Return what a call would do, as it was read before where that still holds."""
        texts = self._kept_texts() if call.tool in SHELL_TOOLS else None
        if texts is None:
            return self._effects(call, files, known, may_pass)
        text = text_field(call, "command")
        found = texts.find(text, call.place, session)
        if found is None:
            readers: list[Reader] = []
            found = self._effects(call, files, known, may_pass, readers)
            if not any(reader.doubtful for reader in readers):
                # What another parser is asked depends on the answer, and so on more than these.
                texts.keep(text, call.place, session, found, files)
        return found

    def _kept_texts(self) -> "KeptTexts | None":
        """Return the texts read before; a process that decides one call has none."""
        if self._texts is None and self._begun:
            from toolgate.gate.kept import KeptTexts

            self._texts = KeptTexts()
        self._begun = True
        return self._texts

    def _effects(
        self,
        call: ToolCall,
        files: Files,
        known: Known,
        may_pass: tuple[str, ...] = (ALLOW,),
        readers: list[Reader] | None = None,
    ) -> tuple[Effect, ...]:
        """Return what a call would do, and add who has read it to ``readers``."""
        readers = [] if readers is None else readers
        work = Work()

        def reader(known: Files) -> Reader:
            readers.append(self._reader(call.place, known, work))
            return readers[-1]

        settings, mcp = self.policy.settings, self.policy.mcp
        if call.tool in SHELL_TOOLS:
            made = reader(files).effects(text_field(call, "command"))
        else:
            try:
                made = effects_of_tool(call, settings, mcp, lambda: reader(files), files)
            except SpentError:
                made = [reader(files).unknown(SPENT, call.tool)]
        doubtful = [one for one in readers if one.doubtful]
        if doubtful and self._decides(call, tuple(made), known) in may_pass:
            made += [effect for one in doubtful for effect in self._doubts(one)]
        if files.written:
            from toolgate.gate.effects.contained import Content

            content = Content(reader, call.place.roots[0] if call.place.roots else call.place.cwd)
            made += content.effects(files, MAX_EFFECTS - len(dict.fromkeys(made)))
        return tuple(made)

    def _decides(self, call: ToolCall, effects: tuple[Effect, ...], known: Known) -> str:
        return evaluate(self.policy, call.tool, effects, known, call).rule.decide

    def _doubts(self, reader: Reader) -> list[Effect]:
        """Return an effect for each doubtful text that a second parser reads otherwise, or not."""
        from toolgate.gate.shell.opinion import difference

        made: list[Effect] = []
        for text, script in dict(reader.doubtful[:MAX_SECOND_READINGS]).items():
            theirs = self._second(text)
            if isinstance(theirs, str):
                made.append(reader.unknown(theirs, "shell"))
            elif readings := difference(script, theirs):
                made.append(reader.unknown("readings-differ", "shell", readings))
        if len(reader.doubtful) > MAX_SECOND_READINGS:
            made.append(reader.unknown("second-reader-too-long", "shell"))
        return made

    def _reader(self, place: Place, files: Files, work: Work) -> Reader:
        """Return a reader of shell text that would run at a place."""
        paths = self._paths_at(place)
        settings = self.policy.settings
        return Reader(place, settings, self.catalog, paths=paths, files=files, work=work)

    def _paths_at(self, place: Place) -> Paths:
        """Return the reading of paths at a place; calls of one workspace share it."""
        last = self._last
        if last is not None and last[0] is place:
            return last[1]
        key = region(place)
        found = self._paths.get(key)
        if found is None:
            if len(self._paths) >= _MAX_PLACES:
                self._paths.clear()
            found = self._paths[key] = Paths(place, self.policy.settings)
        self._last = (place, found)
        return found

    def decide(
        self,
        call: ToolCall,
        session: Session = NOTHING,
        task: "Task | None" = None,
        readings: "tuple[Reading, ...]" = (),
    ) -> Decision:
        """Return the decision on a call. A call that cannot be read is denied.

        Args:
            call: the call.
            session: what is known of the session before it.
            task: what the user asked for; by default what comes with the call.
            readings: what somebody else has read of the call, such as a judge.
        """
        files = Files(session)
        known = self._known(session, files)
        task = task if task is not None else call.task
        told = bool(readings) or (task is not None and task.said)
        try:
            # What is told may let an ask pass, so an ask is then read a second time as well.
            may_pass = (ALLOW, ASK) if told else (ALLOW,)
            effects = self._read(call, files, known, session, may_pass)
        except InputError as error:
            return self.refusal("input", str(error))
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            # A fault of ours in reading a call; answered by the policy's fail mode and recorded
            # like any other answer.
            return self._failed(call, type(error).__name__)
        verdict = evaluate(self.policy, call.tool, effects, known, call)
        said: tuple[Fact, ...] = ()
        if told and (readings or verdict.rule.decide == ASK or not (task and task.quiet)):
            from toolgate.gate.weighed import weighed

            try:
                verdict, said = weighed(
                    self.policy,
                    call,
                    verdict,
                    effects,
                    known,
                    lambda: self.reading(call, session),
                    task,
                    readings,
                )
            except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
                # A fault of ours in reading the task; what the rules deny stands.
                if verdict.rule.decide != DENY:
                    return self._failed(call, type(error).__name__)
        facts = (*said, *files.facts)
        if verdict.rule.decide != DENY and verdict.action_class in self.policy.composition:
            return self._composed(call, verdict, effects, facts)
        state = unattended(self.policy, verdict.rule.decide, call.mode)
        return Decision(
            state=state,
            rule=verdict.rule.name,
            axis=verdict.rule.axis,
            action_class=verdict.action_class,
            effects=effects,
            facts=facts,
            proof=_proof(effects),
            policy=self.policy.digest,
            sentence=_sentence(call, verdict, state),
            converted=state != verdict.rule.decide,
        )

    def reading(self, call: ToolCall, session: Session = NOTHING) -> "Node | None":
        """Return how a call's shell text is read; None for a tool that is no shell."""
        command = call.input.get("command")
        if call.tool not in SHELL_TOOLS or not isinstance(command, str):
            return None
        from toolgate.gate.effects.trace import reading_of

        paths = self._paths_at(call.place)
        return reading_of(
            command, call.place, self.policy.settings, self.catalog, session, paths=paths
        )

    def _known(self, session: Session, files: Files) -> Known:
        """Return what says whether a fact is known, and keeps it as one the decision rests on."""

        def known(code: str) -> bool:
            turns = self.policy.turns.get(code)
            if turns is None:
                return any(fact.code == code for fact in files.facts)
            entry = session.has(code, turns)
            files.rest_on(code, entry)
            return entry is not None

        return known

    def _composed(
        self,
        call: ToolCall,
        verdict: Verdict,
        effects: tuple[Effect, ...],
        facts: tuple[Fact, ...],
    ) -> Decision:
        """Return the deny of an action that needs approvals, as long as none are cited.

        Whoever holds the approvals (the hook, from the ledger) lifts it.
        """
        action_class = verdict.action_class
        who = self.policy.approvers(action_class).phrase()
        what = _phrase(verdict.effect) if verdict.effect is not None else call.tool
        return Decision(
            state=DENY,
            rule=COMPOSITION,
            axis=verdict.rule.axis,
            action_class=action_class,
            effects=effects,
            facts=facts,
            proof=_proof(effects),
            policy=self.policy.digest,
            sentence=f"Denied: {what}; {who} actions of class {action_class} (rule {COMPOSITION}).",
        )

    def _failed(self, call: ToolCall, name: str) -> Decision:
        """Return the answer where the gate itself fails, as the policy's fail mode says."""
        asked = self.policy.fail_mode
        state = unattended(self.policy, asked, call.mode)
        answer = "Asking first" if state == ASK else "Denied"
        sentence = f"{answer}: the gate failed to read the call ({name})." + _nobody(
            call, asked, state
        )
        return self.refusal(GATE_FAULT, sentence)._replace(state=state, converted=state != asked)

    def refusal(self, rule: str, sentence: str) -> Decision:
        """Return a deny for a call that could not be judged."""
        return Decision(
            DENY,
            rule,
            None,
            "other",
            (),
            (),
            "unresolved(not-judged)",
            self.policy.digest,
            sentence,
        )


def _proof(effects: tuple[Effect, ...]) -> str:
    """Return the proof state of the first effect that is not proved, if there is one."""
    for effect in effects:
        if effect.proof != PROVED:
            return effect.proof
    return PROVED


def _sentence(call: ToolCall, verdict: Verdict, state: str) -> str:
    rule, effect = verdict.rule, verdict.effect
    answer = _ANSWERS[state]
    what = _phrase(effect) if effect is not None else call.tool
    text = f"{answer}: {what}; {rule.because} (rule {rule.name})."
    return text + _nobody(call, rule.decide, state)


def _nobody(call: ToolCall, asked: str, state: str) -> str:
    """Say why an ask is none, where nobody can be asked."""
    return (
        "" if state in (asked, ALLOW) else f" In permission mode {call.mode} nobody can be asked."
    )


_ANSWERS = {"allow": "Allowed", "ask": "Asking first", "deny": "Denied"}
_WOULD = {
    "net.send": "send data out",
    "net.shell": "hand a shell to the network",
    "net.listen": "open a port",
    "fs.delete": "delete files",
    "fs.write": "write files",
    "fs.permission": "change permissions",
    "secret.read": "read a secret",
    "secret.print": "print a secret",
    "secret.persist": "copy a secret",
    "exec.code": "run other code",
    "vcs.publish": "push commits",
    "vcs.discard": "throw away work",
    "vcs.history_rewrite": "rewrite history",
    "proc.kill": "end processes",
    "proc.privilege": "take other rights",
    "gate.tamper": "change this gate",
    "sys.startup": "make something run by itself",
}


def _phrase_of_stored(effect: Effect) -> str:
    """Say what running a file would do that was written earlier."""
    whole, _, part = effect.resource.partition(PART_MARK)
    name = basename(whole.replace(HOLE, "…"))[:_SENTENCE_RESOURCE]
    target = part.partition(PART_MARK)[0]
    of = f" ({target[:_SENTENCE_RESOURCE]})" if target not in ("", TOUCHES) else ""
    marks = effect.how.split()
    if effect.type == "net.send" and "secret" in marks:
        would = "send a secret out"
    elif effect.type == "exec.code" and "remote" in marks:
        would = "run code straight from the network"
    else:
        would = _WOULD.get(effect.type, f"do {effect.type}")
    runner = f"{effect.program} " if effect.program and effect.program != name else ""
    return (
        f"{runner}runs {name}{of}, written earlier in this session, "
        f"which would {would} ({effect.scope})"
    )


def _phrase(effect: Effect) -> str:
    if MARK in effect.how and MARK in effect.how.split():
        return _phrase_of_stored(effect)
    resource = effect.resource.replace(HOLE, "…")
    if len(resource) > _SENTENCE_RESOURCE:
        resource = resource[:_SENTENCE_RESOURCE] + "…"
    program = f"{effect.program}: " if effect.program and effect.program != resource else ""
    reason = "" if effect.proof == PROVED else f", {effect.proof}"
    return f"{program}{effect.type} {resource} ({effect.scope}{reason})"
