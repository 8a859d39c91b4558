"""Gates a challenge set can be shown to."""
