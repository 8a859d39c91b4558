"""``toolgate policy explain``: a policy in plain English."""

import json
import os
import shutil

import click

from toolgate.errors import InputError


@click.command()
@click.argument("policy_", metavar="[FILE|NAME]", required=False)
@click.option("--effect", metavar="TYPE", help="Only rules that speak about this type of effect.")
@click.option("--rule", "name", help="Only this rule.")
@click.option("--json", "as_json", is_flag=True, help="The rules as one JSON array instead.")
def explain(policy_: str | None, effect: str | None, name: str | None, as_json: bool) -> None:
    """Tell the rules of a policy in plain English.

    Of a FILE, of a shipped policy by its NAME, or of the one the hook uses. For how a call is
    answered and why: toolgate explain.

    Exit codes: 0 done, 2 no such effect or rule, 3 the policy is refused or cannot be read.
    """
    from toolgate.cli.policy.files import gate_named
    from toolgate.cli.policy.tell import tell
    from toolgate.gate.effects.model import TYPES
    from toolgate.gate.open import gate_for
    from toolgate.views.sheet import Sheet

    policy = (gate_named(policy_) if policy_ else gate_for(os.environ)).policy
    rules = list(policy.rules)
    if effect is not None:
        if effect not in TYPES:
            raise InputError(f"--effect is {effect!r:.80}; expected one of {', '.join(TYPES)}")
        over_call = [rule for rule in rules if not rule.effects]
        rules = [*policy.rules_for(effect), *over_call]
    if name is not None:
        rules = [rule for rule in rules if rule.name == name]
        if not rules:
            raise InputError(f"no such rule of {policy.name}: {name:.80}")
    if as_json:
        click.echo(json.dumps([rule._asdict() for rule in rules], indent=2, ensure_ascii=False))
        return
    sheet = Sheet(shutil.get_terminal_size().columns)
    tell(policy, rules, sheet)
    for row in sheet.rows:
        click.echo(row.text)
