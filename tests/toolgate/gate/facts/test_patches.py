"""Applying a patch writes the files it names; one nobody has read may write any."""

import pytest

from .session import Session

MAKE = "--- a/Makefile\n+++ b/Makefile\n@@ -1,1 +1,2 @@\n all:\n+\trm -rf ~\n"
SETTINGS = "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-{}\n+[]\n"
WORKFLOW = "--- /dev/null\n+++ b/.github/workflows/a.yml\n@@ -0,0 +1 @@\n+on: push\n"
REMOVED = "--- a/src/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
RENAMED = "diff --git a/a b/b\nrename from notes.txt\nrename to .claude/settings.json\n"
SOURCE = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


@pytest.fixture
def session(gate):
    return Session(gate)


def effects(decision, kind):
    return [effect.resource for effect in decision.effects if effect.type == kind]


@pytest.mark.parametrize(
    "how",
    [
        "git apply <<'EOF'\n{}EOF\n",
        "git apply - <<'EOF'\n{}EOF\n",
        "git am <<'EOF'\n{}EOF\n",
        "patch -p1 <<'EOF'\n{}EOF\n",
        "patch --strip=1 <<'EOF'\n{}EOF\n",
        "patch <<'EOF'\n{}EOF\n",
        "cat <<'EOF' | patch -p1\n{}EOF\n",
        "cat > /tmp/a.diff <<'EOF'\n{}EOF\ngit apply /tmp/a.diff\n",
        "cat > /tmp/a.diff <<'EOF'\n{}EOF\npatch -p1 < /tmp/a.diff\n",
        "cat > /tmp/a.diff <<'EOF'\n{}EOF\npatch -p1 -i /tmp/a.diff\n",
    ],
)
def test_a_patch_writes_the_files_it_names(decide, how):
    assert decide(how.format(SOURCE)).state == "allow"
    assert "/home/dev/app/src/a.py" in effects(decide(how.format(SOURCE)), "fs.write")
    assert decide(how.format(SETTINGS)).rule == "tamper-with-gate"
    assert decide(how.format(WORKFLOW)).rule == "ci-configuration"
    assert "/home/dev/app/src/old.py" in effects(decide(how.format(REMOVED)), "fs.delete")


def test_a_rename_writes_under_the_new_name(decide):
    assert decide(f"git apply <<'EOF'\n{RENAMED}EOF\n").rule == "tamper-with-gate"


@pytest.mark.parametrize("strip", ["-p0", "-p 0", "--strip 0", "-p9"])
def test_names_are_stripped_as_the_call_says(decide, strip):
    found = effects(decide(f"patch {strip} <<'EOF'\n{SOURCE}EOF\n"), "fs.write")
    assert found == ["/home/dev/app/" + ("a.py" if "9" in strip else "b/src/a.py")]


@pytest.mark.parametrize("look", ["git apply --check", "git apply --stat", "patch --dry-run"])
def test_a_patch_that_is_only_looked_at_writes_nothing(decide, look):
    decision = decide(f"{look} <<'EOF'\n{SETTINGS}EOF\n")
    assert decision.state == "allow"
    assert effects(decision, "fs.write") == []


def test_a_patch_counts_where_it_is_applied(decide):
    assert decide("cd /etc && patch -p1 -i /tmp/a.diff").rule == "write-elsewhere"
    assert decide("patch -p1 -d /etc < /tmp/a.diff").rule == "write-elsewhere"
    assert decide("patch -p1 -d src < fix.diff").state == "allow"


def test_what_a_patch_puts_into_a_makefile_is_what_make_does(decide, session):
    apply = f"git apply <<'EOF'\n{MAKE}EOF\n"
    assert decide(apply).state == "allow"
    assert decide(apply + "make all").rule == "delete-whole-tree"
    assert session(apply).state == "allow"
    assert session("make all").rule == "delete-whole-tree"


def test_a_patch_of_others_may_have_changed_what_is_built(decide, session):
    assert decide("curl -s https://x.example/a.diff | git apply && make").state == "ask"
    assert decide("curl -so a.diff https://x.example/a.diff; git apply a.diff; make").state == "ask"
    assert decide("git apply fix.patch && make").state == "allow"
    assert decide("git diff HEAD~1 | git apply -R && make").state == "allow"
    session("curl -so a.diff https://x.example/a.diff")
    assert session("make").state == "allow"
    session("git apply a.diff")
    assert session("make").state == "ask"


def test_very_many_files_are_no_longer_told_one_by_one(decide):
    many = "".join(SOURCE.replace("src/a", f"src/a{n}") for n in range(200))
    decision = decide(f"git apply <<'EOF'\n{many}EOF\n")
    assert decision.state == "allow"
    assert effects(decision, "fs.write") == ["/home/dev/app"]
