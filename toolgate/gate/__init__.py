"""From a call to a decision. Nothing outside this package knows how to decide."""
