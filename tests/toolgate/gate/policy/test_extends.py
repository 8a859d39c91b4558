"""Policies that extend others: by name those shipped here, by digest every other."""

import pytest

from toolgate.canonical import digest
from toolgate.errors import PolicyError, UnavailableError
from toolgate.gate.bases import bases_beside
from toolgate.gate.policy.compile import compile_policy

CATALOG = "sha256:" + "0" * 64
BASE = (
    "version: 1\nname: base\ndefault: deny\nnames: {secret_names: [a]}\n"
    "facts: {read_secret: {turns: 3}}\n"
    "classes: [{name: one}, {name: two, tools: [Bash]}]\n"
    "axes: {destructive: {ask: 0.2, deny: 0.5}}\n"
    "rules:\n"
    "  - {rule: b, decide: deny, because: x, tools: [B]}\n"
    "  - {rule: c, decide: deny, because: x, tools: [C]}\n"
)


@pytest.fixture
def compiled(tmp_path):
    (tmp_path / "base.yaml").write_text(BASE)

    def make(text, base=BASE):
        said = f"extends: {{file: base.yaml, digest: '{digest(base.encode())}'"
        source = f"version: 1\nname: own\n{text}".replace("BASE", said)
        find = bases_beside(str(tmp_path / "own.yaml"))
        return compile_policy(source.encode(), CATALOG, name="own.yaml", bases=find)

    return make


def test_the_compiled_policy_is_that_of_both_written_as_one(compiled):
    own = (
        "names: {secret_names: [b], system_paths: [/x]}\nfacts: {read_untrusted: {turns: 2}}\n"
        "classes: [{name: two, tools: [Edit]}]\naxes: {destructive: {deny: 0.6}}\n"
        "rules: [{rule: a, decide: ask, because: x, tools: [A]}]\n"
    )
    whole = (
        "default: deny\nnames: {secret_names: [b, a], system_paths: [/x]}\n"
        "facts: {read_untrusted: {turns: 2}, read_secret: {turns: 3}}\n"
        "classes: [{name: two, tools: [Edit]}, {name: one}]\n"
        "axes: {destructive: {ask: 0.2, deny: 0.6}}\n"
        "rules:\n"
        "  - {rule: c, decide: deny, because: x, tools: [C]}\n"
        "  - {rule: a, decide: ask, because: x, tools: [A]}\n"
        "  - {rule: b, decide: deny, because: x, tools: [B]}\n"
    )
    assert compiled("BASE}\n" + own) == compiled(whole)


def test_own_words_stand_and_named_rules_are_left_out(compiled):
    data = compiled("BASE, without: [b]}\ndefault: ask\n")
    assert data == compiled(
        "default: ask\n"
        + BASE.partition("default: deny\n")[2].replace(
            "  - {rule: b, decide: deny, because: x, tools: [B]}\n", ""
        )
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("extends: base.yaml\n", "extends: expected policy, or file and digest"),
        ("extends: {file: base.yaml}\n", "extends: digest is missing; a file is extended as it"),
        (
            "extends: {policy: balanced, file: x}\n",
            "expected either policy, a shipped one, or file",
        ),
        ("extends: {policy: mine}\n", "policy is 'mine'; expected one of balanced, permissive"),
        ("extends: {policy: [a]}\n", "policy is ['a']; expected one of"),
        ("extends: {file: b, digest: abc}\n", "digest is 'abc'; expected sha256: and 64 digits"),
        ("BASE, without: b}\n", "without is not a list of rule names"),
        ("BASE, without: [d]}\n", "base.yaml has no rule d to leave out"),
        ("BASE, with: [d]}\n", "unknown key with"),
        (
            "BASE}\nrules: [{rule: b, decide: allow, because: x, tools: [B]}]\n",
            "rule b: two different entries have this name",
        ),
        ("BASE}\nrules: 5\n", "rule list is int; expected a list"),
        ("BASE}\nnames: 5\n", "names: expected a mapping"),
        ("BASE}\nfacts: [a]\n", "facts is list"),
        ("BASE}\nclasses: x\n", "class list is str"),
    ],
)
def test_faults_of_extends_are_told(compiled, text, said):
    with pytest.raises(PolicyError) as caught:
        compiled(text)
    assert any(said in fault for fault in caught.value.faults), caught.value.faults


def test_another_file_than_was_meant_is_refused(compiled):
    with pytest.raises(PolicyError, match=r"extends: base.yaml has digest sha256:.*, not sha256:"):
        compiled("BASE}\n", base=BASE + "#")


def test_faults_of_what_is_extended_are_told_as_its_own(tmp_path):
    bad = b"version: 1\nname: x\nruls: []\n"
    (tmp_path / "b.yaml").write_bytes(bad)
    own = f"version: 1\nname: own\nextends: {{file: b.yaml, digest: '{digest(bad)}'}}\n"
    find = bases_beside(str(tmp_path / "own.yaml"))
    with pytest.raises(PolicyError, match=r"own.yaml: extends b.yaml: unknown key ruls"):
        compile_policy(own.encode(), CATALOG, name="own.yaml", bases=find)
    (tmp_path / "b.yaml").unlink()
    with pytest.raises(UnavailableError, match=r"b.yaml cannot be read: No such file"):
        compile_policy(own.encode(), CATALOG, name="own.yaml", bases=find)


def test_a_chain_of_policies_ends(tmp_path):
    text = b"version: 1\nname: x\n"
    for number in range(10):
        (tmp_path / f"{number}.yaml").write_bytes(text)
        text = (
            f"version: 1\nname: x\nextends: {{file: {number}.yaml, digest: '{digest(text)}'}}\n"
        ).encode()
    find = bases_beside(str(tmp_path / "own.yaml"))
    with pytest.raises(PolicyError, match="more than 8 policies"):
        compile_policy(text, CATALOG, bases=find)
    with pytest.raises(PolicyError, match="no other policy may be extended here"):
        compile_policy(text, CATALOG)
