"""Run a set and be killed without warning at a given case: SET DIRECTORY CASE."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from sets import WordGate, build_of

from evalkit.challenge.sealing import Watch
from evalkit.gates.choice import Choice
from evalkit.runs import Request, start

SET, DIRECTORY, AT = sys.argv[1], sys.argv[2], int(sys.argv[3])


class Killing(WordGate):
    """Kills its own process when it has seen so many cases."""

    def decide(self, call: Any, facts: object = ()) -> Any:
        """Decide, or kill."""
        if len(self.seen) == AT:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().decide(call)


start(
    Request(SET, Choice(), None, None, None, f"{DIRECTORY}/ledger", f"{DIRECTORY}/reports"),
    Killing(),
    build_of(),
    Watch(),
)
