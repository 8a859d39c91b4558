"""Run a set and, at its second case, wait until a file is there: SET DIRECTORY FILE."""

import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from sets import WordGate, build_of

from evalkit.challenge.sealing import Watch
from evalkit.gates.choice import Choice
from evalkit.runs import Request, start

SET, DIRECTORY, FILE = sys.argv[1:4]


class Waiting(WordGate):
    """Says that it has begun, then waits."""

    def decide(self, call: Any, facts: object = ()) -> Any:
        """Decide, the second time when the file is there."""
        if len(self.seen) == 1:
            Path(FILE + ".begun").touch()
            while not os.path.exists(FILE):
                time.sleep(0.01)
        return super().decide(call)


start(
    Request(SET, Choice(), None, None, None, f"{DIRECTORY}/ledger", f"{DIRECTORY}/reports"),
    Waiting(),
    build_of(),
    Watch(),
)
