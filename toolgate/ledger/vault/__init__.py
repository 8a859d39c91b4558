"""The vault: what the gate was given, kept beside the ledger so that it can decide again.

It holds content, so it is no part of the ledger and of no proof: it has its own
directory, its own retention, and may be deleted at any time. Nothing but the
hook, ``replay`` and the vault's own commands may read or write it, but for
``evalkit set from-ledger``, which reads calls and redacts them.
"""
