"""The story of one call as text."""

from toolgate.verify.words import counted
from toolgate.views import phrases
from toolgate.views.approvals import APPROVE, SIGNED, Approval
from toolgate.views.moments import lasted, moment
from toolgate.views.sheet import Row, Sheet
from toolgate.views.story import Ending, Judged, Story

_HOW = {
    "not needed": "Nothing had to be confirmed: the policy allows or denies this call by itself.",
    "signature": "Signed approval gave it (the signature is not checked here):",
    "telemetry": "The host's telemetry says that it was given; nobody signed it:",
    "inferred": (
        "Nobody signed an approval. That one was given is only inferred: the call ran after it "
        "had been asked about."
    ),
    "open": "No answer is recorded: no approval, no refusal.",
    "missing": "No decision on this call cites an approval.",
}

_PROBLEM = {
    "missing": "the ledger does not hold the policy's text",
    "altered": "the text the ledger holds has another digest; what it says is left out here",
    "unreadable": "the text the ledger holds is no policy",
}


def story_rows(story: Story, *, width: int, path: str) -> list[Row]:
    """Return the story of a call, line by line.

    Args:
        story: the story.
        width: columns of the terminal.
        path: where the ledger lies, for the command that verifies it.
    """
    sheet = Sheet(width)
    sheet.title(f"{story.tool} call {story.call}: {_in_short(story)}")
    sheet.head("1. Why was this tool called at this step?")
    _step(sheet, story)
    sheet.head("2. Under whose authority?")
    _authority(sheet, story)
    sheet.head("3. What was refused, and on which rule?")
    _ruling(sheet, story)
    sheet.head("4. Which confirmation was required, and what gave it?")
    _confirmation(sheet, story)
    sheet.head("5. What became of it?")
    _became(sheet, story)
    sheet.head("Digests")
    _digests(sheet, story)
    sheet.head("Not checked here")
    sheet.say(
        "This page repeats what the ledger says about one call. It does not check digests, "
        "signatures or the chain, and compares nothing with a trace. To check them:"
    )
    sheet.command(f"toolgate ledger verify {path}")
    return sheet.rows


def _in_short(story: Story) -> str:
    fate = phrases.SHORT_FATES[story.became.fate]
    if story.became.fate in ("denied", "asked"):
        return fate
    first = (
        "asked first, then " if story.confirmation.asked and story.ruling.state != "asked" else ""
    )
    return f"{first}{phrases.STATES[story.ruling.state]}; {fate}"


def _step(sheet: Sheet, story: Story) -> None:
    step = story.step
    part = "" if step.part in (None, 1) else f", part {step.part}"
    sheet.item("session", f"{step.session}{part}, on host {step.host}")
    if not step.executes:
        sheet.item("", "A measuring run: calls are decided and nothing is executed.")
    sheet.item("turn", _turn(story))
    place = f"call {step.position} of {step.calls} in this turn"
    if step.running:
        were = "was" if step.running == 1 else "were"
        place += f"; by the clocks {step.running} {were} still running when it came"
    sheet.item("place", place)
    sheet.item("received", moment(step.received))
    sheet.item("agent", _agent(step.agent))
    sheet.item("started by", _spawn(story))
    sheet.item("it wanted to", "(read by the gate from the call; no path or text is kept here)")
    for one in step.effects:
        times = "" if one.places == 1 else f", {one.places} places"
        undo = "can be undone" if one.reversible else "cannot be undone"
        where = phrases.SCOPES[one.scope]
        text = f"{phrases.effect(one.type)} {where}{times}; {undo}; {phrases.proof(one.proof)}"
        sheet.bullet(f"{text} [{one.type}]")
    if not step.effects:
        sheet.bullet("nothing that could be read from it")
    for fact in step.facts:
        said = fact.code.replace("_", " ")
        sheet.item("considered", f"{said} (entry {phrases.short(fact.entry)})")
    _judged(sheet, step.judged)
    _earlier(sheet, story)
    sheet.say(
        "The model's own words about its reasons are narration. They are no evidence, and this "
        "ledger does not hold them."
    )


def _judged(sheet: Sheet, judged: Judged | None) -> None:
    """Tell what a judge said; its numbers are a model's opinion, and marked as such."""
    if judged is None:
        return
    pin = "" if judged.pinned else ", UNPINNED: its name may mean another model by now"
    kept = "; an earlier answer to the same request" if judged.kept else ""
    sheet.item("judge", f"model {judged.model} ({judged.backend}{pin}){kept}")
    for axis, value in judged.readings:
        sheet.bullet(f"{axis} {value}")
    for axis, why in judged.missing:
        sheet.bullet(f"{axis}: no answer ({why})")
    for what in judged.unseen:
        sheet.bullet(f"it was not shown {what}")
    if judged.fault:
        sheet.bullet(f"it gave no usable answer ({judged.fault})")


def _turn(story: Story) -> str:
    step = story.step
    if step.key is None:
        return f"{step.turn}; the ledger does not hold the entry that opened it"
    part = "" if step.key_part == 1 else f", part {step.key_part}"
    why = phrases.TURN_BEGAN.get(step.began_by or "", step.began_by)
    return f"{step.turn}, {phrases.prompt(step.key)}{part}; {why}"


def _agent(chain: tuple[str, ...]) -> str:
    if len(chain) == 1:
        return chain[0]
    return f"{chain[-1]}, started by {', started by '.join(reversed(chain[:-1]))}"


def _spawn(story: Story) -> str:
    step = story.step
    if step.spawned_by is None:
        return "no other agent's decision, as far as the session's opening says"
    if step.spawn is None:
        return f"decision {phrases.short(step.spawned_by)}, which this ledger does not hold"
    by = step.spawn
    return f"{by.tool} call {by.call} of session {by.session}, by agent {by.agent}: {by.state}"


def _earlier(sheet: Sheet, story: Story) -> None:
    decisions = story.step.decisions
    if len(decisions) == 1:
        sheet.item("decided", f"once, {moment(decisions[0].ts)}")
        return
    roles = {
        "stands": "this decision counts",
        "answered": "the decision that counts answers it",
        "replaced": "replaced: the call was asked about again",
    }
    sheet.item("decided", f"{len(decisions)} times:")
    for one in decisions:
        sheet.bullet(
            f"{moment(one.ts)}, turn {one.turn}: {phrases.STATES[one.state]} by rule {one.rule}; "
            f"{roles[one.role]}"
        )


def _authority(sheet: Sheet, story: Story) -> None:
    held = story.authority
    sheet.item("principal", held.principal)
    sheet.item("with", f"{phrases.AUTH_MODES[held.auth_mode]} [{held.auth_mode}]")
    if held.mode is not None:
        sheet.item("host's mode", held.mode)
    if held.policy_problem:
        name = _PROBLEM[held.policy_problem]
    else:
        name = "it has no name" if held.policy_name is None else held.policy_name
    since = (
        "no entry of the ledger brought it into use"
        if held.announced is None
        else f"in use since spine entry {held.announced}"
    )
    sheet.item("policy", f"{name} ({phrases.short(held.policy)}); {since}")
    if held.author is not None:
        under = held.author.authorizing_policy
        by = "under no other policy" if under is None else f"under policy {phrases.short(under)}"
        key = phrases.short(held.author.key)
        sheet.item("authored by", f"{held.author.name}, {by}, with key {key}, so the policy says")
    elif not held.policy_problem:
        sheet.item("authored by", "the policy does not say")
    sheet.item("decided by", f"program build {phrases.short(held.build)}")


def _ruling(sheet: Sheet, story: Story) -> None:
    rule = story.ruling
    refused = {
        "allowed": "Nothing was refused.",
        "asked": "It was not allowed by itself: somebody had to be asked first.",
        "denied": "The call was refused.",
    }
    if rule.state == "allowed" and story.confirmation.asked:
        sheet.say("Nothing was refused in the end; the rule below made the gate ask first.")
    else:
        sheet.say(refused[rule.state])
    sheet.item("decision", phrases.STATES[rule.state])
    if rule.because is not None:
        why = f": {rule.because}"
    elif story.authority.policy_problem:
        why = "; its reason is not known, because the policy's text is not"
    else:
        why = "; the policy's text does not explain it"
    sheet.item("rule", f"{rule.rule}{why}")
    if rule.nobody_to_ask:
        mode = story.authority.mode
        sheet.item("", f"The rule asks. In permission mode {mode} nobody can be, so it is denied.")
    if rule.axis is not None:
        sheet.item("risk", f"{phrases.AXES.get(rule.axis, rule.axis)} [{rule.axis}]")
    sheet.item("class", f"{rule.action_class} (the policy's name for this kind of action)")
    sheet.item("certainty", phrases.proof(rule.proof))


def _confirmation(sheet: Sheet, story: Story) -> None:
    held = story.confirmation
    if held.asked:
        sheet.item("required", "an answer to the gate's question, before the call runs")
    if held.composition is not None:
        wanted = phrases.composition(*held.composition)
        sheet.item("required", f"{wanted}: the policy wants it for class {_class(story)}")
    elif story.authority.policy_problem:
        sheet.item("", "Whether the policy wants approvals is not known without its text.")
    cited = [one for one in held.approvals if one.cited]
    beside = [one for one in held.approvals if not one.cited]
    if held.how == "refused":
        sheet.say(
            "It was refused:" if cited else "It was refused by the host or its user; see below."
        )
    elif story.ruling.nobody_to_ask:
        sheet.say("An answer would have been needed, and nobody could be asked for it.")
    else:
        sheet.say(_HOW[held.how])
    for one in cited:
        sheet.bullet(_approval(one))
    if beside:
        sheet.say("These speak about the call too; no decision on it rests on them:")
    for one in beside:
        sheet.bullet(_approval(one))


def _class(story: Story) -> str:
    return story.ruling.action_class


def _approval(one: Approval) -> str:
    verb = "approved" if one.verdict == APPROVE else "refused"
    signed = one.evidence == SIGNED and one.key is not None
    by = f"signed with key {phrases.short(one.key or '')}" if signed else "unsigned, by telemetry"
    bound = [
        name
        for name, value in (
            ("this decision", one.decision_digest),
            ("these arguments", one.args_digest),
            (f"session {one.session}", one.session),
            (f"class {one.action_class}", one.action_class),
        )
        if value is not None
    ]
    return (
        f"{one.principal} {verb} at {moment(one.ts)}, {by}; for {phrases.listed(bound)}; "
        f"valid until {moment(one.expiry)} (spine entry {one.seq})"
    )


def _became(sheet: Sheet, story: Story) -> None:
    became = story.became
    fate = phrases.FATES[became.fate]
    sheet.say(fate[0].upper() + fate[1:] + ".")
    for end in became.endings:
        _ending(sheet, story, end)
    for one in became.differences:
        ran = phrases.short(one.ran)
        sheet.item(
            "arguments",
            f"It ran with other arguments ({ran}) than were decided; seen {moment(one.ts)}.",
        )
    for entry in became.unmatched:
        said = f"A report on this call id came that no decision waited for (entry {entry[:19]}…)."
        sheet.item("also", said)
    for turn in became.turns:
        if turn.closed is None:
            sheet.item("turn", f"{turn.turn} is still open: nothing commits to its entries yet")
        else:
            why = phrases.TURN_ENDED[turn.closed_by or ""]
            sheet.item(
                "turn",
                f"{turn.turn} was closed {moment(turn.closed)}, because {why}; that close commits "
                f"to its {counted(turn.entries or 0, 'entry')}",
            )
    _session_end(sheet, story)


def _ending(sheet: Sheet, story: Story, end: Ending) -> None:
    began = story.step.decisions[-1].ts
    timed = end.ts >= began and story.confirmation.how != "inferred"
    took = f", {lasted(end.ts - began)} after the decision" if timed else ""
    replaced = "" if end.stands else "; replaced by a later report"
    sheet.item("outcome", f"{end.terminal_state}, {moment(end.ts)}{took}{replaced}")
    sheet.item("", f"{phrases.SOURCES[end.source]}; {phrases.JOINS[end.join]}")
    if end.turn is None:
        sheet.item("", "It came after its turn was closed and stands on the spine.")
    sheet.item("", f"It commits to decision {phrases.short(end.commits_to)}.")


def _session_end(sheet: Sheet, story: Story) -> None:
    became = story.became
    if became.session_closed is None:
        sheet.item("session", "not closed after this call")
        return
    sheet.item("session", f"closed {moment(became.session_closed)}")
    if became.checkpoint is not None:
        sheet.item("checkpoint", f"spine entry {became.checkpoint} covers that close")


def _digests(sheet: Sheet, story: Story) -> None:
    """List in full what the text above names in short."""
    step, held = story.step, story.authority
    named = [("action", story.action_ref), ("arguments", story.args_digest)]
    if step.spawned_by is not None:
        named.append(("started by", step.spawned_by))
    named += [("considered", fact.entry) for fact in step.facts]
    for one in step.decisions:
        named += [("decision", one.decision), ("its entry", one.entry)]
    named += [("policy", held.policy), ("build", held.build)]
    if held.author is not None:
        named.append(("author's key", held.author.key))
        named.append(("authorized by", held.author.authorizing_policy or ""))
    for approval in story.confirmation.approvals:
        named += [("approval", approval.entry), ("its key", approval.key or "")]
    for end in story.became.endings:
        named += [("outcome", end.entry), ("result", end.result_digest or "")]
    for difference in story.became.differences:
        named += [("ran with", difference.ran), ("seen in entry", difference.entry)]
    named += [("unmatched", entry) for entry in story.became.unmatched]
    named += [(f"root, turn {turn.turn}", turn.root or "") for turn in story.became.turns]
    for label, value in dict.fromkeys(named):
        if value:
            sheet.exact(label, value)
