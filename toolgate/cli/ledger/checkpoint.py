"""``toolgate ledger checkpoint``: a signed statement of where the ledger stands."""

import json
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.keys import default_key, private_key, write_out
from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop

if TYPE_CHECKING:
    from toolgate.ledger.checkpoint import Checkpoint


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--key",
    "key_file",
    type=click.Path(),
    metavar="FILE",
    help="The log's private key (PEM); by default checkpoint.pem among your keys.",
)
@click.option("--create-key", is_flag=True, help="Make the key if the file is not there.")
@click.option("--origin", metavar="NAME", help="The log's name, chosen at its first checkpoint.")
@click.option("--out", type=click.Path(), metavar="FILE", help="Write the checkpoint here.")
@click.option(
    "--timestamp-request",
    "request_file",
    type=click.Path(),
    metavar="FILE",
    help="Also write an RFC 3161 request over the checkpoint, for a timestamp authority.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def checkpoint(
    path: str | None,
    key_file: str | None,
    create_key: bool,
    origin: str | None,
    out: str | None,
    request_file: str | None,
    as_json: bool,
) -> None:
    """Append a signed checkpoint and print it; keep it, and the key, outside of the ledger.

    The checkpoint goes to standard output or --out, the key that verifies it to standard
    error or, with --out, to standard output.

    Exit codes: 0 done, 2 wrong usage or a bad key, 3 it could not be made, 130 interrupted.
    """
    import time

    from toolgate.errors import CheckError, EvidenceError
    from toolgate.ledger.append import Ledger
    from toolgate.ledger.checkpoint import as_logged, parse_text
    from toolgate.ledger.notes import parse_note, public
    from toolgate.verify.place import open_ledger

    root = root_of(path)
    try:
        open_ledger(root)  # a checkpoint must not found a ledger where there is none
        key = private_key(key_file or default_key("checkpoint"), create=create_key, ledger=root)
        if request_file is not None:
            from toolgate.ledger import timestamp

            timestamp.request(b"-")  # what is missing is said before anything is appended
        data = Ledger(root).checkpoint(key, ts=time.time_ns() // 1000, origin=origin)
        note = parse_note(data)
        said = parse_text(note.text)
        if request_file is not None:
            write_out(request_file, timestamp.request(as_logged(note, said.origin)))
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except EvidenceError as error:
        stop(str(error), 2)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    verifier = public(said.origin, key).text
    if out is not None:
        write_out(out, data)
    if as_json:
        seq, digest = said.spine or (0, "")
        shown = {
            "checkpoint": data.decode("utf-8"),
            "key": verifier,
            "origin": said.origin,
            "size": said.size,
            "root": "sha256:" + said.root.hex(),
            "spine": {"seq": seq, "digest": digest},
        }
        click.echo(json.dumps(shown, ensure_ascii=False, indent=1))
    elif out is not None:
        click.echo(plain(f"{out} {_covers(said)}. Keep it elsewhere, with this key:"), err=True)
        click.echo(plain(verifier))
    else:
        write_out(None, data)
        click.echo(plain(f"key  {verifier}"), err=True)


def _covers(said: "Checkpoint") -> str:
    """Say for people what a checkpoint binds."""
    from toolgate.verify.words import counted

    upto = "" if said.spine is None else f"entries 1 to {said.spine[0]} of the spine and "
    return f"covers {upto}{counted(said.size, 'ended session')}"
