"""Signed notes, verifier keys and checkpoints: public vectors, both directions, any bytes."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate import signing
from toolgate.errors import InputError
from toolgate.ledger import notes
from toolgate.ledger.checkpoint import (
    Checkpoint,
    as_logged,
    check_origin,
    format_text,
    parse_text,
    spine_line,
)

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "notes" / "signed.json").read_text())
KEY = signing.PrivateKey.new()
OTHER = signing.PrivateKey.new()
TEXT = "example.com/log\n3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"

NAMES = st.text(min_size=1, max_size=12).filter(notes.is_name)
SIGNATURES = st.builds(
    notes.NoteSignature,
    NAMES,
    st.binary(min_size=4, max_size=4),
    st.binary(min_size=1, max_size=80),
)
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=20)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["origin"][:30])
def test_public_notes(case):
    data = case["note"].encode()
    note = notes.parse_note(data)
    assert notes.format_note(note) == data
    changed = note._replace(text=note.text.replace("e", "E", 1))
    for text in case["keys"]:
        key = notes.parse_key(text)
        assert key.text == text
        assert notes.signed_by(note, key)
        assert not notes.signed_by(changed, key)
        expected = case["seen_at"] if key.algorithm == notes.COSIGNATURE else None
        assert notes.cosigned_at(note, key) == expected


@pytest.mark.parametrize("case", VECTORS[2:], ids=lambda case: case["origin"][:30])
def test_public_checkpoints(case):
    text = notes.parse_note(case["note"].encode()).text
    checkpoint = parse_text(text)
    assert format_text(checkpoint) == text
    assert checkpoint.origin == text.split("\n")[0]
    assert checkpoint.size == int(text.split("\n")[1])
    assert checkpoint.spine is None


def test_signatures_of_both_kinds():
    note = notes.Note(
        TEXT,
        (
            notes.sign(TEXT, "example.com/log", KEY),
            notes.cosign(TEXT, "witness.example/w", OTHER, 1679315147),
        ),
    )
    note = notes.parse_note(notes.format_note(note))
    log = notes.public("example.com/log", KEY)
    witness = notes.public("witness.example/w", OTHER, notes.COSIGNATURE)
    assert notes.signed_by(note, log)
    assert notes.signed_by(note, witness)
    assert notes.cosigned_at(note, witness) == 1679315147
    assert notes.cosigned_at(note, log) is None
    # Another name, key or algorithm is another key.
    assert not notes.signed_by(note, log._replace(name="example.com/other"))
    assert not notes.signed_by(note, log._replace(algorithm=notes.COSIGNATURE))
    assert not notes.signed_by(note, notes.public("example.com/log", OTHER))
    # The time is signed.
    late = note.signatures[1]
    moved = late._replace(data=late.data[:7] + b"\0" + late.data[8:])
    assert notes.cosigned_at(notes.Note(TEXT, (moved,)), witness) is None
    # One bad signature of a known key spoils the good one beside it.
    bad = note.signatures[0]._replace(data=bytes(64))
    assert not notes.signed_by(notes.Note(TEXT, (note.signatures[0], bad)), log)


def test_the_logs_own_bytes_outlive_a_cosignature():
    own = notes.Note(TEXT, (notes.sign(TEXT, "example.com/log", KEY),))
    seen = own._replace(signatures=(*own.signatures, notes.cosign(TEXT, "w", OTHER, 1)))
    assert as_logged(seen, "example.com/log") == notes.format_note(own)
    with pytest.raises(InputError, match="no signature of its log"):
        as_logged(seen, "example.com/other")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(LINES, min_size=1, max_size=4).map(lambda lines: "".join(x + "\n" for x in lines)),
    st.lists(SIGNATURES, min_size=1, max_size=3).map(tuple),
)
def test_notes_read_back_as_they_were_written(text, signatures):
    note = notes.Note(text, signatures)
    if any(char < " " and char != "\n" for char in text):
        with pytest.raises(InputError):
            notes.format_note(note)
    else:
        assert notes.parse_note(notes.format_note(note)) == note


BASE = VECTORS[2]["note"].encode()


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_what_is_read_is_written_back_byte_for_byte(data):
    base = bytearray(data.draw(st.sampled_from([case["note"].encode() for case in VECTORS])))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(base) - 1))
        base[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    read_and_written_back(bytes(base))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120))
def test_any_bytes_are_read_or_refused(data):
    read_and_written_back(data)


def read_and_written_back(data: bytes) -> None:
    try:
        note = notes.parse_note(data)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert notes.format_note(note) == data
    try:
        checkpoint = parse_text(note.text)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert format_text(checkpoint) == note.text


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: b"\n",
        lambda data: b"\n\n",
        lambda data: data[:-1],
        lambda data: data + b"\n",
        lambda data: data.replace(b"\n\n", b"\n"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace("\u2014 ".encode(), b"- "),
        lambda data: data.replace("\u2014 ".encode(), "\u2014".encode()),
        lambda data: data.replace(b"FWwQ=\n", b"FWwR=\n"),
        lambda data: data.replace(b"FWwQ=\n", b"FWwQ\n"),
        lambda data: data.replace(b"FWwQ=\n", b"FWwQ= \n"),
        lambda data: data.replace(b"FWwQ=\n", b"FW_Q=\n"),
        lambda data: data.replace(b"arche2025h1", b"arche\x002025h1"),
        lambda data: data.replace(b"arche2025h1", b"arche\xff2025h1"),
        lambda data: data.replace(b"\x94 arche", b"\x94 ar+che"),
        lambda data: data.replace("\u2014 arche".encode(), "\u2014 ar\u00a0che".encode()),
        lambda data: data + "\u2014 x AAAAAA==\n".encode(),
        lambda data: b"x" * 70_000 + data,
    ],
)
def test_bytes_that_are_no_note(change):
    with pytest.raises(InputError):
        notes.parse_note(change(BASE))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "a\n1\n",
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
        "\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n01\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n-1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n+1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n\u0661\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n9223372036854775808\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n" + "9" * 5000 + "\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2J=\n",
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I\n",
        "a\n1\nAAAA\n",
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n",
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\nx\n",
    ],
)
def test_texts_that_are_no_checkpoint(text):
    with pytest.raises(InputError):
        parse_text(text)


@settings(max_examples=100, deadline=None)
@given(
    LINES.filter(bool),
    st.integers(0, 2**63 - 1),
    st.binary(min_size=32, max_size=32),
    st.lists(LINES.filter(bool), max_size=2).map(tuple),
)
def test_checkpoints_read_back_as_they_were_written(origin, size, root, more):
    checkpoint = Checkpoint(origin, size, root, more)
    assert parse_text(format_text(checkpoint)) == checkpoint


def test_a_checkpoint_that_would_read_back_as_another_is_not_written():
    with pytest.raises(InputError):
        format_text(Checkpoint("a\n5", 1, bytes(32)))
    with pytest.raises(InputError):
        format_text(Checkpoint("a", 1, bytes(31)))
    with pytest.raises(InputError):
        format_text(Checkpoint("a", -1, bytes(32)))


DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ((spine_line(7, DIGEST),), (7, DIGEST)),
        (("other", spine_line(7, DIGEST)), (7, DIGEST)),
        ((), None),
        ((spine_line(0, DIGEST),), None),
        (("spine 07 " + DIGEST,), None),
        (("spine 7 " + DIGEST.upper(),), None),
        (("spine 7  " + DIGEST,), None),
        ((spine_line(7, DIGEST), spine_line(8, DIGEST)), None),
    ],
)
def test_spine_line(more, expected):
    assert Checkpoint("a", 1, bytes(32), more).spine == expected


PUBLIC = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "++",
        "example.com/foo",
        PUBLIC + "=",
        PUBLIC + "\n",
        " " + PUBLIC,
        PUBLIC.replace("530d903a", "530D903A"),
        PUBLIC.replace("530d903a", "530d903b"),
        PUBLIC.replace("530d903a", "0530d903a"),
        PUBLIC.replace("example.com/foo", "example.com/fop"),
        PUBLIC.replace("example.com/foo", ""),
        PUBLIC.replace("+Ae", "+Be"),
        PUBLIC[:-4],
        "x" * 100_000,
    ],
)
def test_texts_that_are_no_verifier_key(text):
    with pytest.raises(InputError):
        notes.parse_key(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=90) | st.data())
def test_any_text_is_a_key_that_reads_back_or_refused(text):
    if not isinstance(text, str):
        at = text.draw(st.integers(0, len(PUBLIC)))
        text = PUBLIC[:at] + text.draw(st.text(max_size=2)) + PUBLIC[at + 1 :]
    try:
        key = notes.parse_key(text)
    except InputError:
        return
    assert key.text == text


@pytest.mark.parametrize("origin", ["", "a b", "a+b", "a\n", "a\u2003b", "\ud800"])
def test_origins_that_cannot_name_a_key(origin):
    with pytest.raises(InputError, match="origin is"):
        check_origin(origin)


def test_origin():
    assert check_origin("example.com/ledger") == "example.com/ledger"
