"""Readers of other shapes: each makes a draft of a set, which a person labels and freezes.

The group of entry points is ``evalkit.set_readers``: a distribution that declares one adds a
reader (``evalkit/spec/readers.md``).
"""
