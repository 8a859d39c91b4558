"""``toolgate ledger verify --system``: several ledgers as one audit, for people and programs."""

from typing import TYPE_CHECKING

from toolgate.cli.ledger.place import plain

if TYPE_CHECKING:
    from toolgate.verify.findings import Finding
    from toolgate.verify.system import Member, SystemReport

_MOST_SHOWN = 200


def sheet(report: "SystemReport") -> list[str]:
    """Return the report for people."""
    from toolgate.cli.ledger.sheet import counted_only
    from toolgate.verify.words import counted

    lines = [f"System of {counted(len(report.members), 'ledger')}"]
    for member in report.members:
        lines += _member(member)
    lines += ["", f"Decisions that sessions name as what started them: {report.links}"]
    if report.childless:
        lines += [
            "",
            f"Started an agent without a session of its own: {len(report.childless)} "
            "(for information)",
        ]
        lines += [
            f"  {one.decision[:19]}  {one.tool} call {one.call}, session {one.session}"
            for one in report.childless[:_MOST_SHOWN]
        ]
    lines += ["", *_findings("Findings between ledgers", report.findings)]
    for member in report.members:
        if member.report is not None and member.report.findings:
            lines += _findings(f"Findings in {member.path}", member.report.findings)
            lines += counted_only(member.report.more)
    lines += ["", f"Root     {report.root} over {counted(report.heads, 'session head')}"]
    lines += [f"Verdict  {report.verdict}", *_meaning(report)]
    return [plain(line) for line in lines]


def _member(member: "Member") -> list[str]:
    from toolgate.verify.words import counted

    if member.report is None:
        return [f"  {'MISSING':<12} {member.path}", f"  {'':<12} {member.why}"]
    seq, digest = member.report.head
    held = f"{counted(member.report.sessions, 'session')}, head {seq}:{digest}"
    return [f"  {member.report.verdict:<12} {member.path}", f"  {'':<12} {held}"]


def _findings(title: str, findings: "list[Finding]") -> list[str]:
    if not findings:
        return [f"{title}: none"]
    lines = [f"{title}: {len(findings)}"]
    for item in findings[:_MOST_SHOWN]:
        lines += [f"  {item.code}  {item.entry[:71]}", f"    {item.message}"]
    if len(findings) > _MOST_SHOWN:
        lines.append(f"  and {len(findings) - _MOST_SHOWN} more (--json has all)")
    return lines


def _meaning(report: "SystemReport") -> list[str]:
    from toolgate.verify.faults import CONDITIONAL, MEANING

    lines = [f"  {MEANING[report.verdict]}"]
    if report.verdict == CONDITIONAL:
        lines += [f"    {item}" for item in report.conditions]
    return lines
