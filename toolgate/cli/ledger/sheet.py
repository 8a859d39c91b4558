"""What ``toolgate ledger verify`` tells people."""

from typing import TYPE_CHECKING

from toolgate.cli.ledger.place import plain

if TYPE_CHECKING:
    from toolgate.verify import Finding, Report
    from toolgate.verify.traces.span import Source

_STATES = ("allowed", "asked", "denied")
_ENDS = ("ok", "error", "timeout", "cancelled", "refused", "unresolved", "none")
_MOST_SHOWN = 200
_ANSWERS = {
    "signature": "by signed approval or refusal",
    "telemetry": "as the host reported it, unsigned",
    "inferred": "known by the execution only",
}


def sheet(report: "Report", root: str) -> list[str]:
    """Return the report on the ledger at ``root`` for people."""
    from toolgate.views.phrases import LAYERS

    lines = ["Layers"]
    lines += [f"  {layer:<10} {said}" for layer, said in LAYERS.items()]
    lines.append("Checked")
    lines += [f"  {item}" for item in report.checked]
    lines += [f"    {_source(item)}" for item in report.traces]
    if report.unchecked:
        lines.append("Not checked")
        lines += [f"  {item}" for item in report.unchecked]
        lines += _of_runs(report.runs, root)
    lines += ["", *_table(report), *_remarks(report)]
    lines += _authority(report)
    if report.asks:
        beyond = report.unlisted.get("asks", 0)
        total = len(report.asks) + beyond
        lines += ["", f"Asked and not executed: {total} (for information)"]
        lines += [
            plain(f"  {ask.entry[:19]}  {ask.tool} call {ask.call}, session {ask.session}")
            for ask in report.asks[:_MOST_SHOWN]
        ]
        lines += _more(len(report.asks), beyond)
    lines += ["", *_findings(report.findings), *counted_only(report.more)]
    seq, digest = report.head
    lines += ["", f"Head     {seq}:{digest}", f"Verdict  {report.verdict}", *_meaning(report)]
    return lines


def _source(source: "Source") -> str:
    """Return what was read from a trace file."""
    from toolgate.verify.words import counted

    shown = counted(source.calls, "call")
    if source.answers:
        shown += f", {counted(source.answers, 'answer')} to prompts"
    if source.repeated:
        shown += f", {counted(source.repeated, 'copy')} of the same"
    if source.producers:
        shown += f"; written by {', '.join(source.producers)}"
    if source.unknown:
        unknown = ", ".join(f"{kind} {count}" for kind, count in sorted(source.unknown.items()))
        shown += f"; not understood: {unknown}"
    return plain(f"{source.name}: {source.format}, {shown}")


def _of_runs(runs: list[str], root: str) -> list[str]:
    """Return the commands that verify the ledgers of runs."""
    from os.path import join
    from shlex import quote

    paths = [quote(join(root, "runs", run)) for run in runs[:_MOST_SHOWN]]
    return [plain(f"    toolgate ledger verify {path}") for path in paths] + _more(len(runs))


def counted_only(more: "dict[str, int]") -> list[str]:
    """Return a line for the findings of each code that a report counts and does not list."""
    return [f"  and {count:,} more of {code}, counted only" for code, count in more.items()]


def _findings(findings: "list[Finding]") -> list[str]:
    from toolgate.cli.ledger.next import next_step
    from toolgate.verify.faults import BY_CODE

    primary = sum(item.cause is None for item in findings)
    if not findings:
        return ["Findings: none"]
    following = len(findings) - primary
    follow = "follows" if following == 1 else "follow"
    lines = [f"Findings: {primary}" + (f", and {following} that {follow}" if following else "")]
    for item in findings[:_MOST_SHOWN]:
        indent = "  " if item.cause is None else "      follows: "
        lines.append(f"{indent}{item.code}  {item.entry[:71]}")
        lines.append(f"{' ' * len(indent)}  {item.message}")
        if item.cause is None:
            lines.append(f"    means: {BY_CODE[item.code].meaning}")
            lines.append(f"    next:  {next_step(item.code)}.")
    return lines + _more(len(findings))


def _more(listed: int, beyond: int = 0) -> list[str]:
    """Return a line for what is not shown of a list, and of what a report only counts."""
    more = listed - min(listed, _MOST_SHOWN) + beyond
    has = f"the first {listed:,}" if beyond else "all"
    return [f"  and {more} more (--json has {has})"] if more else []


def _table(report: "Report") -> list[str]:
    """Return decisions by how their calls ended."""
    ends = [end for end in _ENDS if any(report.calls.get((state, end)) for state in _STATES)]
    heads = ["no outcome" if end == "none" else end for end in ends]
    lines = [f"{'decided':<10}" + "".join(f"{head:>12}" for head in [*heads, "calls"])]
    for state in _STATES:
        counts = [report.calls.get((state, end), 0) for end in ends]
        lines.append(f"{state:<10}" + "".join(f"{n:>12}" for n in counts) + f"{sum(counts):>12}")
    if "none" in ends:
        lines.append(
            "no outcome: nothing was reported on the call. So it is for a denied call, an ask "
            "nobody\napproved and a run that executes nothing; for an allowed call it is open or "
            "a finding."
        )
    return lines


def _remarks(report: "Report") -> list[str]:
    """Return what the table does not show, one sentence each."""
    from toolgate.verify.words import counted

    lines: list[str] = []
    if report.by_content:
        outcomes = counted(report.by_content, "outcome")
        lines.append(f"{outcomes} matched by tool and arguments, because no call id was known.")
    if report.ends:
        calls = counted(report.ends, "call")
        lines.append(
            f"{calls} without an end in the ledger, which the trace shows (toolgate ledger "
            "reconcile)."
        )
    if report.answers:
        asks = counted(report.answers, "ask")
        lines.append(
            f"{asks} without an answer in the ledger, which telemetry reports (toolgate ledger "
            "reconcile)."
        )
    if report.replaced:
        were = "was" if report.replaced == 1 else "were"
        replaced = counted(report.replaced, "decision")
        lines.append(f"{replaced} {were} replaced by a later one on the same call.")
    if report.answered:
        total = sum(report.answered.values())
        how = ", ".join(
            f"{report.answered[name]} {words}"
            for name, words in _ANSWERS.items()
            if report.answered.get(name)
        )
        were = "was" if total == 1 else "were"
        lines.append(f"{counted(total, 'ask')} {were} answered: {how}.")
    if report.args_differ:
        ran = counted(report.args_differ, "call")
        lines.append(f"{ran} ran with other arguments than were decided.")
    if report.recovered:
        were = "was" if report.recovered == 1 else "were"
        lines.append(f"{counted(report.recovered, 'torn end')} {were} sealed by a recovery entry.")
    return lines


def _authority(report: "Report") -> list[str]:
    """Return who says what is to be decided, for every policy that decided."""
    lines = ["", "Authority of the policies that decided"] if report.authority else []
    for item in report.authority[:_MOST_SHOWN]:
        lines += [f"  {item.policy}  {item.status}", *_wrapped(item.sentence)]
        for edge in item.edges:
            lines += [
                plain(f"    {edge.policy}"),
                plain(f"      by {edge.name}, {edge.key}"),
                plain(f"      let by {edge.authorizing_policy or 'nobody'}"),
                plain(f"      {edge.fault or 'recomputes'}"),
            ]
    return lines + _more(len(report.authority))


def _wrapped(sentence: str) -> list[str]:
    from textwrap import wrap

    return wrap(plain(sentence), 104, initial_indent="    ", subsequent_indent="    ")


def _meaning(report: "Report") -> list[str]:
    from textwrap import wrap

    from toolgate.cli.ledger.next import WORTH
    from toolgate.verify.faults import CONDITIONAL, MEANING

    lines = [f"  {MEANING[report.verdict]}"]
    if report.verdict == CONDITIONAL:
        lines += [f"    {item}" for item in report.conditions]
    return lines + wrap(WORTH[report.verdict], 88, initial_indent="  ", subsequent_indent="  ")
