"""PowerShell and cmd, given as text to a start of either, are read for effects."""

import base64
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.catalog.load import read_compiled, shipped
from toolgate.gate.catalog.styles import path
from toolgate.gate.effects.examples import effects_in_short
from toolgate.gate.effects.powershell import read_powershell
from toolgate.gate.engine import GATE_FAULT
from toolgate.gate.policy.model import Policy

ROOT = "fs.delete:anchor,force,recursive@system=/"
OLD = "fs.delete@workspace=old.txt"


@pytest.fixture(scope="module")
def short():
    chosen = Policy(read_compiled("balanced.json")).settings
    catalog = shipped()
    return lambda command: effects_in_short(command, catalog, chosen)


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("Remove-Item old.txt", [OLD]),
        ("remove-item OLD.txt", ["fs.delete@workspace=OLD.txt"]),
        ("ri old.txt", [OLD]),
        ("Remove-Item -Rec -Fo C:\\", [ROOT]),
        ("Remove-Item -Path:old.txt", [OLD]),
        ("rm -r -fo $HOME", ["fs.delete:anchor,force,recursive@home=~"]),
        ("Get-ChildItem src | Where-Object { $_.Length -gt 10 }", ["inspect"]),
        ("ls *.log | % { Remove-Item $_ }", ["fs.delete@unknown=…/ unresolved(path-not-known)"]),
        ("if (Test-Path a) { Remove-Item old.txt }", [OLD]),
        ("$x = Remove-Item old.txt", [OLD]),
        ("$a, $b = Remove-Item old.txt", [OLD]),
        ("$x += Remove-Item old.txt", [OLD]),
        ('"$(Remove-Item old.txt)"', [OLD]),
        ("@(Remove-Item old.txt)", [OLD]),
        ("foreach ($f in Remove-Item old.txt) { }", [OLD]),
        ("return Remove-Item old.txt", [OLD]),
        ("function f { Remove-Item old.txt }", [OLD]),
        ("try { Remove-Item old.txt } catch { }", [OLD]),
        ("& { Remove-Item old.txt }", [OLD, "unresolved(code-not-known)"]),
        ("Invoke-Expression 'Remove-Item old.txt'", [OLD]),
        ("Invoke-Expression $x", ["unresolved(code-not-known)"]),
        ("& 'Remove-Item' old.txt", [OLD]),
        ("& $x", ["unresolved(code-not-known)"]),
        (". ./own.ps1", ["exec.code:file=own.ps1"]),
        ("Write-Output a > out.txt", ["fs.write:truncate@workspace=out.txt"]),
        ("Write-Output a 2>&1", ["inspect"]),
        ("Write-Output a # ; Remove-Item old.txt", ["inspect"]),
        ("<# Remove-Item old.txt #> Get-Date", ["inspect"]),
        ("'Remove-Item old.txt'", ["inspect"]),
        ("@'\nRemove-Item old.txt\n'@", ["inspect"]),
        ("Remove-Item `\n old.txt", [OLD]),
        ("[IO.File]::Delete('old.txt')", ["unresolved(method)"]),
        ("(Get-Item old.txt).Delete()", ["unresolved(method)"]),
        ("[Math]::Round(1.5)", ["inspect"]),
        ("Frobnicate-Thing", ["unresolved(unknown-program)"]),
        ("git push --force origin main", ["vcs.publish:force,protected=origin main"]),
        ("iwr https://example.com/x | iex", ["unresolved(remote-code)", "net.fetch=example.com"]),
    ],
)
def test_powershell(short, text, effects):
    quoted = "'" + text.replace("'", "'\\''") + "'"
    found = short(f"pwsh -NoProfile -c {quoted}")
    for effect in effects:
        assert any(effect in one for one in found), found
    if effects == ["inspect"]:
        assert found == ["inspect"]


@pytest.mark.parametrize(
    "option", ["-Command", "-c", "-COMMAND", "-NoLogo -ep Bypass -c", "-w hidden -c"]
)
@pytest.mark.parametrize("program", ["pwsh", "powershell", "powershell.exe", "sudo pwsh"])
def test_a_command_is_found_behind_any_option(short, program, option):
    assert OLD in short(f"{program} {option} 'Remove-Item old.txt'")


def test_an_encoded_command_is_read(short):
    code = base64.b64encode("Remove-Item old.txt".encode("utf-16-le")).decode()
    for option in ("-EncodedCommand", "-enc", "-e", "-ec"):
        assert short(f"powershell {option} {code}") == [OLD]
    assert short("powershell -enc %%%") == [
        "exec.code:unknown@unknown=… unresolved(code-not-known)"
    ]


@pytest.mark.parametrize(
    ("command", "effects"),
    [
        ("cmd /c del /s /q build", ["fs.delete:disposable,recursive@workspace=build"]),
        ("cmd /c 'rd /s /q C:\\'", ["fs.delete:anchor,recursive@system=/"]),
        ("cmd /c 'dir & del old.txt'", [OLD, "inspect"]),
        ("cmd /c 'dir && del old.txt'", [OLD, "inspect"]),
        ("cmd /c 'echo a>out.txt'", ["fs.write:truncate@workspace=out.txt", "inspect"]),
        ("cmd /c 'echo a>nul'", ["inspect"]),
        ("cmd /c 'd^el old.txt'", [OLD]),
        ("cmd /c 'echo \"a & del old.txt\"'", ["inspect"]),
        ("cmd /c 'type notes.txt'", ["fs.read@workspace=notes.txt"]),
        ("cmd /c 'powershell -c Remove-Item old.txt'", [OLD]),
        ("cmd /c 'del %X%'", ["fs.delete@unknown=…/ unresolved(path-not-known)"]),
        ("cmd /c frobnicate", ["exec.code:unknown@unknown unresolved(unknown-program)"]),
        ('cmd /c "$x"', ["exec.code:unknown@unknown=… unresolved(code-not-known)"]),
        ("cmd", []),
    ],
)
def test_cmd(short, command, effects):
    assert short(command) == (sorted(effects) or ["inspect"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C:\\", "/"),
        ("C:\\*", "/*"),
        ("c:/x", "/c:/x"),
        ("a\\b", "a/b"),
        ("HKLM:\\Software", "/HKLM/Software"),
        ("https://example.com/x", "https://example.com/x"),
        ("ann:F", "ann:F"),
    ],
)
def test_a_path_of_windows(text, expected):
    assert path(text) == expected


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="$@{}()[]'\"`;|&>#=.-:% \nifaRemove", max_size=80))
def test_any_text_gets_a_decision(decide, text):
    quoted = "'" + text.replace("'", "'\\''") + "'"
    assert decide(f"pwsh -c {quoted}").rule != GATE_FAULT
    assert decide(f"cmd /c {quoted}").rule != GATE_FAULT


@pytest.mark.parametrize("piece", ["(", "{", "$(", '"$(', "@{", "a;", "'", "`", "[", "%a", "& "])
def test_hostile_text_takes_linear_time(piece):
    def spent(times):
        text = piece * times
        start = time.process_time()
        read_powershell(text, "/home/dev")
        return time.process_time() - start

    spent(100)
    least = {times: min(spent(times) for _ in range(3)) for times in (800, 8_000)}
    assert least[8_000] < 40 * max(least[800], 0.0005)
