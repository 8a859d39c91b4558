"""Traces other systems wrote about the same tool calls."""
