"""Words and operators of the languages that are read by their tokens."""

# How tight operators bind; what is not listed ends an expression.
BINDING = {
    **dict.fromkeys(
        ("=", "+=", ".=", "||=", "&&=", "??=", "//=", "-=", "*=", "/=", "<<=", ">>="), 1
    ),
    **dict.fromkeys(("?",), 2),
    **dict.fromkeys(("||", "&&", "??", "or", "and", "//", "xor"), 3),
    **dict.fromkeys(("==", "===", "!=", "!==", "<", ">", "<=", ">=", "=~", "!~", "<=>", "in"), 4),
    **dict.fromkeys(("instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "|", "&", "^"), 4),
    **dict.fromkeys(("<<", ">>", "..", "..."), 5),
    **dict.fromkeys(("+", "-", "."), 6),
    **dict.fromkeys(("*", "/", "%", "**", "x"), 7),
}
JOINS = {"javascript": "+", "ruby": "+", "perl": ".", "php": ".", "python": "+"}
# Words that stand before a value and change nothing about what it calls.
SILENT = {
    "javascript": frozenset(
        (
            *("const", "let", "var", "new", "await", "return", "throw", "typeof", "void", "yield"),
            *("async", "static", "export", "default", "extends", "delete", "of", "else", "try"),
            *("finally", "do", "case"),
        )
    ),
    "ruby": frozenset(
        (
            *("return", "yield", "not", "then", "begin", "ensure", "else", "do", "defined?", "end"),
            *("loop", "raise", "BEGIN", "END", "alias", "undef"),
        )
    ),
    "perl": frozenset(
        (
            *("my", "our", "local", "state", "return", "not", "do", "else", "defined", "scalar"),
            *("ref", "BEGIN", "END", "try", "finally", "new", "wantarray"),
        )
    ),
    "php": frozenset(
        (
            *(
                "new",
                "return",
                "throw",
                "yield",
                "static",
                "public",
                "private",
                "protected",
                "final",
            ),
            *("abstract", "readonly", "const", "var", "global", "clone", "case", "default", "else"),
            *("try", "finally", "do", "as", "use", "declare", "goto", "extends", "implements"),
        )
    ),
    "python": frozenset(
        (
            *(
                "await",
                "return",
                "yield",
                "not",
                "else",
                "try",
                "finally",
                "with",
                "lambda",
                "pass",
            ),
            *("assert", "raise", "del", "nonlocal", "global", "async", "from"),
        )
    ),
}
CONDITIONS = {
    "javascript": frozenset(("if", "while", "switch", "catch")),
    "ruby": frozenset(("if", "unless", "while", "until", "elsif", "case", "when", "rescue")),
    "perl": frozenset(("if", "unless", "while", "until", "elsif")),
    "php": frozenset(("if", "while", "elseif", "switch", "match", "catch")),
    "python": frozenset(("if", "while", "elif", "except")),
}
DEFINES = {
    "javascript": frozenset(("function", "class")),
    "ruby": frozenset(("def", "class", "module")),
    "perl": frozenset(("sub", "package")),
    "php": frozenset(("function", "fn", "class", "interface", "trait", "namespace", "enum")),
    "python": frozenset(("def", "class")),
}
NAMED_SCOPES = frozenset(("class", "module", "package", "interface", "trait", "namespace", "enum"))
JUMPS = {
    "javascript": frozenset(("break", "continue")),
    "ruby": frozenset(("end", "break", "next", "redo", "retry")),
    "perl": frozenset(("next", "last", "redo")),
    "php": frozenset(("break", "continue", "endif", "endforeach", "endwhile", "endfor")),
    "python": frozenset(("break", "continue")),
}
# Words that may stand behind a call without brackets and are no argument of it.
ENDS_ARGUMENTS = {
    "javascript": frozenset(("in", "of", "instanceof", "else", "do")),
    "ruby": frozenset(
        (
            *("or", "and", "if", "unless", "do", "end", "while", "until", "then", "in", "rescue"),
            *("else", "elsif", "ensure"),
        )
    ),
    "perl": frozenset(
        ("or", "and", "xor", "if", "unless", "for", "foreach", "while", "until", "else", "elsif")
    ),
    "php": frozenset(("or", "and", "xor", "as", "instanceof", "else")),
    "python": frozenset(("or", "and", "in", "is", "if", "else", "for", "as")),
}
WORD_OPERATORS = frozenset(("eq", "ne", "lt", "gt", "le", "ge", "cmp", "x"))  # of Perl
WORD_VALUES = {
    "true": True,
    "false": False,
    "null": None,
    "nil": None,
    "undef": None,
    "undefined": None,
}
PHP_STATEMENTS = frozenset(("include", "include_once", "require", "require_once", "print", "echo"))
LIST_FUNCTIONS = frozenset(("map", "grep", "first", "any", "all"))
BLOCK_FUNCTIONS = frozenset(("map", "grep", "sort", "eval", "do", "first", "any", "all", "try"))
# Methods of Ruby whose block is given what they open or find, and not what they belong to.
MAKES = frozenset(
    (
        *("open", "new", "popen", "start", "glob", "each_child", "children", "foreach", "entries"),
        *("each_entry", "then", "mktmpdir"),
    )
)
