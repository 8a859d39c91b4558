"""The session ledger: one redacted record per agent session, in the ledger's own chain.

Nothing here reads the vault. Sources take the fields they name and no others;
``store.store`` is the only way in, ``read.read`` the only way out.
"""
