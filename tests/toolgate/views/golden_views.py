"""The texts that the views must give for two ledgers made by the real writer."""

import tempfile
from pathlib import Path

import ledgers

from toolgate.verify.directory import Directory
from toolgate.views.find import decision_of, find
from toolgate.views.gather import all_lines, gather, lines_of
from toolgate.views.lay_out import timeline_of
from toolgate.views.lines import line_text
from toolgate.views.sheet import Row
from toolgate.views.story import Story
from toolgate.views.story_text import story_rows
from toolgate.views.tail import tail
from toolgate.views.tell import story_of
from toolgate.views.timeline import Timeline
from toolgate.views.timeline_text import timeline_rows

from . import cases

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "views"
WIDE, NARROW = 100, 48


def story(root: Path, call: str) -> Story:
    """Return the story of a call that is the only one of its name."""
    directory = Directory(str(root))
    (found,) = find(lambda: all_lines(directory), call).calls
    return story_of(
        gather(lines_of(directory, found.session), found.session),
        found.action_ref,
        policy=directory.policy,
        spawning=lambda event: decision_of(all_lines(directory), event),
    )


def line(root: Path, session: str) -> Timeline:
    """Return a session's timeline."""
    directory = Directory(str(root))
    return timeline_of(gather(lines_of(directory, session), session), directory.policy)


def text(rows: list[Row]) -> str:
    """Return rows as text."""
    return "".join([row.text + "\n" for row in rows])


def texts(root: Path, calls: list[str], sessions: list[str]) -> dict[str, str]:
    """Return a ledger's texts by the names of their golden files."""
    made = {}
    for call in calls:
        rows = story_rows(story(root, call), width=WIDE, path="LEDGER")
        made[f"{root.name}-show-{call}"] = text(rows)
    for session in sessions:
        for name, width in (("wide", WIDE), ("narrow", NARROW)):
            rows = timeline_rows(line(root, session), width=width, path="LEDGER")
            made[f"{root.name}-timeline-{session}-{name}"] = text(rows)
    lines = [line_text(item) for item in tail(Directory(str(root)), None, None).items]
    made[f"{root.name}-tail"] = "".join([said + "\n" for said in lines])
    return made


def all_texts(folder: Path) -> dict[str, str]:
    """Write both ledgers and return all texts."""
    base, told = folder / "base", folder / "told"
    ledgers.build(base)
    cases.tell(told)
    return {
        **texts(base, ["a0", "a2", "a7", "a9", "r0"], ["alpha", "Beta_2", "gamma", "run-1"]),
        **texts(
            told,
            ["signed-1", "told-1", "refused-1", "release-2", "unattended-1", "ran-1", "child-1"],
            ["review", "child"],
        ),
    }


def main() -> None:
    """Write the golden files."""
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, said in all_texts(Path(folder)).items():
            (GOLDEN / f"{name}.txt").write_text(said, encoding="utf-8")


if __name__ == "__main__":
    main()
