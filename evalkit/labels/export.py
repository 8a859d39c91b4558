"""Exporting a blind form: draw, keep the key apart, chain it, then write the form."""

import os
from hmac import digest as hmac_digest
from typing import Any, NamedTuple

from evalkit.errors import RefusedError
from evalkit.labels.inputs import Content, cwd_class, read_inputs, show
from evalkit.labels.sample import Item, draw, opaque_id, sizes, stratum_of
from evalkit.labels.seed import commitment, seed_of
from evalkit.labels.sheet import sheet
from evalkit.windows.close import load_closed, load_declared
from evalkit.windows.declare import Declaration
from evalkit.windows.folder import checked_id, held, write_whole
from evalkit.windows.moment import format_moment
from evalkit.windows.opening import ACTOR
from evalkit.windows.receipts import DRAWN, Chain, read_chain
from evalkit.windows.slice import cut
from toolgate.canonical import canonical_bytes, digest
from toolgate.ledger.append import Ledger
from toolgate.redact import by_kind, redact_text, redact_value

KEY_VERSION = 1


class Request(NamedTuple):
    """What to export.

    Args:
        window: id of a closed window.
        root: the ledger's directory.
        folder: where the copies of windows are.
        inputs: JSON Lines with the tools' inputs, or None.
        out: path of the form.
        key: path of the key file.
        n: how many to draw a stratum, or None where the declaration says.
        seed_file: path of a committed seed, or None.
    """

    window: str
    root: str
    folder: str
    inputs: str | None
    out: str
    key: str
    n: int | None = None
    seed_file: str | None = None


class Exported(NamedTuple):
    """A form that was written.

    Args:
        window: the window's id.
        drawn: items drawn by stratum.
        available: items there were by stratum.
        unchecked: items whose text has no digest to check it by.
        key_digest: digest of the key file's canonical bytes, as chained.
        entry: digest of the ledger entry that says so.
        grade: the window's grade.
    """

    window: str
    drawn: dict[str, int]
    available: dict[str, int]
    unchecked: int
    key_digest: str
    entry: str
    grade: str


def export(request: Request, now: int) -> Exported:
    """Draw from a closed window and write the form and its key.

    Args:
        request: what to export.
        now: microseconds UTC.

    Raises:
        UsageError: the inputs or the size of the draw make no sense.
        RefusedError: no inputs, a window that is not closed or was changed
            since, a draw that was made before or would be empty, or a file
            that is there.
        LedgerError: the key could not be chained; no form is written.
    """
    with held(request.folder):
        chain = read_chain(request.root)
        made, _ = load_declared(chain, request.folder, checked_id(request.window))
        record, _ = load_closed(chain, request.folder, request.window)
        _refuse(request, chain)
        items = _items(request.root, made, record)
        available = _count(items)
        counts = sizes(made.body["sample"]["n"], request.n, sorted(available))
        seed = seed_of(made.body["sample"]["seed_commitment"], request.seed_file)
        drawn = draw(items, seed, counts)
        if not drawn:
            raise RefusedError(
                f"window {made.id}: the plan draws 0 of {len(items)} calls; nothing was chained. "
                f"Strata of this window: {', '.join(available) or 'none'}"
            )
        content = _content(request.inputs, drawn)
        salt = _salt(seed, made.digest())
        key = _key(made, record, seed, salt, drawn)
        form = _form(drawn, content, salt)
        entry = _write(request, key, form, seed=seed, now=now)
        unchecked = sum(not content[item.args_digest].checked for item in drawn)
        return Exported(
            made.id,
            _count(drawn),
            available,
            unchecked,
            digest(canonical_bytes(key)),
            entry,
            str(record["grade"]),
        )


def _refuse(request: Request, chain: Chain) -> None:
    """Refuse what would draw twice, replace a file, or show nothing."""
    if request.inputs is None:
        raise RefusedError(
            "the ledger keeps no content, only digests: expected the tools' inputs in "
            "--inputs FILE (JSON Lines with tool_input)"
        )
    first = chain.first(DRAWN, request.window)
    if first is not None:
        raise RefusedError(
            f"window {request.window}: a sample was drawn {format_moment(first.ts)}, key "
            f"{first.details.get('key')}, entry {first.entry}; a second draw could be a choice"
        )
    if os.path.abspath(request.out) == os.path.abspath(request.key):
        raise RefusedError(f"{request.out}: the key is kept apart from the form")
    for path in (request.out, request.key):
        if os.path.exists(path):
            raise RefusedError(f"{path} is there already; a form or key is never replaced")


def _items(root: str, made: Declaration, record: dict[str, Any]) -> list[Item]:
    """Return every call of the slice, after checking that it is the slice that was closed."""
    taken = cut(root, made)
    if taken.digest != record["slice"]["digest"]:
        raise RefusedError(
            f"window {made.id}: the ledger gives the slice {taken.digest}, closed was "
            f"{record['slice']['digest']}; nothing was drawn"
        )
    names = list(made.body["strata"])
    columns = ", ".join(f'"{name}"' for name in names)
    rows = taken.connection.execute(
        "SELECT decision_digest, args_digest, tool, state, rule"
        + (f", {columns}" if columns else "")
        + " FROM slice ORDER BY decision_digest"
    ).fetchall()
    return [
        Item(
            decision_digest=row[0],
            args_digest=row[1],
            tool=row[2],
            state=row[3],
            rule=row[4],
            stratum=stratum_of(names, list(row[5:])),
        )
        for row in rows
    ]


def _count(items: list[Item]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in sorted(items, key=lambda item: item.stratum):
        counts[item.stratum] = counts.get(item.stratum, 0) + 1
    return counts


def _content(path: str | None, drawn: list[Item]) -> dict[str, Content]:
    assert path is not None
    found = read_inputs(path, {item.args_digest for item in drawn})
    missing = [item for item in drawn if item.args_digest not in found]
    if missing:
        raise RefusedError(
            f"{path}: {len(missing)} of {len(drawn)} drawn calls have no row (first: "
            f"args_digest {missing[0].args_digest}); a form with holes is not blind"
        )
    return found


def _salt(seed: bytes, declaration: str) -> bytes:
    """Return the key's salt: from the seed, so that a committed seed fixes the whole form."""
    return hmac_digest(seed, b"evalkit label key\x00" + declaration.encode("ascii"), "sha256")


def _key(
    made: Declaration, record: dict[str, Any], seed: bytes, salt: bytes, drawn: list[Item]
) -> dict[str, Any]:
    ids = {opaque_id(salt, item.decision_digest): item for item in drawn}
    if len(ids) != len(drawn):
        raise RefusedError("two drawn calls share an id; expected unique ids")
    return {
        "version": KEY_VERSION,
        "window": made.id,
        "slice": record["slice"]["digest"],
        "seed": seed.hex(),
        "salt": salt.hex(),
        "items": [
            {
                "id": name,
                "decision_digest": item.decision_digest,
                "state": item.state,
                "rule": item.rule,
                "stratum": item.stratum,
            }
            for name, item in sorted(ids.items())
        ],
    }


def _form(drawn: list[Item], content: dict[str, Content], salt: bytes) -> bytes:
    rows = []
    for item in drawn:
        given = content[item.args_digest]
        text = redact_text(show(redact_value(given.value, by_kind)), by_kind)
        name = opaque_id(salt, item.decision_digest)
        rows.append((name, item.tool, text, cwd_class(given.cwd)))
    return sheet(sorted(rows))


def _write(request: Request, key: dict[str, Any], form: bytes, *, seed: bytes, now: int) -> str:
    """Write the key, chain its digest, and only then write the form."""
    data = canonical_bytes(key)
    os.makedirs(os.path.dirname(request.key) or ".", mode=0o700, exist_ok=True)
    write_whole(request.key, data + b"\n", mode=0o600)
    details = {
        "key": digest(data),
        "seed": commitment(seed),
        "slice": key["slice"],
        "form": digest(form),
        "n": len(key["items"]),
    }
    ledger = Ledger(request.root, host=ACTOR, durability="fsync")
    try:
        entry = ledger.audit(
            action=DRAWN, actor=ACTOR, target=request.window, details=details, ts=now
        )
    except BaseException:
        os.unlink(request.key)
        raise
    write_whole(request.out, form, mode=0o600)
    return entry
