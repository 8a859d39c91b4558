"""What an auditor reads: one call, one session, the last entries; in plain English.

Nothing here judges a ledger. A view repeats what entries say and explains it;
whether they may be believed is what ``toolgate.verify`` answers.
"""
