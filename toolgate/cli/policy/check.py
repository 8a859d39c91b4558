"""``toolgate policy check``: every fault and remark at once."""

import json
import sys
import time
from typing import Any

import click

from toolgate.errors import PolicyError


@click.command()
@click.argument("file")
@click.option("--strict", is_flag=True, help="Exit with 1 if there is a remark.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead.")
def check(file: str, strict: bool, as_json: bool) -> None:
    """Report every fault and remark on a policy FILE, or its digest.

    A fault is why the policy is refused. A remark is what is sound and probably not meant: a
    rule that changes no answer, that nothing fits, or that none of the policy's own examples
    is about; an override whose day is over; an example that is answered otherwise.

    Exit codes: 0 good, 1 a remark with --strict, 3 the policy is refused or cannot be read.
    """
    from toolgate.gate.bases import bases_beside, policy_source
    from toolgate.gate.policy.compile import whole_source
    from toolgate.gate.policy.faults import policy_faults
    from toolgate.gate.policy.lint import lint, names_of
    from toolgate.gate.policy.yaml_source import read_yaml

    now = time.time_ns() // 1_000
    body: Any = None
    digest, silent = None, set[str]()
    remarks: list[str] = []
    source = policy_source(file)
    try:
        body = written = read_yaml(source, file)
        body = whole_source(source, name=file, bases=bases_beside(file))
        faults = policy_faults(body)
    except PolicyError as error:
        faults = error.faults
    own = names_of(written) if body is not None else set()
    if not faults:
        digest, spoken, remarks = _tried(file, body, now)
        silent = own - spoken if body.get("examples") else set()
    remarks = lint(body, now, own, silent) + remarks
    if as_json:
        click.echo(json.dumps({"digest": digest, "faults": faults, "remarks": remarks}, indent=2))
    else:
        for what, lines in (("fault", faults), ("remark", remarks)):
            for line in lines:
                click.echo(f"{what}: {line}")
        if digest is not None:
            click.echo(f"{file}: good, {digest}")
    if faults:
        sys.exit(3)
    if remarks and strict:
        sys.exit(1)


def _tried(file: str, body: dict[str, Any], now: int) -> tuple[str, set[str], list[str]]:
    """Return the policy's digest, the rules that spoke about its examples, and which fail."""
    from toolgate.cli.policy.examples import decide_examples
    from toolgate.cli.policy.files import gate_named

    gate = gate_named(file)
    decided = decide_examples(gate, body, now)
    failing = [
        f"{one.example.name} is answered {one.decision.state} by {one.decision.rule}; "
        "see toolgate policy test"
        for one in decided
        if not one.good
    ]
    return gate.policy_digest, {name for one in decided for name in one.spoke}, failing
