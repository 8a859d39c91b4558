"""Shell text that ends inside a quotation.

No shell runs a line whose quotation never closes. Such a text is read with the
missing mark put behind it: what it would do closed is at least what it does, also
where whatever hands it to the shell puts more behind it.

Source: POSIX.1-2024, Shell Command Language, 2.2 Quoting.
"""

import re

# What stands before the open quotation is followed only where a quotation mark can mean
# nothing else: no substitution, no here-document, no comment, no dollar before a mark.
_BEFORE = re.compile(
    r"""(?:
    [^'"\\`$<\#]
    | \\.
    | '[^']*'
    | "(?:[^"\\`$] | \\. | \$(?![({]))*"
    | \$(?![({'"])
    | <(?!<)
    | (?<![\s;&|()])\#
    )*""",
    re.VERBOSE | re.DOTALL,
)


def missing_mark(text: str) -> str:
    """Return the quotation mark that a text lacks at its end; "" where that is not plain.

    Args:
        text: shell text that does not parse.
    """
    if text[:1] == "#":
        return ""
    begun = _BEFORE.match(text)
    start = begun.end() if begun else 0
    mark, rest = text[start : start + 1], text[start + 1 :]
    if mark == "'":
        return "" if "'" in rest else mark
    if mark != '"':
        return ""
    escapes = len(rest) - len(rest.rstrip("\\"))
    closed = '"' in rest.replace("\\\\", "").replace('\\"', "")
    return "" if closed or escapes % 2 else mark
