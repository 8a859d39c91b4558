"""``toolgate policy``: check, compile and show policies."""

import click

from toolgate.errors import UnavailableError


@click.group()
def policy() -> None:
    """Check, compile and show policies."""


def _compiled(file: str) -> bytes:
    from toolgate.gate.catalog.load import shipped
    from toolgate.gate.policy.compile import compile_policy

    try:
        with open(file, "rb") as handle:
            source = handle.read()
    except OSError as error:
        raise UnavailableError(f"policy {file} cannot be read: {error.strerror}") from None
    return compile_policy(source, shipped().digest, name=file)


@policy.command()
@click.argument("file")
def check(file: str) -> None:
    """Report every fault of a policy FILE, or its digest."""
    from toolgate.canonical import digest

    click.echo(f"{file}: good, {digest(_compiled(file))}")


@policy.command(name="compile")
@click.argument("file")
@click.option("--output", required=True, help="Where to write the compiled policy.")
def compile_(file: str, output: str) -> None:
    """Compile a policy FILE to canonical JSON."""
    from toolgate.canonical import digest

    data = _compiled(file)
    try:
        with open(output, "wb") as handle:
            handle.write(data)
    except OSError as error:
        raise UnavailableError(f"{output} cannot be written: {error.strerror}") from None
    click.echo(digest(data))


@policy.command()
def show() -> None:
    """Print the shipped policy's YAML, to start one of your own from."""
    from importlib.resources import files

    source = files("toolgate.gate.policy") / "defaults" / "balanced.yaml"
    click.echo(source.read_text(encoding="utf-8"), nl=False)
