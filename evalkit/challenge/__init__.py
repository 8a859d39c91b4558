"""Challenge sets: what a case is, reading, freezing and scoring."""
