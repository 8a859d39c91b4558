"""The HTML report, read as a page and run in a real browser."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evalkit.report.page import kind_of, page

from .golden_run import context, golden_set

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


class Parts(HTMLParser):
    """Collects the elements of a page and what they point at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [str(value) for name, value in attrs if name in ("src", "href", "action")]


def data_of(text: str) -> list[dict[str, object]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    rows: list[dict[str, object]] = json.loads(found[1])
    return rows


def test_the_page_needs_nothing_but_itself():
    text = page(context(), golden_set())
    parts = Parts(text)
    assert parts.links == []
    assert parts.tags.count("script") == 2
    assert "default-src 'none'" in text
    assert not re.search(r"https?://", text)


def test_every_case_is_there_with_what_the_gate_saw():
    made = golden_set()
    rows = data_of(page(context(), made))
    assert [row["case"] for row in rows] == [case.id for case in made.cases]
    told = dict(zip(("title", "text", "block"), rows[0]["details"][0], strict=True))  # type: ignore[index]
    assert told == {"title": "task, as the gate saw it", "text": "Do it.", "block": True}


def test_the_page_says_what_the_markdown_says():
    text = page(context(), golden_set())
    for part in ("Looks at this set", "Quarantined cases", "Thresholds", "Predicted misses",
                 "loss</dt><dd>13 of at most 120", "where the misses lie", "run-elsewhere",
                 "1 case in quarantine included", "removes a match"):  # fmt: skip
        assert part in text, part


def test_text_from_outside_is_no_markup():
    made = context()
    made["set"]["label"] = "</title><script>alert(1)</script>"
    made["results"][0]["sentence"] = "</script><script>alert(2)</script>\u2028"
    text = page(made, golden_set())
    assert Parts(text).tags.count("script") == 2
    assert "alert(2)" in str(data_of(text)[0]["details"])


@pytest.mark.parametrize(
    ("expected", "decided", "kind"),
    [
        ("ask", "ask", "match"),
        ("deny", "ask", "permissive"),
        ("allow", "ask", "stricter"),
        ("deny", "unscored", "unscored"),
    ],
)
def test_cells_are_named_as_the_score_names_them(expected: str, decided: str, kind: str):
    assert kind_of(expected, decided) == kind


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_a_browser_shows_the_table_and_finds_nothing_to_complain_of(tmp_path: Path):
    made = context()
    made["results"][0]["sentence"] = "<img src=x onerror=alert(1)>"
    file = tmp_path / "report.html"
    file.write_text(page(made, golden_set()), encoding="utf-8")
    ran = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "24 of 24 cases" in ran.stdout
    assert ran.stdout.count('class="case"') == 24
    assert "CONSOLE" not in ran.stderr


def test_what_a_decision_is_to_rest_on_is_shown():
    from evalkit.challenge.mechanism import Mechanism

    made = golden_set()
    stated = Mechanism("executes", ("net.send",), (), "exfiltration")
    first = made.cases[0]._replace(mechanism=stated)
    rows = data_of(page(context(), made._replace(cases=(first, *made.cases[1:]))))
    assert [
        "what it is to rest on",
        "join executes; effects net.send; axis exfiltration",
        False,
    ] in (
        rows[0]["details"]  # type: ignore[operator]
    )


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_the_table_can_be_searched_and_a_case_opened(tmp_path: Path):
    """The page lets no other script in; its policy is taken out of a copy to act as a person."""
    text = page(context(), golden_set())
    acting = """<script>
      const field = document.getElementById("search");
      field.value = "Command G11";
      field.dispatchEvent(new Event("input"));
      document.querySelector("button.case").click();
    </script></body>"""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    file = tmp_path / "acting.html"
    file.write_text(text.replace("</body>", acting), encoding="utf-8")
    ran = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    assert "1 of 24 cases" in ran.stdout
    assert ran.stdout.count('class="case"') == 1
    assert 'aria-expanded="true"' in ran.stdout
    opened = ran.stdout[ran.stdout.index('<tr class="detail">') :]
    for part in ("<h3>scored call: Bash</h3><pre>command 11</pre>", "<h3>where the miss lies</h3>"):
        assert part in opened
