"""``toolgate policy init``, ``compile`` and ``show``: policies as files."""

import os

import click

from toolgate.cli.policy.files import compiled, write, write_new
from toolgate.errors import InputError, UnavailableError

_START = """\
# Rules of your own, on top of a policy that comes with toolgate. What every key means:
# toolgate/spec/policy.md. After a change: toolgate policy check FILE && toolgate policy test FILE
version: 1
name: {name}
extends: {{policy: {base}}}

# names:
#   trusted_hosts: [api.example.com]     # may be sent to; its subdomains too
#   trusted_tools: [mcp__desk__*]        # MCP tools that may be sent to
#   secret_names: ["*.secret"]

rules:
  - rule: no-release-by-agents
    decide: deny
    axis: destructive
    because: releases are cut by a person
    effects:
      - {{type: [pkg.publish, deploy.release]}}

examples:
  - {{command: "npm publish", expect: deny, rule: no-release-by-agents}}
  - {{command: "npm test", expect: allow}}
"""


@click.command()
@click.option("--output", help="Where to write it; where the hook looks for it by default.")
@click.option("--name", default="own", show_default=True, help="What it calls itself.")
@click.option("--extends", "base", default="balanced", show_default=True, help="Shipped policy.")
def init(output: str | None, name: str, base: str) -> None:
    """Write a policy of your own to start from. What is there is never overwritten.

    Exit codes: 0 done, 2 wrong usage, 3 the file is there or cannot be written.
    """
    from toolgate.gate.policy.extends import SHIPPED

    if base not in SHIPPED:
        raise InputError(f"--extends is {base!r:.80}; expected one of {', '.join(SHIPPED)}")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise InputError(f"--name is {name!r:.80}; expected letters, digits, - and _")
    path = output or _usual()
    write_new(path, _START.format(name=name, base=base).encode())
    click.echo(path)


def _usual() -> str:
    """Return where the hook looks for a user's policy, its folder made."""
    from toolgate.gate.open import usual_policy

    path = usual_policy(os.environ)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"{path} cannot be written: {error.strerror}") from None
    return path


@click.command(name="compile")
@click.argument("file")
@click.option("--output", required=True, help="Where to write the compiled policy.")
def compile_(file: str, output: str) -> None:
    """Compile a policy FILE to canonical JSON.

    Exit codes: 0 done, 3 the policy is refused or a file cannot be read or written.
    """
    from toolgate.canonical import digest

    data = compiled(file)
    write(output, data)
    click.echo(digest(data))


@click.command()
@click.argument("name", default="balanced")
def show(name: str) -> None:
    """Print the YAML of a shipped policy, by its NAME: balanced, permissive or strict."""
    from toolgate.gate.bases import shipped_source
    from toolgate.gate.policy.extends import SHIPPED

    if name not in SHIPPED:
        raise InputError(f"no shipped policy is called {name!r:.80}; {', '.join(SHIPPED)} are")
    click.echo(shipped_source(name), nl=False)
