"""The base of every invariance capability: give the parts, get the search.

Checks of a capability's settings, each with its message.
"""

from __future__ import annotations

import hashlib
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

from perturbations.edits import Change, edited, some_changes
from perturbations.lexicon import lexicon_version, not_english, table_fingerprint
from perturbations.lockstep import Asks, Lockstep, OwnChance, Remembering, Search, Service
from perturbations.textattack_gate import load_textattack, require_textattack
from scope.errors import SpecError
from scope.protocols import Classifier, ComparesWords, SearchOptions, WordEncoder
from scope.records import Example, Perturbation, Setting
from scope.records.text_parts import SEPARATOR, parts_of, with_part

if TYPE_CHECKING:
    from textattack import Attack
    from textattack.constraints import Constraint, PreTransformationConstraint
    from textattack.search_methods import SearchMethod
    from textattack.transformations import Transformation


_SPLIT = "<SPLIT>"
"""Where TextAttack divides a text into two inputs; in a text of one input it loses its way."""

_NO_WORD = "no candidate: no word of the text may be changed"

_DRAWS = 3
"""How often random changes are drawn for a text that lacks some."""

_TOO_FEW = "fewer random candidates"
_NO_CHANGE = "no candidate: no change of the text meets the constraints"


class Parts(NamedTuple):
    """What a capability is made of, besides the goal that all share."""

    transformation: Transformation
    constraints: list[Constraint | PreTransformationConstraint]
    search_method: SearchMethod
    min_fit: float | None = None
    """Least cosine of a new word with the old one in its place; None where no encoder is asked."""


@dataclass(frozen=True, kw_only=True)
class InvarianceCapability(ABC):
    """A linguistic change, under which a model may or may not be invariant.

    A subclass names itself, asks its question in plain words, and gives its ``parts``; its
    dataclass fields are its settings and are in every report.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    groups: ClassVar[tuple[str, ...]] = ()
    """The groups of capabilities that ``--capability`` also takes by their names."""
    example: ClassVar[tuple[str, str]]
    """A text, and one that the search may find for it."""
    needs: ClassVar[str] = ""
    """What must be installed or named for it, in words; empty where nothing is."""
    queries: ClassVar[int | None] = None
    """What the search for kept pairs asks for a text that it can change, with three trials: the
    mean over 40 tweets and 150 film-review sentences. Random candidates add eight at most."""
    accepted: ClassVar[str] = ""
    """The share of changed texts that people accept, as ``benchmarks/valid_pairs.py`` counts: with
    its 95 % interval, the readers' agreement (Cohen's κ, where both marks occur) and the commonest
    faults. The readers, language models that saw neither each other's marks nor which pair is kept,
    read tweets, film sentences and hypotheses of SNLI; of *typo* tweets alone."""

    max_characters: int = 100_000
    """Longer texts are not searched, for time and memory; they count as failures."""

    @abstractmethod
    def parts(self, generator: random.Random) -> Parts:
        """New parts for one search; all that is random in them is drawn from the generator."""

    @property
    def changes_one_word(self) -> bool:
        """Whether a random candidate is one step of the transformation; else all it admits."""
        return True

    def settings(self) -> Mapping[str, Setting]:
        """Everything that decides what is found; a ResourceError where something is missing."""
        require_textattack()
        return asdict(self)

    def asked_models(self) -> Sequence[Any]:
        """Models beside the classifier whose answers decide what is found, or their names."""
        return ()

    def not_applicable(self, text: str) -> str | None:
        """Why the capability cannot change a text, such as "no word in Latin letters".

        None where it may. Such texts are counted by reason, and are no failures.
        """
        return None

    def left_alone(self, text: str) -> int:
        """How many words of a text are beyond the capability's bounds, and stay as they are."""
        return 0

    def search(
        self, classifier: Classifier, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Perturb each example so that the classifier stays invariant; see the protocol.

        Each (example, trial) has a seed of its own, drawn from the run's seed, the capability's
        name and the example's id: neither order nor company of the examples matters.

        Raises
        ------
        SpecError
            When there is no encoder for what one must measure.
        """
        compares = isinstance(self, ComparesWords) and self.compares_words
        if compares and not isinstance(options.encoder, WordEncoder):
            raise SpecError(
                f"the capability {self.name} without an encoder of words in context",
                expected="in SearchOptions an encoder with the method compare_words",
                fix="add the encoder, or choose --setting synonym.sense=frequent",
            )
        if options.min_similarity is not None and options.encoder is None:
            raise SpecError(
                f"a minimum similarity of {options.min_similarity} without an encoder",
                expected="an encoder that measures the similarity",
                fix="choose an encoder, or omit the minimum similarity",
            )
        load_textattack()  # not within the first search, whose chance an import would draw from
        searches = (_of_part(self._search_of, example, options) for example in examples)
        return _in_lockstep(searches, options, classify=classifier.classify)

    def draw_random(
        self, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Draw admissible changes of each example at random, whatever a model answers."""
        load_textattack()
        draws = (_of_part(self._draws_of, example, options) for example in examples)
        return _in_lockstep(draws, options)

    def attack(
        self,
        classify: Callable[[list[str]], Sequence[Any]],
        *,
        generator: random.Random,
        options: SearchOptions,
        ask_encoder: Callable[[str, Sequence[Any]], Sequence[Any]] | None = None,
        taken: Sequence[str] = (),
    ) -> Attack:
        """An ordinary TextAttack attack for one example in one trial.

        ``classify`` gives rows of probabilities or predictions, one per text; ``ask_encoder``
        takes "encode" with texts, or "compare_words" with swaps.
        """
        load_textattack()
        from textattack import Attack

        from perturbations.search import KeepsPrediction
        from perturbations.transformations import FitsContext, MeaningKept

        parts = self.parts(generator)
        constraints = [*parts.constraints]
        if ask_encoder is not None and parts.min_fit is not None:
            constraints.append(FitsContext(partial(ask_encoder, "compare_words"), parts.min_fit))
        if ask_encoder is not None and options.min_similarity is not None:
            constraints.append(MeaningKept(partial(ask_encoder, "encode"), options.min_similarity))
        goal = KeepsPrediction(classify, distance=options.distance, goal=options.goal, taken=taken)
        return Attack(goal, constraints, parts.transformation, parts.search_method)

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """About how many distinct texts all trials of an example ask about; no model is asked.

        The search is run on made-up answers, without bounds that a model measures.
        """
        if self._barred(example):
            return 0
        load_textattack()
        from perturbations.transformations import without_models

        asked: set[str] = set()

        def answer(texts: Sequence[str]) -> list[tuple[float, float]]:
            asked.update(texts)
            return list(map(_made_up, texts))

        with OwnChance(lambda _, texts: answer(texts), seed=0):
            for trial in range(1, options.trials + 1):
                attack = self.attack(answer, generator=random.Random(trial), options=options)  # noqa: S311 - no secret
                attack.constraints = without_models(attack.constraints)
                perturb(attack, example, trial)
                if attack.transformation.deterministic:
                    break  # later trials ask the same
        return len(asked)

    def generator(self, seed: int, example: Example, trial: int | str) -> random.Random:
        """The source of chance of one example in one trial, or for one purpose."""
        key = "\0".join((str(seed), self.name, example.id, str(trial)))
        return random.Random(hashlib.sha256(key.encode()).digest())  # noqa: S311 - no secret

    def _search_of(
        self, example: Example, options: SearchOptions
    ) -> Search[tuple[Perturbation, ...]]:
        def search(ask: Asks) -> tuple[Perturbation, ...]:
            trials: list[Perturbation] = []
            for trial in range(1, options.trials + 1):
                taken = [known.text for known in trials if known.text is not None]
                trials.append(self._one_trial(ask, example, trial, options, taken))
            return tuple(trials)

        return search

    def _draws_of(
        self, example: Example, options: SearchOptions
    ) -> Search[tuple[Perturbation, ...]]:
        def search(ask: Asks) -> tuple[Perturbation, ...]:
            barred = self._barred(example)
            drawn = [] if barred else self._draw(ask, example, options)
            lacking = partial(
                Perturbation,
                failure=barred.failure if barred else _TOO_FEW if drawn else _NO_CHANGE,
                applicable=barred.applicable if barred else bool(drawn),
            )
            return tuple(
                Perturbation(example_id=example.id, trial=number, text=drawn[number - 1])
                if number <= len(drawn)
                else lacking(example_id=example.id, trial=number)
                for number in range(1, options.candidates + 1)
            )

        return search

    def _draw(self, ask: Asks, example: Example, options: SearchOptions) -> list[str]:
        """Different random changes of a text, at most as many as are wanted."""
        from perturbations.search import admissible_changes, grown

        generator = self.generator(options.seed, example, "random")
        drawn: dict[str, None] = {}
        with OwnChance(ask, generator.getrandbits(32)) as own_ask:
            attack = self.attack(
                lambda texts: own_ask("classify", texts),
                ask_encoder=own_ask if options.encoder else None,
                generator=generator,
                options=options,
            )
            for _ in range(_DRAWS):
                changes = admissible_changes(attack, example.text)
                generator.shuffle(changes)
                for change in changes:
                    if len(drawn) == options.candidates:
                        return list(drawn)
                    text = change if self.changes_one_word else grown(attack, change, generator)
                    drawn[text.text] = None
        return list(drawn)

    def _barred(self, example: Example) -> Perturbation | None:
        """Why a text is not searched, if it is not."""
        without = partial(Perturbation, example_id=example.id, trial=1)
        if len(example.text) > self.max_characters:
            return without(failure=f"the text has more than {self.max_characters} characters")
        if reason := self.not_applicable(example.text):
            return without(failure=reason, applicable=False)
        if _SPLIT in example.text:
            return without(failure=f"TextAttack cannot change texts with {_SPLIT}")
        return None

    def _one_trial(
        self, ask: Asks, example: Example, trial: int, options: SearchOptions, taken: Sequence[str]
    ) -> Perturbation:
        if barred := self._barred(example):
            return replace(barred, trial=trial)
        seed = self.generator(options.seed, example, trial).getrandbits(32)
        with OwnChance(ask, seed) as own_ask:
            attack = self.attack(
                lambda texts: own_ask("classify", texts),
                ask_encoder=own_ask if options.encoder else None,
                generator=self.generator(options.seed, example, trial),
                options=options,
                taken=taken,
            )
            return perturb(attack, example, trial)


def _of_part(
    search_of: Callable[[Example, SearchOptions], Search[tuple[Perturbation, ...]]],
    example: Example,
    options: SearchOptions,
) -> Search[tuple[Perturbation, ...]]:
    """The search of the part of a text that changes; the classifier is asked about whole texts."""
    text = parts_of(example.text)[options.change]
    if SEPARATOR not in example.text or not text.strip():
        return search_of(example, options)
    part = replace(example, text=text)
    whole = partial(with_part, example.text, options.change)

    def search(ask: Asks) -> tuple[Perturbation, ...]:
        def ask_of_whole(service: str, texts: Sequence[Any]) -> list[Any]:
            answers: list[Any] = ask(
                service, [*map(whole, texts)] if service == "classify" else texts
            )
            return answers

        trials = search_of(part, options)(ask_of_whole)
        return tuple(
            trial if trial.text is None else replace(trial, text=whole(trial.text))
            for trial in trials
        )

    return search


def _made_up(text: str) -> tuple[float, float]:
    """One of four answers with the same label, by the text alone.

    How much a ranked search asks depends on how the answers differ. With four, it asks on tweets
    and film reviews about what it asks of the demo's models, within a quarter.
    """
    step = hashlib.sha256(text.encode("utf-8", "replace")).digest()[0] % 4
    return 0.9 - step / 40, 0.1 + step / 40


def _in_lockstep(
    searches: Iterable[Search[tuple[Perturbation, ...]]],
    options: SearchOptions,
    **services: Service,
) -> Iterator[tuple[Perturbation, ...]]:
    """The results of searches that may ask these services, and the encoder if there is one."""
    if options.encoder is not None:
        services["encode"] = Remembering(options.encoder.encode)
    if isinstance(options.encoder, WordEncoder):
        services["compare_words"] = Remembering(options.encoder.compare_words)
    lockstep: Lockstep[tuple[Perturbation, ...]] = Lockstep(services, options.parallel_texts)
    return lockstep.run(searches)


def perturb(attack: Attack, example: Example, trial: int) -> Perturbation:
    """Run one attack to its end."""
    from textattack.goal_function_results import GoalFunctionResultStatus
    from textattack.shared import AttackedText

    from perturbations.transformations import FitsContext, NearOriginal

    with_outcome = partial(Perturbation, example_id=example.id, trial=trial)
    text = AttackedText(example.text)
    if not text.words:  # some search methods fail on such a text
        return with_outcome(failure=_NO_WORD, applicable=False)
    # The label that TextAttack wants is not used: the goal compares with the model's own answer.
    result = attack.attack(text, 0).perturbed_result
    near = [constraint for constraint in attack.constraints if isinstance(constraint, NearOriginal)]
    asked = partial(
        with_outcome,
        queries=result.num_queries,
        # Search methods of TextAttack's own ask all that they rank.
        queries_saved=getattr(attack.search_method, "queries_saved", 0),
        compared=sum(len(getattr(bound, "compared", ())) for bound in near),
    )
    if result.goal_status == GoalFunctionResultStatus.SUCCEEDED:
        text = result.attacked_text.text
        similarity = min(
            (bound.similarities.get(text, 1.0) for bound in near if bound.similarities),
            default=None,
        )
        return asked(text=text, score=result.score, similarity=similarity)
    refused = any(bound.refused for bound in near if not isinstance(bound, FitsContext))
    return asked(failure=_why_none(attack), applicable=attack.goal_function.tried or refused)


def _why_none(attack: Attack) -> str:
    if attack.goal_function.tried:
        return (
            "the search found no admissible text: its best ones change the prediction or were "
            "found in an earlier trial"
        )
    if any(getattr(constraint, "compared", ()) for constraint in attack.constraints):
        return "no candidate: no synonym of a word fits its place"
    if attack.constraints:
        return _NO_CHANGE
    return _NO_WORD


WORDNET = "wordnet"
"""Where the words of *synonym* come from by default."""

MOST_CANDIDATES = 100
"""Bound on how many replacements a capability tries at one place, for time."""


def check_choice(setting: str, value: object, choices: Any) -> None:
    """Refuse what is none of these: the values of a Literal, or of a sequence.

    Examples
    --------
    >>> from typing import Literal
    >>> check_choice("words", "some", Literal["one", "all"])
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting words=some
    expected: one of: one, all
    fix:      write for example --setting words=one
    """
    known = get_args(choices) or tuple(choices)
    if value not in known:
        raise SpecError(
            f"the setting {setting}={value}",
            expected=f"one of: {', '.join(known)}",
            fix=f"write for example --setting {setting}={known[0]}",
        )


def check_whole(setting: str, value: int, least: int, most: int) -> None:
    """Refuse a number beyond these limits.

    Examples
    --------
    >>> check_whole("max_words", 0, 1, 100)
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting max_words=0
    expected: a whole number from 1 to 100
    fix:      correct the value, or omit max_words
    """
    if not isinstance(value, int) or not least <= value <= most:
        raise SpecError(
            f"the setting {setting}={value}",
            expected=f"a whole number from {least} to {most}",
            fix=f"correct the value, or omit {setting}",
        )


def check_has_effect(capability: object, setting: str, needed: str, met: bool) -> None:
    """Refuse a setting that would do nothing, since another one that it needs is not given.

    Parameters
    ----------
    capability
        Its fields are the settings; a setting that is as by default is none that is refused.
    needed
        The other setting, as it is written.
    met
        Whether it is there.
    """
    value = getattr(capability, setting)
    if value != getattr(type(capability), setting) and not met:
        raise SpecError(
            f"the setting {setting}={value} without {needed}",
            expected=f"{setting} together with {needed}",
            fix=f"add --setting {needed}, or omit {setting}",
        )


def check_word_source(source: str) -> None:
    """Refuse what names no source of words.

    Examples
    --------
    >>> check_word_source("thesaurus")
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting source=thesaurus
    expected: wordnet, vectors:FILE or mask:MODEL
    fix:      write for example --setting source=vectors:glove.txt
    """
    if source != WORDNET and not re.fullmatch(r"(?:vectors|mask):.*\S", source):
        raise SpecError(
            f"the setting source={source}",
            expected="wordnet, vectors:FILE or mask:MODEL",
            fix="write for example --setting source=vectors:glove.txt",
        )


def check_candidates(candidates: int) -> None:
    """Refuse a number of replacements at one place that is out of bounds."""
    check_whole("candidates", candidates, 1, MOST_CANDIDATES)


@dataclass(frozen=True, kw_only=True)
class EditingCapability(InvarianceCapability):
    """A capability that names its changes of a text; one that keeps the answer is kept.

    Later trials take other changes, then several at once.
    """

    nothing: ClassVar[str]
    """Why a text without any change is not applicable."""

    example: ClassVar[tuple[str, str]]
    """A text before and after one change."""

    draws: ClassVar[bool] = False
    """Whether the changes depend on the generator."""

    tables: ClassVar[tuple[str, ...]] = ()
    """The tables of ours that words come from."""

    lexicons: ClassVar[tuple[str, ...]] = ()
    """Those of "stopwords" and "wordnet" that the changes depend on."""

    english: ClassVar[bool] = True
    """Whether a text in another language is not applicable, as far as that can be told."""

    # Every change of a text is as long as the text.
    max_characters: int = 20_000

    @abstractmethod
    def changes(self, text: str, generator: random.Random) -> Iterable[Change]:
        """The single changes of a text; all that is random in them is drawn from the generator."""

    def settings(self) -> Mapping[str, Setting]:
        """The fields, and the content of the tables and lexicons."""
        return {
            **super().settings(),
            **{f"table_{name}": table_fingerprint(name) for name in self.tables},
            **{name: lexicon_version(name) for name in self.lexicons},
        }

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """How many texts a single change makes, over all trials; asks no model."""
        if len(example.text) > self.max_characters or self.not_applicable(example.text):
            return 0
        texts = {example.text}
        for trial in range(1, options.trials + 1):
            key = self.generator(options.seed, example, trial).getrandbits(64)
            changes = some_changes(self.changes, example.text, key)
            texts.update(edited(example.text, change) for change in changes)
        return len(texts)

    def not_applicable(self, text: str) -> str | None:
        """Another language, where it knows English alone; ``nothing`` without a change."""
        if self.english and (reason := not_english(text)):
            return reason
        generator = random.Random(0)  # noqa: S311 - no secret
        return None if any(self.changes(text, generator)) else self.nothing

    def parts(self, generator: random.Random) -> Parts:
        """All changes of the text, each place changed once."""
        from textattack.constraints.pre_transformation import RepeatModification

        from perturbations.search import FewestChanges
        from perturbations.transformations import EditedTexts

        return Parts(
            transformation=EditedTexts(self.changes, generator, deterministic=not self.draws),
            constraints=[RepeatModification()],
            search_method=FewestChanges(),
        )
