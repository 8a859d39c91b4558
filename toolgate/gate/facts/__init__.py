"""What earlier entries of a session say: which files it has written, what it has read."""
