"""Measurement windows: declared before they start, closed by machine checks, never deleted."""
