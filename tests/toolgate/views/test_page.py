"""The HTML page: it stands alone, is well formed, and shows text as text."""

from html.parser import HTMLParser

import ledgers
import pytest
from click.testing import CliRunner

from toolgate.cli.ledger import ledger
from toolgate.verify import verify
from toolgate.verify.directory import Directory
from toolgate.views.drawing import overview, picture
from toolgate.views.gather import gather, lines_of
from toolgate.views.page import timeline_page
from toolgate.views.phrases import FATES

from . import cases
from .golden_views import line

VOID = {"meta", "br", "link", "img", "input"}
SINGLE = {"rect", "path", "line", "circle", "use"}  # written <x/>, as SVG allows
EVIL = "</title><script>alert(1)</script>\"'><img src=http://x/ onerror=alert(1)>{{7*7}}"


class Page(HTMLParser):
    """Collects what a page is made of and refuses tags that do not close in order."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in SINGLE, tag
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    @property
    def said(self) -> str:
        return " ".join(" ".join(self.text).split())

    def ids(self) -> list[str]:
        return [attrs["id"] for _, attrs in self.tags if "id" in attrs]


def source(root, session) -> str:
    directory = Directory(str(root))
    own = gather(lines_of(directory, session), session).digests
    return timeline_page(line(root, session), verify(str(root)), path="LEDGER", own=own)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A ledger in which every free text is hostile; returns it and the session's id."""
    root = tmp_path_factory.mktemp("hostile") / "ledger"
    session = "s" + EVIL + "\x1b[31m\u202e"
    one = cases.Told(root, session)
    one.prompt(EVIL)
    more = {"principal": EVIL, "rule": EVIL, "axis": EVIL, "action_class": EVIL, "mode": EVIL}
    more["effects"] = ({**cases.effect("x" + EVIL, "secret"), "proof": EVIL},)
    one.decide(EVIL, "look", agent=EVIL, **more)
    one.approve(EVIL, None, args_digest=one.args[EVIL])
    one.at(5).outcome(EVIL, args_digest=ledgers.digest(b"other"))
    one.at(6).outcome("nobody" + EVIL, tool=EVIL)
    return root, session


@pytest.fixture(
    scope="module", params=["alpha", "Beta_2", "gamma", "run-1", "review", "child", "hostile"]
)
def page(request, base, told, hostile):
    if request.param == "hostile":
        return source(*hostile)
    return source(
        base if request.param in ("alpha", "Beta_2", "gamma", "run-1") else told, request.param
    )


def test_it_is_well_formed_and_names_are_unique(page):
    read = Page(page)
    assert page.startswith("<!doctype html>")
    assert len(set(read.ids())) == len(read.ids())
    targets = [attrs["href"] for _, attrs in read.tags if "href" in attrs]
    assert targets
    assert all(target[0] == "#" and target[1:] in read.ids() for target in targets)


def test_it_has_no_script_no_handler_and_no_other_resource(page):
    read = Page(page)
    assert not {tag for tag, _ in read.tags} & {"script", "link", "img", "iframe", "object", "base"}
    for tag, attrs in read.tags:
        assert not [name for name in attrs if name.startswith("on") or name == "src"], (tag, attrs)
        assert "style" not in attrs
        named = [name for name, value in attrs.items() if value and "://" in value]
        assert named in ([], ["aria-label"]), (tag, attrs)
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style.replace("url(#hatch)", "")
    assert "@import" not in style


def test_the_verdict_stands_before_the_calls_with_what_was_not_checked(page):
    said = Page(page).said
    assert said.index("Verification of the whole ledger:") < said.index("Overview")
    assert said.index("Not checked") < said.index("Overview")
    assert "no pin was given" in said


def test_hostile_text_is_text(hostile):
    page = source(*hostile)
    read = Page(page)
    assert read.said.count(EVIL) > 10
    assert "<script" not in page
    assert "49" not in [text.strip() for text in read.text]
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_every_call_has_a_bar_a_row_and_its_facts(told):
    read = Page(source(told, cases.SESSION))
    calls = line(told, cases.SESSION).calls
    for call in calls:
        assert f"call-{call.number}" in read.ids()
        assert call.decision in read.said
        assert call.call in read.said
    hrefs = [attrs.get("href") for tag, attrs in read.tags if tag == "a"]
    assert {f"#call-{call.number}" for call in calls} <= set(hrefs)


def test_a_fate_is_shown_by_a_sign_and_by_words_not_by_colour_alone(told):
    page = source(told, cases.SESSION)
    read = Page(page)
    assert {f"s-{fate}" for fate in FATES} <= set(read.ids())
    legend = read.said[read.said.index("Legend") :]
    assert all(said in legend for said in FATES.values())


def test_findings_of_the_session_are_on_its_page(told):
    review, child = Page(source(told, cases.SESSION)).said, Page(source(told, cases.CHILD)).said
    for code in ("log.orphan_allow", "execution.after_deny", "execution.unmatched"):
        assert code in review
        assert code not in child
    assert "2 findings besides elsewhere in the ledger" in review
    assert "4 findings besides elsewhere in the ledger" in child


def test_findings_in_a_damaged_file_are_its_sessions(tmp_path):
    root = tmp_path / "ledger"
    ledgers.build(root)
    kit = ledgers.Kit(root)
    kit.bytes_of(kit.decision("b0"), lambda data: data.replace(b"alice", b"alice "))
    kit.bytes_of(kit.decision("b1"), lambda data: b" " + data)
    assert "entries.noncanonical" in Page(source(root, "Beta_2")).said
    assert "elsewhere in the ledger" in Page(source(root, "gamma")).said


def test_bars_lie_inside_the_picture_and_lanes_apart(told):
    made = line(told, cases.SESSION)
    for turn in made.turns:
        drawn = picture(turn)
        assert len(drawn.bars) == len(turn.calls)
        for bar, call in zip(drawn.bars, turn.calls, strict=True):
            assert bar.number == call.number
            assert 0 <= bar.x <= bar.x + bar.width <= 100
            assert bar.hatched <= bar.width
            assert bar.y < drawn.height
        assert 2 <= len(drawn.ticks) <= 7
    assert len(overview(made).blocks) == len(made.turns)


def test_a_full_turn_is_drawn(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    for at in range(250):
        writer.decide(f"c{at}")
    for at in range(250):
        writer.outcome(f"c{at}")
    read = Page(source(tmp_path / "ledger", "s"))
    assert sum(tag == "details" for tag, _ in read.tags) == 251


def test_command(told, tmp_path):
    file = tmp_path / "page.html"
    arguments = ["timeline", cases.SESSION, "--ledger", str(told), "--html", str(file)]
    done = CliRunner().invoke(ledger, arguments)
    assert done.exit_code == 0
    assert done.output == f"wrote {file}: the ledger's verdict is FAIL\n"
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_page_that_cannot_be_written(told, tmp_path):
    file = tmp_path / "none" / "page.html"
    arguments = ["timeline", cases.SESSION, "--ledger", str(told), "--html", str(file)]
    done = CliRunner().invoke(ledger, arguments)
    assert done.exit_code == 3
    assert f"cannot create {file}: No such file or directory" in done.stderr
    assert CliRunner().invoke(ledger, [*arguments, "--json"]).exit_code == 2
