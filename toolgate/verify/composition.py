"""Whether approvals that are good by themselves make one, as a policy composes them."""

from toolgate.verify.given import Approval
from toolgate.verify.policy import Rule


def repeated(cited: list[Approval]) -> Approval | None:
    """Return an approval whose principal or key gave one before it."""
    people: set[str] = set()
    for item in cited:
        mine = {f"name {item.principal}", f"key {item.ev['key'] or item.principal}"}
        if not people.isdisjoint(mine):
            return item
        people |= mine
    return None


def satisfies(rule: Rule, good: list[Approval]) -> bool:
    """Say whether approvals that are good by themselves make one, as a rule wants it."""
    listed = [item for item in good if item.principal in rule.principals]
    if rule.operator == "staged":
        if [item.principal for item in listed] != rule.principals:
            return False
        before = [(), *[(item.entry,) for item in listed]]
        return all(item.parents == want for item, want in zip(listed, before, strict=False))
    # One key may sign for one principal only, so whoever is counted is counted by key and name.
    people = {item.principal for item in listed}
    many = min(len(people), len({item.ev["key"] for item in listed}))
    return many >= (len(set(rule.principals)) if rule.operator == "all-of" else rule.n)


def sequences(there: list[Approval]) -> list[list[Approval]]:
    """Return the staged sequences that end in each of some approvals."""
    lines: dict[str, list[Approval]] = {}
    for item in sorted(there, key=lambda one: one.seq):
        before = lines.get(item.parents[0]) if item.parents else []
        if before is not None:
            lines[item.entry] = [*before, item]
    return list(lines.values())


def needs(rule: Rule) -> str:
    """Say for people whom a rule wants."""
    if rule.operator == "any-of":
        return f"{rule.n} of {', '.join(rule.principals)}"
    return f"{rule.operator} {', '.join(rule.principals)}"
