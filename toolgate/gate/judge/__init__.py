"""The optional judge: a decision model that reads what only language can tell."""
