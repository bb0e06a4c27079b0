"""*inflection*: does the answer stay when nouns change their number, or verbs their tense?

As *Morpheus* (arXiv 2005.04364) in its means, not in its aim: it makes the errors of learners,
here the sentence stays well formed. TextAttack's ``WordSwapInflections`` asks a tagger that has to
be downloaded; here only places count where the words around decide the form. A plural after a
preposition and its owner becomes singular ("with his friends"). A verb changes its tense alone, if
it is a form of "be" or straight after its pronoun, and no other word of the text may be a finite
verb or bind it to a time. An invariance found here says that the reference does not mind whether
it was or is, one or many, not that both are true.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Literal

from perturbations.capability import EditingCapability, check_choice
from perturbations.edits import Change, Edit, has_capitals, like
from perturbations.lexicon import base_forms_by_part, inflect, wordnet
from scope.records import Setting

Kind = Literal["both", "number", "tense"]

_NOUN = re.compile(
    r"\b(?:with|without|for|from|about)\s+(?:his|her|my)\s+(?P<noun>[a-z]{3,})"
    r"(?=\s*(?:[.,;:!?)]|$|\s(?:in|on|at|with|from|and|or|but)\s))",
    re.IGNORECASE,
)
"""Preposition, one owner, noun, end of the phrase."""

_PAIRS = frozenset((
    "parents", "grandparents", "twins", "triplets", "lips", "ears", "fingers", "toes", "feet",
    "legs", "knees", "shoulders", "wings", "teeth", "shoes", "boots", "gloves", "socks", "skates",
    "skis", "heels", "lives",
))  # fmt: skip
"""Nouns of which one is odd."""

_SEVERAL = re.compile(
    r"\b(?:they|them|themselves|their|these|those|both|all|each|every|others?|together|among|"
    r"between|many|few|several|various|different|most|some|one|two|three|four|five|\d+)\b",
    re.IGNORECASE,
)
"""Words by which the rest of a text may count on several."""

_AUXILIARIES = MappingProxyType({"is": "was", "are": "were", "am": "was"})
_BACK = MappingProxyType({"was": "is", "were": "are"})
_VERB = re.compile(
    r"(?:(?<![\w'-])(?P<subject>i|you|he|she|it|we|they|who|which|that)\s+)?"
    r"(?<![\w'’@#/-])(?P<verb>[a-z]+)(?![\w@/-])",
    re.IGNORECASE,
)
_MARKED = re.compile(r"['’\"“”@#]|\b(?:im|ive|dont|cant|wont|arent|\w+[sd]nt)\b", re.IGNORECASE)
"""What may be a verb in short; quotes, and messages, which are of the moment."""
_OTHER_VERBS = frozenset((
    "can", "could", "will", "would", "shall", "should", "may", "might", "must", "cannot", "have",
    "has", "had", "do", "does", "did", "be", "been", "if", "wish", "as", "because",
))  # fmt: skip
_TIMES = frozenset((
    "today", "tonight", "tomorrow", "yesterday", "now", "currently", "soon", "ago", "since", "yet",
    "still", "already", "ever", "never", "always", "again", "last", "next", "when", "while",
    "until", "till", "before", "after", "once", "then", "just", "finally", "longer", "anymore",
    "new", "morning", "night", "day", "days", "week", "month", "year", "years", "hours", "minutes",
    "favorite", "favourite", "future", "best", "worst", "only", "first",
))  # fmt: skip
"""Words by which a text may be bound to its tense."""
_LEADS_TO_NOUN = frozenset((
    "in", "on", "for", "with", "from", "at", "by", "about", "into", "through", "like", "without",
    "under", "over", "to", "of", "between", "his", "her", "its", "their", "my", "our", "your",
    "the", "a", "an", "this", "these", "those", "two", "three", "four", "some", "many", "several",
    "other", "no",
))  # fmt: skip
_SPEAKERS = frozenset(["i", "you", "we"])
_ONE, _MANY, _EITHER = frozenset(["he", "she", "it"]), frozenset(["we", "they"]), frozenset(
    ["who", "which", "that"]
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Inflection(EditingCapability):
    """Puts a noun into the singular, or the verb into the other tense.

    Parameters
    ----------
    change
        ``number`` of nouns, ``tense`` of the verb, or ``both``, one at a time.
    max_characters
        Longest text that is searched.
    """

    name = "inflection"
    question = (
        "Does the prediction stay the same when nouns change their number or verbs their tense?"
    )
    nothing = "no English noun or verb whose form may change alone"
    groups = ("meaning",)
    example = ("It is a story of the boys.", "It was a story of the boys.")
    queries = 6
    accepted = "1.00 [0.93, 1.00] of 50; none flipped"
    lexicons = ("wordnet",)

    change: Kind = "both"

    def __post_init__(self) -> None:
        check_choice("change", self.change, Kind)

    def settings(self) -> Mapping[str, Setting]:
        """What changes, and the version of the library that knows the forms."""
        return {**super().settings(), "lemminflect": version("lemminflect")}

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each plural in the singular; the verb in the other tense."""
        if self.change != "tense":
            yield from other_numbers(text)
        if self.change != "number":
            yield from other_tense(text)


def _only(word: str, kind: str, tags: tuple[str, ...], wanted: str) -> str | None:
    """The wanted form of a word that is one of these forms and none of the wanted; first bases."""
    for base in base_forms_by_part(word).get(kind, ()):
        forms = inflect()(base, kind)
        if any(word in forms.get(tag, ())[:1] for tag in tags) and forms.get(wanted):
            new = forms[wanted][0]
            return new if new != word else None
    return None


def other_numbers(text: str) -> Iterator[Change]:
    """Each plural that ends a phrase after a preposition and one owner, in the singular.

    A phrase after a preposition is no subject, so no verb has to follow. One becomes not several,
    which is seldom sensible ("with his noses"); what comes in pairs stays.

    Examples
    --------
    >>> from perturbations.edits import edited
    >>> [edited("out with his friends", one) for one in other_numbers("out with his friends")]
    ['out with his friend']
    """
    for match in () if _SEVERAL.search(text) else _NOUN.finditer(text):
        noun = match["noun"].lower()
        if match["noun"][0].isupper() and has_capitals(text):
            continue  # part of a name
        new = _only(noun, "NOUN", ("NNS",), "NN")
        if new and noun not in _PAIRS and not wordnet().is_lemma(noun):
            yield (Edit(*match.span("noun"), like(match["noun"], new)),)


def other_tense(text: str) -> Iterator[Change]:
    """The only verb of a text, a form of "be" or straight after its pronoun, in the other tense.

    Left out are texts with another word that may be a finite verb or that may bind them to a time,
    and messages and what the writer says of the writer or the reader, where "was" means that it is
    over.

    Examples
    --------
    >>> from perturbations.edits import edited
    >>> [edited("It was the end", one) for one in other_tense("It was the end")]
    ['It is the end']
    >>> list(other_tense("It is what she says"))
    []
    """
    change, before = None, ""
    for match in () if _MARKED.search(text) else _VERB.finditer(text):
        verb, subject = match["verb"].lower(), (match["subject"] or "").lower()
        new = _AUXILIARIES.get(verb) or _past(verb, subject) or _present(verb, subject)
        if (
            verb in _TIMES
            or (change and new)
            or (not new and _may_be_finite(verb, subject or before))
        ):
            return
        if new:
            if subject in _SPEAKERS:
                return
            change = Edit(*match.span("verb"), like(match["verb"], new))
        before = verb
    if change:
        yield (change,)


def _may_be_finite(word: str, before: str) -> bool:
    """Whether a word may be a verb with a tense, by the word before it."""
    if word in _OTHER_VERBS:
        return True
    kinds, other = base_forms_by_part(word), base_forms_by_part(before)
    forms = [inflect()(base, "VERB") for base in kinds.get("VERB", ())]
    tags = {tag for form in forms for tag, written in form.items() if word in written}
    noun = before in _LEADS_TO_NOUN or before.endswith("ing") or set(other) == {"ADJ"}
    after_be = before in _AUXILIARIES or before in _BACK or before == "being"
    if "VBZ" in tags:
        return not (noun and "NOUN" in kinds)
    if "VBD" in tags:
        return not (noun or after_be or before.endswith("ly"))
    nothing_else = set(kinds) == {"VERB"} and before != "to"
    return "VB" in tags and (nothing_else or not (noun or after_be or not before))


def _past(verb: str, subject: str) -> str | None:
    if subject in _ONE | _EITHER and verb.endswith("s"):
        return _only(verb, "VERB", ("VBZ",), "VBD")
    if subject in _MANY and verb != "be":
        return _only(verb, "VERB", ("VBP",), "VBD")
    return None


def _present(verb: str, subject: str) -> str | None:
    if verb in _BACK:
        return _BACK[verb]
    if subject in _ONE:
        return _only(verb, "VERB", ("VBD",), "VBZ")
    return _only(verb, "VERB", ("VBD",), "VBP") if subject in _MANY else None
