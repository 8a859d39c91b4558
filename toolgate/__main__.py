"""``python -m toolgate``."""

from toolgate.cli import main

main()
