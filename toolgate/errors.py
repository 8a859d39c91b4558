"""Every error this package raises on purpose.

    ToolgateError
    |-- EvidenceError              the bytes in front of us are bad
    |   |-- CanonicalizationError  a value has no RFC 8785 form, or bytes are not in it
    |   |-- RecordError            an entry breaks the closed schema of its kind
    |   |-- InputError             a host's payload or a log line cannot be read
    |   `-- SegmentError           a sealed segment is not what its manifest says
    |-- PolicyError                a policy or catalogue is refused; carries every fault found
    `-- CheckError                 we could not do the work; says nothing about the evidence
        |-- LedgerError            an entry could not be written, or the ledger not be read
        |-- RefusedError           what was handed in is refused as a whole; nothing was stored
        `-- UnavailableError       a file, parser or service that is needed is missing

Verifiers return findings; they raise only CheckError. A message says what was
being read, where, what was expected and what was found, and never a secret.
"""


class ToolgateError(Exception):
    """Root of the errors of this package."""


class EvidenceError(ToolgateError):
    """The evidence itself is bad."""


class CanonicalizationError(EvidenceError):
    """A value has no canonical form, or bytes are not in canonical form."""


class RecordError(EvidenceError):
    """An entry breaks the closed schema of its kind."""


class InputError(EvidenceError):
    """Input from a host, a log or a person cannot be read."""


class SegmentError(EvidenceError):
    """A sealed segment is not what its manifest says."""


class PolicyError(ToolgateError):
    """A policy or catalogue is refused.

    Args:
        source: the file or name that was being read.
        faults: one sentence a fault, all of them.
    """

    def __init__(self, source: str, faults: list[str]) -> None:
        self.source = source
        self.faults = faults
        super().__init__(f"{source}: " + "; ".join(faults))


class CheckError(ToolgateError):
    """The work could not be done; the evidence is neither good nor bad."""


class LedgerError(CheckError):
    """An entry could not be written, or the ledger could not be read."""


class RefusedError(CheckError):
    """What was handed in is refused as a whole, and nothing of it was stored."""


class UnavailableError(CheckError):
    """Something this work needs is missing here."""
