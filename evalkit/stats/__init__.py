"""Exact statistics: each result is a value with its counts, method, level and side."""
