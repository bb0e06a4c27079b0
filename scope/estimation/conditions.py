"""Readable conditions on a text: words and kinds of words that it holds, its length, its topic.

Each condition holds for some texts and completes "texts ...": *with a negation*, *with “refund”*,
*of 25 words or more*. Conditions rest on the texts alone and on what the reference answers, never
on a target, so they may be made before any target answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError, printable, shown
from scope.protocols import UntrustedCode
from scope.registry import Entry, entries, usable

Holds = NDArray[np.bool_]
"""Shape (texts,): which texts a condition holds for."""

FEWEST_TEXTS = 8
"""A condition that holds for fewer texts, or fails for fewer, is not tried."""

MOST_WORDS = 1500
"""Words, and runs of marks such as “...”, that are conditions: the commonest."""

TOPICS = 24
"""Topics that the texts are divided into."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MARKS = re.compile(r"[^\w\s]+")
_CAPITAL = r"[A-ZÀ-ÖØ-Þ]"


def _words(words: str) -> str:
    return rf"(?i)\b(?:{'|'.join(words.split())})\b"


WORD_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "with a negation": _words(
            "not no never none nobody nothing neither nor nowhere cannot without hardly "
            r"\w+n['’]t dont cant wont didnt doesnt isnt wasnt arent couldnt wouldnt shouldnt aint"
        ),
        "with a modal verb": _words("can could may might must shall should will would ought"),
        "with a contrast (but, though, ...)": _words(
            "but though although however yet despite unless instead"
        ),
        "with a comparison (more, than, ...)": _words("more most less least than better worse"),
        "with an intensifier (very, so, ...)": _words(
            "very really so too extremely totally completely absolutely quite"
        ),
        "in the first person": _words("i i'm im i've i'd i'll me my mine myself we us our"),
        "in the second person": _words("you your yours yourself u ur"),
        "with a woman or girl": _words(
            "she her hers herself woman women girl girls mother mom mum mrs ms lady ladies wife "
            "daughter sister actress queen"
        ),
        "with a man or boy": _words(
            "he him his himself man men boy boys father dad mr guy guys husband son brother king"
        ),
        "with a number": r"\d",
        "with a question mark": r"\?",
        "with an exclamation mark": "!",
        "with a quotation": r"[\"“”«»]|(?<!\w)['‘][^'’‘]{1,200}['’](?!\w)",
        "with an emoji or emoticon": (
            r"[\U0001F300-\U0001FAFF\u2600-\u27BF]|(?<!\w)[:;=][-'o]?[)(\]\[dDpP/\\|*]|<3"
        ),
        "with a link": r"(?i)https?:|www\.",
        "with a mention (@)": r"@\w",
        "with a hashtag": r"#\w",
        "with a word in capitals": rf"\b{_CAPITAL}{{3,}}\b",
        "with a name (a capital inside a sentence)": rf"(?<=[a-zà-ÿ,;] ){_CAPITAL}[a-zà-ÿ]+",
        "with a lengthened word (sooo)": r"(?i)([a-z])\1\1",
        "with a short form without its apostrophe": _words(
            "dont cant wont didnt doesnt isnt wasnt arent couldnt wouldnt shouldnt aint im ive "
            "youre theyre thats whats"
        ),
        "with a letter outside English": r"[^\W\d_a-zA-Z]",
        "with a word that ends in -ing": r"(?i)\w{2}ing\b",
        "with a word that ends in -ed": r"(?i)\w{2}ed\b",
        "with a word that ends in -ly": r"(?i)\w{2}ly\b",
    }
)
"""Patterns by the condition that a text meets if they are found in it."""


class Conditions(NamedTuple):
    """Named conditions and the texts for which they hold.

    ``holds`` has the shape (texts, conditions). ``words`` counts the first conditions, each of
    which is that a text holds one word, or one run of marks: several of them may be joined by *or*.
    """

    names: Sequence[str]
    holds: Holds
    words: int


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    Examples
    --------
    >>> words_of("Don’t @-mention Ann's 2 cats!")
    ["don't", 'mention', "ann's", '2', 'cats']
    """
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def conditions_of(
    texts: Sequence[str],
    named: Mapping[str, Sequence[str | None]] = MappingProxyType({}),
    *,
    seed: int = 0,
) -> Conditions:
    """Every condition that holds for enough texts and fails for enough, those of plugins included.

    A plugin adds conditions by one function from the texts to a mapping: by the name of a
    condition, which completes "texts ...", whether each text meets it.

    Parameters
    ----------
    texts
        Each text once.
    named
        Further conditions by kind: of each text the one that it meets, such as ``labelled
        positive``, or None.
    seed
        Of the division into topics.

    Raises
    ------
    ModelError
        When a plugin's function fails, or returns something else.

    Examples
    --------
    >>> conditions_of(["not bad"] * 8 + ["good, but long"] * 8 + ["plain"] * 8).names[-2:]
    ('with a negation', 'with a contrast (but, though, ...)')
    """
    split = [words_of(text) for text in texts]
    words = _word_table(
        [[*words, *_MARKS.findall(text)] for words, text in zip(split, texts, strict=True)]
    )
    others: dict[str, Sequence[bool] | Holds]
    others = {**_lengths([len(each) for each in split]), **_topics(split, seed)}
    made = len(others)
    for name, pattern in WORD_CLASSES.items():
        search = re.compile(pattern).search
        others[name] = [search(text) is not None for text in texts]
    for values in named.values():
        for value in sorted({each for each in values if each is not None}):
            others[value] = [each == value for each in values]
    for entry in entries("regions"):
        others.update(_of_plugin(usable("regions", entry), texts))
    names = [f"with “{word}”" for word in words]
    names += others
    table = np.array([*words.values(), *map(list, others.values())], dtype=bool)
    return _usable(names, table.reshape(len(names), len(texts)).T, len(words), made)


def text_check(name: str) -> Callable[[str], bool] | None:
    """Whether a further text meets a condition of `conditions_of`, told by its words and marks.

    None of topics, of plugins' conditions and of those that were ``named``.

    Examples
    --------
    >>> text_check("with “refund”")("No refund!"), text_check("of 3 words or more")("No refund!")
    (True, False)
    """
    if name in WORD_CLASSES:
        pattern = re.compile(WORD_CLASSES[name])
        return lambda text: pattern.search(text) is not None
    if word := re.fullmatch("with “(.+)”", name):
        return lambda text: word[1] in [*words_of(text), *_MARKS.findall(text)]
    if length := re.fullmatch("of ([0-9]+) words or (fewer|more)", name):
        sign, most = (1 if length[2] == "fewer" else -1), int(length[1])
        return lambda text: sign * len(words_of(text)) <= sign * most
    return None


def _of_plugin(entry: Entry, texts: Sequence[str]) -> Mapping[str, Sequence[bool]]:
    code = UntrustedCode(entry.origin)
    made = code.call("regions", entry.target, list(texts))
    if isinstance(made, Mapping) and all(len(holds) == len(texts) for holds in made.values()):
        return {printable(str(name)): [*map(bool, holds)] for name, holds in made.items()}
    raise ModelError(
        f"the regions `{entry.name}` of {entry.origin} are {shown(made)}",
        expected=f"by name of a condition, whether each of {len(texts)} texts meets it",
        fix=f"fix {entry.origin}, or uninstall it",
    )


def _usable(names: Sequence[str], holds: Holds, words: int, made: int = 0) -> Conditions:
    """The conditions that hold for neither too few nor too many texts, each set of texts once.

    Of equal conditions, classes and columns come before words, and these before the lengths and
    topics, ``made`` conditions that follow the words.
    """
    counts = holds.sum(axis=0)
    enough = (counts >= FEWEST_TEXTS) & (counts <= len(holds) - FEWEST_TEXTS)
    first: dict[bytes, int] = {}
    for place in [*range(words + made, len(names)), *range(words + made)]:
        if enough[place]:
            first.setdefault(holds[:, place].tobytes(), place)
    kept = sorted(first.values())
    return Conditions(
        tuple(names[place] for place in kept), holds[:, kept], sum(place < words for place in kept)
    )


def _word_table(split: Sequence[Sequence[str]]) -> dict[str, Holds]:
    """By word, in alphabetical order, which texts hold it."""
    places: dict[str, list[int]] = {}
    for place, words in enumerate(split):
        for word in dict.fromkeys(words):
            places.setdefault(word, []).append(place)
    common = sorted(
        (word for word, where in places.items() if len(where) >= FEWEST_TEXTS),
        key=lambda word: (-len(places[word]), word),
    )
    table = {}
    for word in sorted(common[:MOST_WORDS]):
        table[word] = np.zeros(len(split), dtype=bool)
        table[word][places[word]] = True
    return table


def _lengths(counts: Sequence[int]) -> dict[str, Holds]:
    """The longest and the shortest texts, by words, in twentieths up to one half."""
    numbers = np.array(counts)
    table = {}
    for share in np.arange(1, 11) / 20:
        most, least = np.quantile(numbers, [share, 1 - share], method="nearest")
        table[f"of {most} words or fewer"] = numbers <= most
        table[f"of {least} words or more"] = numbers >= least
    return table


def _topics(split: Sequence[Sequence[str]], seed: int) -> dict[str, Holds]:
    """Groups of texts with similar words, named by the words that tell each from the others."""
    if len(split) < 4 * TOPICS:
        return {}
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
    from sklearn.preprocessing import normalize

    vectorizer = TfidfVectorizer(
        analyzer=lambda words: [word for word in words if word not in ENGLISH_STOP_WORDS],
        **{"min_df": 3, "max_df": 0.2, "sublinear_tf": True},
    )
    try:
        weights = vectorizer.fit_transform(split)
    except ValueError:  # no word is common enough
        return {}
    if min(weights.shape) <= TOPICS:
        return {}
    chance = seed % 2**32
    vectors = normalize(TruncatedSVD(TOPICS, random_state=chance).fit_transform(weights))
    if len(np.unique(vectors.round(6), axis=0)) <= TOPICS:
        return {}
    groups = KMeans(TOPICS, n_init=1, random_state=chance).fit_predict(vectors)
    words, table = vectorizer.get_feature_names_out(), {}
    whole = np.asarray(weights.mean(axis=0)).ravel()
    for group in range(TOPICS):
        holds = groups == group
        if holds.any():
            typical = np.asarray(weights[holds].mean(axis=0)).ravel() - whole
            best = words[np.argsort(-typical, kind="stable")[:3]]
            table[f"about {', '.join(best)} (topic)"] = holds
    return table


def changed_conditions(
    before: Conditions,
    rows: Sequence[int],
    pairs: Sequence[tuple[str, str]],
    capabilities: Sequence[str],
) -> Conditions:
    """Conditions on changed texts: those of their originals, the capability, what is changed.

    Parameters
    ----------
    before
        Of the original texts.
    rows
        The original of each changed text.
    pairs
        The original and the changed text of each.
    capabilities
        By which each was changed.
    """
    table: dict[str, list[bool]] = {}
    for name in dict.fromkeys(capabilities):
        table[f"changed by {name}"] = [each == name for each in capabilities]
    gone = [_changed_words(words_of(first), words_of(last)) for first, last in pairs]
    words = _word_table([[word for word, _ in each] for each in gone])
    table |= {f"in which “{word}” is changed": holds.tolist() for word, holds in words.items()}
    for third, name in enumerate(("beginning", "middle", "end")):
        table[f"changed at the {name}"] = [
            any(min(2, int(3 * share)) == third for _, share in each) for each in gone
        ]
    counts = [len(each) for each in gone]
    table["with several words changed"] = [count > 1 for count in counts]
    more = np.array([*table.values()], dtype=bool).reshape(len(table), len(pairs)).T
    return _usable(
        [*before.names, *table],
        np.hstack([before.holds[np.array(rows, dtype=int)], more]),
        before.words,
    )


def _changed_words(first: Sequence[str], last: Sequence[str]) -> list[tuple[str, float]]:
    """The words that a change removes, with their place in the text, from 0 to 1."""
    left, changed = Counter(last), []
    for place, word in enumerate(first):
        if left[word]:
            left[word] -= 1
        else:
            changed.append((word, place / len(first)))
    return changed
