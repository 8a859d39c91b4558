"""Which words of a sentence are the user's own wishes: no questions, no reports. Pure."""

from toolgate.gate.task.lexicon import Lexicon, longest
from toolgate.gate.task.tokens import MARK, QUOTED, WORD, Sentence, Token

_ASKS = frozenset(
    (
        *("what", "why", "how", "which", "who", "whose", "where"),
        *("did", "does", "is", "are", "was", "were", "has", "have", "had"),
        *("should", "shall", "am", "will", "would", "could", "can", "do", "may", "might"),
    )
)
_TO_THE_AGENT = ("can", "could", "would", "will")
_RESUMES = ("but", "however", "still", "instead", "nevertheless")
_AMBIGUOUS = frozenset(
    (
        *("orders", "thought", "notes", "quotes", "reads", "states", "allows", "permits"),
        *("expects", "requests", "demands", "asks", "posted", "noted", "wanted", "expected"),
    )
)
_TOLD = frozenset(
    ("that", "to", "not", "us", "me", "you", "we", "i", ":", "never", "no", "do", "only")
)
_FAR = 8
"""How many words may stand between a verb of writing and the text's noun, or from it to its
opening."""


_RUNS = frozenset(
    ("run", "running", "use", "using", "execute", "executing", "call", "invoke", "issue", "do")
)
"""Words before a quoted command that say it is about running it."""
_NEGATES = frozenset(("not", "never", "no", "without", "avoid", "nobody", "stop"))
_OF_PACKAGES = frozenset(("install", "i", "ci", "add", "publish", "update", "upgrade"))
"""What a runner of scripts does itself."""


def own_tokens(sentence: Sentence, lexicon: Lexicon, *, opened: bool) -> tuple[Token, ...]:
    """Return the tokens of a sentence that are the user's own words about what to do.

    Args:
        sentence: the sentence.
        lexicon: the lexicon.
        opened: whether the line before has announced somebody else's text, or text to write.
    """
    tokens = _unquoted(sentence.tokens, lexicon)
    if opened or not tokens or _is_question(sentence):
        return ()
    start = _from(tokens, lexicon)
    if start is None:
        return tokens
    for position in range(start + 1, len(tokens)):
        token = tokens[position]
        if token.kind == WORD and token.text in _RESUMES:
            return (*tokens[:start], Token(";", MARK, ";"), *tokens[position:])
    return tokens[:start]


def _unquoted(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Return tokens in which a quoted command that is not to be run stands as words.

    ``never run `git push``` says of pushing what it would say without the marks. A quotation
    whose words are no act of the lexicon, or that nothing runs, stays a name; so does a command
    that is asked for, because only just this one is.
    """
    if all(token.kind != QUOTED for token in tokens):
        return tokens
    made: list[Token] = []
    for token in tokens:
        words = token.text.lower().split() if token.kind == QUOTED else []
        run = bool(made) and made[-1].kind == WORD and made[-1].text in _RUNS
        run = run and any(one.text in _NEGATES for one in made)
        own = len(words) > 1 and (words[0] not in lexicon.runners or words[1] in _OF_PACKAGES)
        if run and own and lexicon.verbs.at(words, 0)[1] > 1:
            made += [Token(word, WORD, word) for word in words]
        else:
            made.append(token)
    return tuple(made)


def announces(sentence: Sentence, lexicon: Lexicon) -> bool:
    """Say whether a line ends by announcing text that is not the user's own wish."""
    return sentence.ends == ":" and _from(sentence.tokens, lexicon) is not None


def _is_question(sentence: Sentence) -> bool:
    """Say whether a sentence asks for an answer and not for an act."""
    if sentence.ends != "?":
        return False
    words = [token.text for token in sentence.tokens if token.kind == WORD]
    while words and words[0] in (
        "and",
        "so",
        "but",
        "ok",
        "okay",
        "hey",
        "hi",
        "hm",
        "also",
        "then",
    ):
        words = words[1:]
    if words[:1] and words[0] in _TO_THE_AGENT and words[1:2] == ["you"]:
        return False
    if words[1:2] == ["we"] and words[0] in _TO_THE_AGENT and "not" in words[2:4]:
        return False
    return bool(words) and words[0] in _ASKS


def _from(tokens: tuple[Token, ...], lexicon: Lexicon) -> int | None:
    """Return where words begin that are reported or to be written; None if none are."""
    words = [token.text if token.kind != QUOTED else "" for token in tokens]
    found = [
        at
        for at in (
            _label(tokens, lexicon),
            _reported(tokens, words, lexicon),
            _written(tokens, words, lexicon),
        )
        if at is not None
    ]
    return min(found, default=None)


def _label(tokens: tuple[Token, ...], lexicon: Lexicon) -> int | None:
    """Return 0 for a line such as ``error: ...`` or ``message from Bob: ...``."""
    for position, token in enumerate(tokens[:5]):
        if token.text == ":" and token.kind == MARK and position:
            return 0 if tokens[0].text in lexicon.labels else None
    return None


def _reported(tokens: tuple[Token, ...], words: list[str], lexicon: Lexicon) -> int | None:
    """Return where somebody else's words begin: at the verb that tells them."""
    for position, word in enumerate(words):
        if longest(lexicon.reported, words, position)[0] is not None:
            return 0 if position < 2 else position
        if word not in lexicon.reports or position == 0:
            continue
        subject = words[position - 1]
        if tokens[position - 1].kind == MARK or subject in lexicon.own:
            continue
        if subject in ("is", "are", "be", "was", "were", "been", "it", "that") and word not in (
            "says",
            "said",
            "told",
            "wants",
        ):
            continue
        if word in _AMBIGUOUS and not _tells(tokens, position + 1):
            continue
        return _clause_start(tokens, position)
    return None


def _tells(tokens: tuple[Token, ...], at: int) -> bool:
    """Say whether what was told follows a word that can also be a noun."""
    if at >= len(tokens):
        return False
    return tokens[at].kind == QUOTED or tokens[at].text in _TOLD


def _clause_start(tokens: tuple[Token, ...], position: int) -> int:
    while position > 0 and tokens[position - 1].kind != MARK:
        if tokens[position - 1].text in ("and", "but", "because", "so", "since", "as", "that"):
            break
        position -= 1
    return position


def _written(tokens: tuple[Token, ...], words: list[str], lexicon: Lexicon) -> int | None:
    """Return where text begins that is to stand somewhere: ``add a note that ...``."""
    verb = text = -1
    for position, word in enumerate(words):
        kind = tokens[position].kind
        is_text = verb >= 0 and longest(lexicon.texts, words, position)[0] is not None
        if kind == WORD and word in lexicon.writes and text < 0 and not is_text:
            verb = position
            if word in ("say", "state", "mention", "document", "note") and position + 1 < len(
                words
            ):
                if longest(lexicon.opens, words, position + 1)[0] is not None:
                    return position + 1
                if words[position + 1] == ":":
                    return position + 1
        if verb < 0:
            continue
        if position - max(verb, text) > _FAR:
            verb = text = -1
            continue
        said, end = longest(lexicon.texts, words, position)
        if said is not None and position > verb:
            text = end - 1
            continue
        if text < 0:
            continue
        if word == ":" and kind == MARK:
            return position
        if word in (",", ";") and kind == MARK:
            verb = text = -1
            continue
        if position > text and longest(lexicon.opens, words, position)[0] is not None:
            return position
    return None
