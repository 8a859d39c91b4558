"""``toolgate ledger``: one file a command."""

import click

from toolgate.cli.lazy import LazyGroup

_COMMANDS = {
    "check-proof": ("toolgate.cli.ledger.check_proof:check_proof", "Check a proof by itself."),
    "check-timestamp": (
        "toolgate.cli.ledger.check_timestamp:check_timestamp",
        "Check a timestamp over a checkpoint.",
    ),
    "checkpoint": ("toolgate.cli.ledger.checkpoint:checkpoint", "Append a signed checkpoint."),
    "cosign": ("toolgate.cli.ledger.cosign:cosign", "Sign a checkpoint as its witness."),
    "export": ("toolgate.cli.ledger.export:export", "Copy a ledger to files or PostgreSQL."),
    "prove": ("toolgate.cli.ledger.prove:prove", "Prove that an entry was in the log."),
    "reconcile": (
        "toolgate.cli.ledger.reconcile:reconcile",
        "Record the ends of calls that only a trace shows.",
    ),
    "recover": ("toolgate.cli.ledger.recover:recover", "Seal torn ends, close idle sessions."),
    "rotate-key": (
        "toolgate.cli.ledger.rotate_key:rotate_key",
        "Retire the key that signs checkpoints.",
    ),
    "seal": ("toolgate.cli.ledger.seal:seal", "Pack the closed sessions of past days."),
    "show": ("toolgate.cli.ledger.show:show", "Tell the story of one call."),
    "tail": ("toolgate.cli.ledger.tail:tail", "Show the last entries, one line each."),
    "timeline": ("toolgate.cli.ledger.timeline:timeline", "Show one session as a timeline."),
    "unpack": ("toolgate.cli.ledger.seal:unpack", "Give sealed sessions their files back."),
    "vault": ("toolgate.cli.ledger.vault:vault", "Show and prune what the gate was given."),
    "verify": ("toolgate.cli.ledger.verify:verify", "Verify a ledger in three layers."),
}


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
def ledger() -> None:
    """Verify, show, keep, copy, reconcile and anchor the decision ledger.

    Exit codes: 0 done, 1 the evidence is bad, 2 wrong usage, 3 could not be done, 4
    INCOMPLETE, 130 interrupted. Each command says which of them it has.
    """
