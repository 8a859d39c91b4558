"""The decision ledger: its only writer, and the pure pieces a verifier shares with it."""
