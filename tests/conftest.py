"""Tests run against the installed package: the folder they start in is taken off the path."""

import os
import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parent.parent)
if not os.environ.get("TOOLGATE_TEST_TREE"):
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _ROOT]
