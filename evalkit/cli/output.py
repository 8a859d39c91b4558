"""Writing results to stdout, whether or not anybody still reads them."""

import os
import sys


def emit(text: str) -> None:
    """Print text; a reader that has gone (``| head``) is no error and changes no exit code."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
