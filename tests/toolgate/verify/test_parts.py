"""Parts of the verifier that no ledger reaches in all their forms."""

from toolgate.verify.words import counted


def test_numbers_in_sentences():
    assert counted(1, "spine entry") == "1 spine entry"
    assert counted(2, "spine entry") == "2 spine entries"
    assert counted(0, "copy") == "0 copies"
