"""``python -m evalkit``: the same as the console script."""

from evalkit.cli import main

main()
