"""``toolgate policy import``: a policy of the public toolgate."""

import json

import click

from toolgate.cli.policy.files import write_new
from toolgate.errors import PolicyError
from toolgate.views.sheet import plain


@click.command(name="import")
@click.argument("file")
@click.option("--output", required=True, help="Where to write the policy; it must not be there.")
@click.option("--name", default="imported", show_default=True, help="What it calls itself.")
@click.option("--json", "as_json", is_flag=True, help="The lines as one JSON array instead.")
def import_(file: str, output: str, name: str, as_json: bool) -> None:
    """Read a policy FILE of the public toolgate (RiskAverseTech/toolgate) and write one of ours.

    Prints one line a key: taken, changed or refused, and why. What is refused is left out. The
    new policy adds to the shipped one, balanced. Nothing is written but OUTPUT.

    Exit codes: 0 done, also where keys are refused; 3 FILE is no such policy or cannot be
    read, OUTPUT is there or cannot be written.
    """
    from toolgate.gate.bases import bases_beside, policy_source
    from toolgate.gate.policy.compile import whole_source
    from toolgate.gate.policy.faults import policy_faults
    from toolgate.gate.policy.public import imported
    from toolgate.gate.policy.yaml_source import read_yaml

    body = read_yaml(policy_source(file), file)
    if not isinstance(body, dict):
        raise PolicyError(file, [f"is {type(body).__name__}; expected a mapping"])
    made = imported(body, name)
    text = _written(made.body, file)
    faults = policy_faults(whole_source(text, name=output, bases=bases_beside(output)))
    if faults:
        raise PolicyError(output, faults)
    write_new(output, text)
    if as_json:
        click.echo(json.dumps([line._asdict() for line in made.lines], indent=2))
        return
    for line in made.lines:
        click.echo(plain(f"{line.fate:<8} {line.key}: {line.why}"))


def _written(body: dict[str, object], file: str) -> bytes:
    import yaml

    text = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=96)
    head = plain(f"# From {file} of the public toolgate. Check it: toolgate policy check FILE")
    return f"{head}\n{text}".encode()
