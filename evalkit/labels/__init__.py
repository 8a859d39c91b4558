"""Blind labels: a seeded draw from a closed window, exported without what the gate said."""
