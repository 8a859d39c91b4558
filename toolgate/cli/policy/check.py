"""``toolgate policy check``: every fault and remark at once."""

import json
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from toolgate.errors import PolicyError

if TYPE_CHECKING:
    from toolgate.gate.engine import Gate


class Checked(NamedTuple):
    """What was found of a policy.

    Args:
        digest: the policy's digest; None where it is refused.
        faults: why it is refused.
        remarks: what is sound and probably not meant.
    """

    digest: str | None
    faults: list[str]
    remarks: list[str]


@click.command()
@click.argument("file")
@click.option(
    "--project", is_flag=True, help="FILE holds a project's rules, for the policy in use."
)
@click.option("--strict", is_flag=True, help="Exit with 1 if there is a remark.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead.")
def check(file: str, project: bool, strict: bool, as_json: bool) -> None:
    """Report every fault and remark on a policy FILE, or its digest.

    A fault is why the policy is refused. A remark is what is sound and probably not meant: a
    rule that changes no answer, that nothing fits, or that none of the policy's own examples
    is about; an override whose day is over; an example that is answered otherwise.

    Exit codes: 0 good, 1 a remark with --strict, 3 the policy is refused or cannot be read.
    """
    found = _checked(file, project, time.time_ns() // 1_000)
    if as_json:
        click.echo(json.dumps(found._asdict(), indent=2))
    else:
        for what, lines in (("fault", found.faults), ("remark", found.remarks)):
            for line in lines:
                click.echo(f"{what}: {line}")
        if found.digest is not None:
            click.echo(f"{file}: good, {found.digest}")
    if found.faults:
        sys.exit(3)
    if found.remarks and strict:
        sys.exit(1)


def _checked(file: str, project: bool, now: int) -> Checked:
    from toolgate.cli.policy.files import gate_in, gate_named
    from toolgate.gate.bases import bases_beside, policy_source
    from toolgate.gate.policy.compile import whole_source
    from toolgate.gate.policy.faults import policy_faults
    from toolgate.gate.policy.lint import lint, names_of
    from toolgate.gate.policy.yaml_source import read_yaml

    body: Any = None
    gate: Gate | None = None
    faults: list[str] = []
    own: set[str] = set()
    source = policy_source(file)
    try:
        twice: list[str] = []
        body = read_yaml(source, file, twice)
        own = names_of(body)
        twice.clear()  # the whole source tells of them again
        if project:
            gate = gate_in(file)
        else:
            body = whole_source(source, name=file, bases=bases_beside(file), twice=twice)
            faults = [*twice, *policy_faults(body)]
            gate = None if faults else gate_named(file)
    except PolicyError as error:
        faults = error.faults
    if gate is None:
        return Checked(None, faults, lint(body, now, own))
    spoken, failing = _tried(gate, body, now)
    silent = own - spoken if body.get("examples") else set()
    return Checked(gate.policy_digest, [], lint(body, now, own, silent) + failing)


def _tried(gate: "Gate", body: dict[str, Any], now: int) -> tuple[set[str], list[str]]:
    """Return the rules that spoke about a policy's examples, and which examples fail."""
    from toolgate.cli.policy.examples import decide_examples
    from toolgate.gate.policy.project import PREFIX

    decided = decide_examples(gate, body, now)
    failing = [
        f"{one.example.name} is answered {one.decision.state} by {one.decision.rule}; "
        "see toolgate policy test"
        for one in decided
        if not one.good
    ]
    return {name.removeprefix(PREFIX) for one in decided for name in one.spoke}, failing
