"""Who a vendor's user is: the SCIM directory says it, never a client.

Source: RFC 7643, section 4.1 (User); RFC 7644, section 3.4.2 (ListResponse).
"""

from typing import Any, NamedTuple

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError, InputError
from toolgate.ledger.regular import open_regular
from toolgate.sessions.record import is_identifier

_MAX_BYTES = 64 * 1024 * 1024


class Directory(NamedTuple):
    """The active users.

    Args:
        users: userName as the directory spells it, by its folded form.
    """

    users: dict[str, str]

    def user_of(self, vendor_user: str) -> str:
        """Return the active user whose userName a vendor's user equals; empty if nobody."""
        return self.users.get(vendor_user.casefold(), "") if vendor_user else ""


NOBODY = Directory({})


def read_directory(path: str) -> Directory:
    """Read the users of a SCIM ListResponse, or a list of SCIM users.

    Only ``active: true`` counts (some providers write it as text); a userName that may
    not stand in a record resolves nobody.

    Raises:
        InputError: the file cannot be read, is none, or names two users alike.
    """
    try:
        with open_regular(path) as file:
            body = parse(file.read(_MAX_BYTES))
    except OSError as error:
        raise InputError(f"cannot read the directory {path}: {error.strerror}") from None
    except CanonicalizationError:
        raise InputError(f"the directory {path} is no JSON text") from None
    rows: Any = body.get("Resources") if isinstance(body, dict) else body
    if not isinstance(rows, list):
        raise InputError(f"the directory {path} has no list of Resources")
    users: dict[str, str] = {}
    taken: set[str] = set()
    for number, row in enumerate(rows, 1):
        name = row.get("userName") if isinstance(row, dict) else None
        if not isinstance(name, str) or not name:
            raise InputError(f"the directory {path}: resource {number} has no userName")
        if name.casefold() in taken:
            raise InputError(f"the directory {path}: resource {number} has another one's userName")
        taken.add(name.casefold())
        if str(row.get("active")).lower() == "true" and is_identifier(name):
            users[name.casefold()] = name
    return Directory(users)
