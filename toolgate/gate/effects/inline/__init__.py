"""Programs of other languages, given inline or written to a file, read for what they do."""
