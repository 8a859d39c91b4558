"""The production hook: a host's event in, its answer out, the ledger in between."""
