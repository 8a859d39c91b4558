"""A gate for the tool calls of coding agents whose every decision can be proved."""

__version__ = "0.1.0"
