"""Nouns of another number and verbs of another tense, at places where nothing else must agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from perturbations.edits import Change, Edit, has_capitals, just_before, like

_PREPOSITIONS = "of in on for with from at by about into through like without under over between"
_DETERMINERS = "the his her its their my our your an a"
_BEFORE = rf"(?<![\w'-])(?:{'|'.join(_PREPOSITIONS.split())})\s+"
_NOUN = re.compile(
    rf"{_BEFORE}(?P<article>{'|'.join(_DETERMINERS.split())})\s+(?:(?P<adjective>\w+)\s+)?"
    rf"(?P<noun>[a-z]{{3,}})(?=\s*(?:[.,;:!?)]|$|\s(?:{'|'.join(_PREPOSITIONS.split())}|and|or|but)\s))",
    re.IGNORECASE,
)
"""Preposition, determiner, at most one word more, noun, end of the phrase."""

_UNCOUNTED = frozenset((
    "information", "news", "music", "humor", "humour", "fun", "love", "art", "action",
    "advice", "money", "water", "comedy", "drama", "health", "time", "past", "future",
    "present", "rest", "same", "other", "way", "lot", "end", "best", "worst", "most", "least",
    "world", "beginning", "air", "sea", "sun", "moon", "internet", "web", "cinema",
    "intelligence", "courage", "luck", "traffic", "weather", "luggage", "baggage", "sake",
    "behalf", "midst", "hell", "god", "life", "death", "history",
))  # fmt: skip
_UNCOUNTED_ENDS = ("ness", "ism", "ity", "ship", "hood", "ics", "ing", "ment", "ence", "ance")

_AUXILIARIES = MappingProxyType(
    {"is": "was", "are": "were", "am": "was", "has": "had", "does": "did"}
)
_BACK = MappingProxyType({"was": "is", "were": "are"})
_VERB = re.compile(
    r"(?:(?<![\w'-])(?P<subject>i|you|he|she|it|we|they|who|which|that)\s+)?"
    r"(?<![\w'@#/-])(?P<verb>[a-z]{2,})(?![\w@/-])",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(
    r"\b(?:i|you|he|she|it|we|they|that|there|here|what|who)\s?['’](?:s|re|m)\b", re.IGNORECASE
)
"""A verb in the present that has no short form in the past."""
_AUXILIARY_BEFORE = re.compile(
    r"\b(?:can|could|will|would|shall|should|may|might|must|do|does|did|to|lets?)\s+$",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(r"\b(?:if|wish|though)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_ONE, _MANY, _EITHER = frozenset(["he", "she", "it"]), frozenset(["we", "they"]), frozenset(
    ["who", "which", "that"]
)  # fmt: skip


@cache
def inflect() -> Callable[[str, str], Mapping[str, tuple[str, ...]]]:
    """lemminflect's forms of a base form, by tag of the Penn Treebank."""
    import lemminflect

    forms: Callable[[str, str], Mapping[str, tuple[str, ...]]] = lemminflect.getAllInflections
    return forms


@cache
def base_forms(word: str) -> frozenset[str]:
    """The word in small letters and its base forms in every part of speech.

    Examples
    --------
    >>> sorted(base_forms("Saw"))
    ['saw', 'see']
    """
    import lemminflect

    bases = lemminflect.getAllLemmas(word.lower()).values()
    return frozenset({word.lower(), *(base for some in bases for base in some)})


@cache
def _bases(word: str, kind: str) -> tuple[str, ...]:
    import lemminflect

    found: Mapping[str, tuple[str, ...]] = lemminflect.getAllLemmas(word)
    return tuple(found.get(kind, ()))


def _only(word: str, kind: str, tags: tuple[str, ...], wanted: str) -> str | None:
    """The wanted form of a word that is one of these forms and none of the wanted; first bases."""
    for base in _bases(word, kind):
        forms = inflect()(base, kind)
        if any(word in forms.get(tag, ())[:1] for tag in tags) and forms.get(wanted):
            new = forms[wanted][0]
            return new if new != word else None
    return None


def other_numbers(text: str) -> Iterator[Change]:
    """Each noun that ends a phrase after a preposition, in the other number.

    A phrase after a preposition is no subject, so no verb has to follow. An article "a" goes.

    Examples
    --------
    >>> from perturbations.edits import edited
    >>> [edited("lost in a theater", one) for one in other_numbers("lost in a theater")]
    ['lost in theaters']
    """
    for found in _NOUN.finditer(text):
        noun, article = found["noun"].lower(), found["article"].lower()
        if found["noun"][0].isupper() and has_capitals(text):
            continue  # part of a name: "the United States"
        base = (_bases(noun, "NOUN") or ("",))[0]
        if (
            base in _UNCOUNTED
            or base.endswith(_UNCOUNTED_ENDS)
            or (noun != base and article[0] == "a")
        ):
            continue
        new = _only(noun, "NOUN", ("NN",), "NNS") or _only(noun, "NOUN", ("NNS",), "NN")
        if new is None or _bases(noun, "ADJ"):
            continue
        edit = Edit(*found.span("noun"), like(found["noun"], new))
        if article in ("a", "an"):
            start, end = found.span("article")
            yield Edit(start, end + 1, ""), edit
        else:
            yield (edit,)


def other_tense(text: str) -> Iterator[Change]:
    """All verbs of the text that surely are in the present, in the past; then the other way.

    Sure are forms of "be", "have" and "do", and a verb straight after a pronoun as its subject. A
    text with a contracted verb ("it's") keeps its tense.

    Examples
    --------
    >>> from perturbations.edits import edited
    >>> [edited("It is what she says", one) for one in other_tense("It is what she says")]
    ['It was what she said']
    """
    past, present = [], []
    for found in () if _CONTRACTED.search(text) else _VERB.finditer(text):
        if just_before(_AUXILIARY_BEFORE, text, found.start()):
            continue
        verb, subject = found["verb"].lower(), (found["subject"] or "").lower()
        place = found.span("verb")
        if new := _AUXILIARIES.get(verb) or _past(verb, subject):
            past.append(Edit(*place, like(found["verb"], new)))
        elif (new := _present(verb, subject)) and not just_before(_SUPPOSES, text, place[0]):
            present.append(Edit(*place, like(found["verb"], new)))
    yield from (tuple(edits) for edits in (past, present) if edits)


def _past(verb: str, subject: str) -> str | None:
    if subject in _ONE | _EITHER and verb.endswith("s"):
        return _only(verb, "VERB", ("VBZ",), "VBD")
    if subject in _MANY and verb != "be":
        return _only(verb, "VERB", ("VBP",), "VBD")
    return None


def _present(verb: str, subject: str) -> str | None:
    if verb in _BACK:
        return "am" if subject == "i" else _BACK[verb]
    if subject in _ONE:
        return _only(verb, "VERB", ("VBD",), "VBZ")
    return _only(verb, "VERB", ("VBD",), "VBP") if subject in _MANY else None
