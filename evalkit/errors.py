"""Every error this package raises on purpose.

    EvalkitError
    |-- UsageError            exit 2: what was given cannot be read or makes no sense
    |   `-- SetError          a challenge set is malformed; carries every fault found
    |-- EvidenceError         exit 1: a figure, file or record is not what it claims to be
    |-- RefusedError          exit 3: spent, unfrozen, edited, unpinned, drifted; or not checkable
    |-- IncompleteError       exit 4: stopped midway; what is done is safe and can be continued
    `-- StorageError          exit 5: our own storage failed its integrity check; nothing was done

A message says what was being read, where, what was expected and what was
found, and never a secret. The command line prints it as one line.
"""


class EvalkitError(Exception):
    """Root of the errors of this package; ``exit_code`` is what a command ends with."""

    exit_code = 3


class UsageError(EvalkitError):
    """What was given cannot be read or makes no sense."""

    exit_code = 2


class SetError(UsageError):
    """A challenge set is malformed.

    Args:
        source: the file's name.
        faults: one sentence a fault, all of them, each with where, expected and got.
    """

    def __init__(self, source: str, faults: list[str]) -> None:
        self.source = source
        self.faults = faults
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        super().__init__(f"{source}: {count}: " + "; ".join(faults))


class EvidenceError(EvalkitError):
    """A figure, file or record is not what it claims to be."""

    exit_code = 1


class RefusedError(EvalkitError):
    """The work is refused, or the check could not be made."""

    exit_code = 3


class IncompleteError(EvalkitError):
    """The work stopped midway; what is done is safe and can be continued."""

    exit_code = 4


class StorageError(EvalkitError):
    """Our own storage failed its integrity check; nothing was done."""

    exit_code = 5
