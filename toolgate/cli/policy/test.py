"""``toolgate policy test``: the examples inside a policy."""

import json
import sys
import time

import click

from toolgate.cli.policy.examples import Decided, decide_examples
from toolgate.cli.policy.files import gate_in, gate_named
from toolgate.views.sheet import plain


@click.command()
@click.argument("file")
@click.option(
    "--project", is_flag=True, help="FILE holds a project's rules, for the policy in use."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead.")
def test(file: str, project: bool, as_json: bool) -> None:
    """Decide the examples inside a policy FILE and say which are answered otherwise.

    Exit codes: 0 every example is answered as expected, 1 one is not or there is none, 3 the
    policy is refused or cannot be read.
    """
    from toolgate.gate.bases import bases_beside, policy_source
    from toolgate.gate.policy.compile import whole_source

    gate = gate_in(file) if project else gate_named(file)
    body = whole_source(policy_source(file), name=file, bases=bases_beside(file))
    decided = decide_examples(gate, body, time.time_ns() // 1_000)
    bad = [one for one in decided if not one.good]
    if as_json:
        rows = [_as_json(one) for one in decided]
        said = {"policy": gate.policy_digest, "examples": len(rows), "failed": len(bad)}
        click.echo(json.dumps({**said, "results": rows}, indent=2, ensure_ascii=False))
    else:
        for one in bad:
            click.echo(plain(_told(one)))
        count = len(decided)
        click.echo(f"{count - len(bad)} of {count} examples are answered as expected")
    if bad or not decided:
        sys.exit(1)


def _told(one: Decided) -> str:
    wanted = one.example
    rule = f" by {wanted.rule}" if wanted.rule else ""
    return f"{wanted.name}: expected {wanted.expect}{rule}. {one.decision.sentence}"


def _as_json(one: Decided) -> dict[str, object]:
    return {
        "example": one.example.name,
        "expected": one.example.expect,
        "expected_rule": one.example.rule,
        "decision": one.decision.state,
        "rule": one.decision.rule,
        "good": one.good,
        "sentence": one.decision.sentence,
    }
