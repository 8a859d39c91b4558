"""The cases of a set as an inspect_ai task: SET LOG_DIRECTORY [quiet]. Run by ``peers.py``.

With ``quiet`` the settings that inspect_ai offers against its own overhead are used.
"""

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import exact
from inspect_ai.solver import solver
from peers_gate import answer

QUIET = {"log_realtime": False, "score_display": False, "max_samples": 100}


@solver
def gate() -> Any:
    """Answer with the gate instead of a model."""

    async def solve(state: Any, generate: Any) -> Any:
        state.output.completion = answer(state.input_text)
        return state

    return solve


def main() -> None:
    """Run the task and print how many cases were scored and how many match."""
    made = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    samples = [
        Sample(id=case["id"], input=case["command"], target=case["expected"])
        for case in made["cases"]
    ]
    task = Task(dataset=MemoryDataset(samples), solver=gate(), scorer=exact())
    settings = QUIET if "quiet" in sys.argv[3:] else {}
    (log,) = eval(
        task, model="mockllm/model", log_dir=sys.argv[2], display="plain", log_level="error",
        **settings,
    )  # fmt: skip
    assert log.status == "success", log.status
    assert log.results is not None
    accuracy = log.results.scores[0].metrics["mean"].value
    print(json.dumps({"cases": log.results.completed_samples, "accuracy": accuracy}))


if __name__ == "__main__":
    main()
