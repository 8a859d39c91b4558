"""``toolgate policy``: one file a command."""

import click

from toolgate.cli.lazy import LazyGroup

_COMMANDS = {
    "check": ("toolgate.cli.policy.check:check", "Report every fault and remark, or the digest."),
    "compile": ("toolgate.cli.policy.write:compile_", "Compile a policy to canonical JSON."),
    "diff": ("toolgate.cli.policy.diff:diff", "Show which recorded calls two policies differ on."),
    "explain": ("toolgate.cli.policy.explain:explain", "Tell a policy's rules in plain English."),
    "hold": ("toolgate.cli.policy.sign:hold", "Keep a policy in the ledger without using it."),
    "import": ("toolgate.cli.policy.take:import_", "Read a policy of the public toolgate."),
    "init": ("toolgate.cli.policy.write:init", "Write a policy of your own to start from."),
    "show": ("toolgate.cli.policy.write:show", "Print a shipped policy's YAML."),
    "sign": ("toolgate.cli.policy.sign:sign", "Sign a policy as its author."),
    "test": ("toolgate.cli.policy.test:test", "Decide the examples inside a policy."),
}


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
def policy() -> None:
    """Write, check, test, compare, show and sign policies.

    Exit codes: 0 done, 1 an example fails or a remark is refused, 2 wrong usage, 3 the policy
    is refused or a file cannot be read or written.
    """
