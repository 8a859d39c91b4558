"""Here-documents of plain text: those with a quoted mark, whose lines stand for themselves.

One is left to the grammar where that does not read it as bash does: its mark also
begins another line, or its first line begins with a blank or an escape.

Source: POSIX.1-2024, Shell Command Language, 2.7.4 Here-Document.
"""

import re

QUOTATION = re.compile(
    r"""[ \t]*+ (?:
    (?P<heredoc> << [ \t]*+ (?P<q>['"]) (?P<mark> (?!\d) \w++ ) (?P=q) [ \t]*+ \n
        (?P<body> (?! [ \t\n\\] ) (?: (?! [ \t]*+ (?P=mark) ) [^\n]*+ \n )*+ )
        (?P=mark) (?: \n | \Z ) )
    |(?P<said> (?<![^ \t]) "\$\(cat[ ]<<'(?P<ends> (?!\d) \w++ )'\n
        (?P<says> (?! [ \t\n\\] ) (?: (?! [ \t]*+ (?P=ends) ) [^\n]*+ \n )*+ )
        (?P=ends) \n \)" (?![^ \t\n;|]) )
    )""",
    re.VERBOSE | re.ASCII,
)
"""A here-document at the end of its line, or what a substitution of ``cat`` says of one."""
