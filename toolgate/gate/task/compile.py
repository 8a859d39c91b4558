"""The lexicon's YAML to the compact form the reader loads. Used by the build alone."""

import json
from typing import Any

from toolgate.canonical import canonical_bytes, digest
from toolgate.errors import InputError
from toolgate.gate.effects.model import TYPES
from toolgate.gate.policy.match import EFFECT_KEYS
from toolgate.gate.task.lexicon import (
    BASE,
    CUES,
    END,
    GERUND,
    NOUN,
    PARTICIPLE,
    first_words,
    steps_of,
)
from toolgate.gate.task.meanings import FORMAT, KEYS

_TOP = frozenset(
    (
        "lexicon",
        "irregular",
        "double",
        "acts",
        "beyond_looking",
        "maybe_beyond_looking",
        "joined",
        "broad",
        "transitive",
        "named_with",
        "placed_with",
        "further",
        "asked_with",
        "light",
        "looking",
        "prepositions",
        "aside",
        "determiners",
        "things",
        "environments",
        "reaches",
        "runners",
        "instruments",
        "kinds",
        "means",
        "anything",
        "pronouns",
        "idle",
        "cues",
        "constructions",
        "addressed",
        "reports",
        "own",
        "reported",
        "labels",
        "writes",
        "texts",
        "opens",
    )
)
_ACT = frozenset(("verbs", "nouns", "does", "named"))
_CONSTRUCTION = frozenset(("say", "as", "then", "starts", "ends"))
_THEN = frozenset(
    ("verb", "doing", "deed", "done", "name", "end", "negation", "restraint", "doubt")
)
_ITEM = frozenset((*EFFECT_KEYS, "words", "lacks", "above", "operands", "changes"))
_VOWELS = "aeiou"
_PROGRAMS = ("rm", "npm", "git", "pip", "apt", "apt-get", "brew", "terraform", "kubectl")


def compile_lexicon(source: bytes, *, name: str = "lexicon") -> bytes:
    """Compile the lexicon.

    Args:
        source: the YAML text.
        name: what to call it in messages.

    Returns:
        Canonical JSON; its SHA-256 is the ``lexicon`` of a compiled policy.

    Raises:
        InputError: with the first fault found.
    """
    import yaml

    try:
        body = yaml.safe_load(source.decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: {str(error)[:200]}") from None
    _check(body, name)
    verbs = [
        [act, _forms(phrase, body["irregular"], body["double"]), phrase.partition(" ")[2]]
        for act, item in body["acts"].items()
        for phrase in item.get("verbs", ())
    ]
    verbs += [
        [act, {NOUN: ""}, phrase]
        for act, item in body["acts"].items()
        for phrase in item.get("nouns", ())
    ]
    cues = [
        [cue, {BASE: ""}, str(phrase)]
        for cue, phrases in body["cues"].items()
        for phrase in phrases
    ]
    said = [
        [str(number), {BASE: ""}, phrase]
        for number, item in enumerate(body["constructions"])
        for phrase in item["say"]
    ]
    return canonical_bytes(
        {
            "format": FORMAT,
            "verbs": _wordings(verbs, name),
            "cues": _wordings(cues, name),
            "constructions": _wordings(said, name),
            "plainly": body["constructions"],
            "acts": {
                act: {"does": item["does"], "named": item.get("named", [])}
                for act, item in body["acts"].items()
            },
            "things": {
                thing: {"paths": item["paths"], "effects": item.get("effects", [])}
                for thing, item in body["things"].items()
            },
            "nouns": _named({thing: item["nouns"] for thing, item in body["things"].items()}, name),
            "environments": _named(body["environments"], name),
            "places": {
                word: place
                for place, words in body["environments"].items()
                for word in map(str, words)
                if " " not in word
            },
            "reported": _named({"reported": body["reported"]}, name),
            "texts": _named({"text": body["texts"]}, name),
            "opens": _named({"opens": body["opens"]}, name),
            "light": _named({"light": body["light"]}, name),
            "means": body["means"],
            "named_with": body["named_with"],
            "placed_with": body["placed_with"],
            "further": body["further"],
            "asked_with": body["asked_with"],
            **{
                key: sorted(set(map(str, body[key])))
                for key in (
                    "beyond_looking",
                    "maybe_beyond_looking",
                    "joined",
                    "broad",
                    "transitive",
                    "looking",
                    "prepositions",
                    "aside",
                    "determiners",
                    "reaches",
                    "runners",
                    "instruments",
                    "kinds",
                    "anything",
                    "pronouns",
                    "idle",
                    "addressed",
                    "reports",
                    "own",
                    "labels",
                    "writes",
                )
            },
        }
    )


def compile_meanings(lexicon: bytes) -> bytes:
    """Return the part of a compiled lexicon that calls are matched with.

    Args:
        lexicon: the compiled lexicon.
    """
    body = json.loads(lexicon)
    part = {"format": FORMAT, "lexicon": digest(lexicon), **{key: body[key] for key in KEYS}}
    return canonical_bytes(part)


def expanded(phrase: str) -> list[str]:
    """Return every wording of a phrase with alternatives such as ``(a|the|) branch``.

    Raises:
        InputError: a bracket is not closed.
    """
    start = phrase.find("(")
    if start < 0:
        return [" ".join(phrase.split())]
    stop = phrase.find(")", start)
    if stop < 0:
        raise InputError(f"lexicon phrase {phrase!r}: a bracket is not closed")
    ends = expanded(phrase[stop + 1 :])
    made = [
        " ".join(f"{phrase[:start]} {choice} {end}".split())
        for choice in phrase[start + 1 : stop].split("|")
        for end in ends
    ]
    return list(dict.fromkeys(made))


def _wordings(rows: list[list[Any]], name: str) -> dict[str, Any]:
    """Return wordings, and under each word that one can begin with the numbers of those.

    A wording is what it says, the forms of its first word and the phrase, or what follows them.

    Raises:
        InputError: a bracket is not closed.
    """
    starts: dict[str, list[int]] = {}
    for number, (says, forms, phrase) in enumerate(rows):
        if phrase.count("(") != phrase.count(")"):
            raise InputError(f"{name}: {says}: {phrase!r}: a bracket is not closed")
        if any("(" in part.partition(")")[0] for part in phrase.split("(")[1:]) or any(
            part.count(")") > 1 for part in phrase.split("(")
        ):
            raise InputError(f"{name}: {says}: {phrase!r}: brackets within brackets")
        firsts = {word for word in forms.values() if word} or first_words(steps_of(phrase))
        for first in sorted(firsts):
            starts.setdefault(first, []).append(number)
    return {"wordings": rows, "starts": starts}


def _check(body: Any, name: str) -> None:
    if not isinstance(body, dict) or body.get("lexicon") != 1:
        raise InputError(f"{name}: expected a mapping with lexicon: 1")
    if body.keys() != _TOP:
        wrong = sorted(map(str, body.keys() ^ _TOP))
        raise InputError(f"{name}: unknown or missing keys: {', '.join(wrong)}")
    for cue in sorted(set(CUES) ^ body["cues"].keys()):
        raise InputError(f"{name}: cue {cue} is unknown or missing")
    for item in body["constructions"]:
        if not {"say", "as"} <= item.keys() <= _CONSTRUCTION or not isinstance(item["as"], str):
            raise InputError(f"{name}: construction {item}: expected say and as, a text")
        if not set(item.get("then", ())) <= _THEN:
            raise InputError(f"{name}: construction {item['as']}: then is one of {sorted(_THEN)}")
    for act, item in body["acts"].items():
        if not isinstance(item, dict) or not item.keys() <= _ACT or "does" not in item:
            raise InputError(f"{name}: act {act}: expected verbs, nouns, does and named")
        for one in item["does"]:
            if not one or not one.keys() <= _ITEM:
                raise InputError(f"{name}: act {act}: {one} is no description of an effect")
            for kind in one.get("type", ()):
                if kind not in TYPES:
                    raise InputError(f"{name}: act {act}: unknown type {kind}")
    for key in ("beyond_looking", "maybe_beyond_looking", "joined", "broad", "looking"):
        for act in set(body[key]) - body["acts"].keys():
            raise InputError(f"{name}: {key}: unknown act {act}")


def _forms(phrase: str, irregular: dict[str, list[str]], double: list[str]) -> dict[str, str]:
    """Return the forms of a phrase's verb that are read."""
    verb = phrase.partition(" ")[0]
    if verb in _PROGRAMS:
        return {BASE: verb}
    if verb in irregular:
        _, _, participle, gerund = irregular[verb]
    elif verb in double:
        participle, gerund = f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"
    elif verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        participle, gerund = f"{verb}d", f"{verb[:-1]}ing"
    elif verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        participle, gerund = f"{verb[:-1]}ied", f"{verb}ing"
    else:
        participle, gerund = f"{verb}ed", f"{verb}ing"
    return {BASE: verb, GERUND: gerund, PARTICIPLE: participle}


def _put(tree: dict[str, Any], words: list[str], value: str, name: str) -> None:
    node = tree
    for word in words:
        node = node.setdefault(word, {})
    if node.setdefault(END, value) != value:
        raise InputError(f"{name}: {' '.join(words)!r} says both {node[END]} and {value}")


def _named(groups: dict[str, list[Any]], name: str) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for value, phrases in groups.items():
        for phrase in phrases:
            for text in expanded(str(phrase)):
                _put(tree, text.split(), value, name)
    return tree
