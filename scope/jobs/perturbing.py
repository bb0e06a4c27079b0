"""Searches the perturbations of a reference, one capability at a time, resumably.

Loads and checks the data and capabilities of an audit before any work is done.
"""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from scope.answers import CachedClassifier, Run
from scope.answers.run import Searches, searched
from scope.data.items import Wanted, gather, read_written
from scope.data.sampling import LoadedData, load_data
from scope.errors import (
    DataError,
    SpecError,
    counted,
    first_line,
    listed,
    shortened,
    shown,
    writable,
)
from scope.jobs.answering_models import check_prompts
from scope.jobs.configuration import LabelledTexts
from scope.metrics.catalog import METRICS, Metric, known_metrics, parse_metric
from scope.models.labels import align_examples, parse_label_map
from scope.models.written import CHAT
from scope.protocols import (
    NOT_THEIRS,
    Capability,
    ComparesWords,
    DrawsRandom,
    Failed,
    LeavesWords,
    Progress,
    SearchOptions,
    attempt,
)
from scope.records import (
    CapabilityCard,
    Example,
    Outcome,
    Perturbation,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
    Setting,
)
from scope.records.estimates import UNANSWERABLE
from scope.records.text_parts import SEPARATOR, joined, with_part
from scope.registry import (
    Entry,
    find,
    guarded_piece,
    make_piece,
    piece_card,
    refuse_unused_settings,
    require_distinct,
    settings_of,
)

LINES_OF_A_TRACE = 200
"""Most lines of a traceback in a result: that of foreign code may be of any length."""

Asked = TypeVar("Asked", bound=LabelledTexts)

_WORD = re.compile(r"\w+")
_OFTEN = 0.03
"""The share of the changed texts above which a swap of a word is named."""

Kind = Literal["kept", "random"]
"""Pairs that keep the reference's prediction, and random candidates."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbationSet:
    """The result of one capability's search, in the order of examples and trials."""

    outcome: Outcome
    perturbations: tuple[Perturbation, ...]


NO_CANDIDATES = PerturbationSet(
    outcome=Outcome(capability="", status="skipped", reason="--candidates 0"), perturbations=()
)
"""In place of random candidates in an audit that has none."""


def scored_examples(
    examples: Sequence[Example], answers: Sequence[Mapping[str, Prediction]]
) -> tuple[ScoredExample, ...]:
    """Each original text with the answers of all models, by text; the reference is first."""
    return tuple(
        ScoredExample(example=each, reference=predictions[0], targets=predictions[1:])
        for each in examples
        for predictions in [tuple(known[each.text] for known in answers)]
    )


def scored_perturbations(
    sets: Sequence[PerturbationSet], answers: Sequence[Mapping[str, Prediction]]
) -> tuple[ScoredPerturbation, ...]:
    """Each changed text with the answers of all models; with none where the search failed."""
    return tuple(
        ScoredPerturbation(
            capability=set_.outcome.capability,
            perturbation=each,
            reference=None if each.text is None else answers[0][each.text],
            targets=() if each.text is None else tuple(known[each.text] for known in answers[1:]),
        )
        for set_ in sets
        for each in set_.perturbations
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PairSearch:
    """The searches of one capability on one reference, in one run.

    ``kept_as`` is the name under which the run stores the results, ``shown_as`` the name in the
    progress; both are the capability's name unless the run searches several references.
    """

    capability: Capability
    reference: CachedClassifier
    examples: Sequence[Example]
    options: SearchOptions
    run: Run
    progress: Progress
    kept_as: str
    shown_as: str

    def kept(self) -> PerturbationSet:
        """The kept pairs of every example.

        A capability that fails does not end the audit: its outcome says why, with the traceback,
        and the others continue. Errors that the user can fix, such as a full disk, end the audit.
        """
        options, search = self.options, self.capability.search
        return self._found("kept", lambda some: search(self.reference, some, options), options)

    def random(self, kept: PerturbationSet) -> PerturbationSet:
        """Random candidates of every example, kept pair or none; no model is asked."""
        capability, options = self.capability, self.options
        if not isinstance(capability, DrawsRandom) or kept.outcome.status != "measured":
            name = self.capability.name
            reasons = {
                "measured": f"`{name}` draws no random candidates",
                "not applicable": kept.outcome.reason,
            }
            reason = reasons.get(kept.outcome.status, "the search for kept pairs failed")
            outcome = Outcome(capability=name, status="not applicable", reason=reason)
            return PerturbationSet(outcome=outcome, perturbations=())
        trials = replace(options, trials=options.candidates)
        return self._found("random", lambda some: capability.draw_random(some, options), trials)

    def _found(self, kind: Kind, search: _Search, options: SearchOptions) -> PerturbationSet:
        # A third party's capability may fail in any way, also by `sys.exit(0)`.
        result = attempt(lambda: self._search(kind, search, options), passing=NOT_THEIRS)
        if not isinstance(result, Failed):
            return result
        trace = writable("".join(traceback.format_exception(result.error)))
        outcome = Outcome(
            capability=self.capability.name,
            status="failed",
            reason=writable(first_line(result.error)),
            trace=shortened(trace, LINES_OF_A_TRACE, 20_000),
        )
        return PerturbationSet(outcome=outcome, perturbations=())

    def _search(self, kind: Kind, search: _Search, options: SearchOptions) -> PerturbationSet:
        """Search every example that the run does not know yet, and keep each as it is found."""
        capability, examples, run = self.capability, self.examples, self.run
        key = stored_name(self.kept_as, kind)
        searches = Searches(key, capability, self.reference, examples, self.options, run, kind)
        known = searches.known()
        waiting = [example for example in examples if (example.id, options.trials) not in known]
        texts = {example.id: example.text for example in waiting}
        title, finished = f"{stored_name(self.shown_as, kind)}: texts", len(examples) - len(waiting)
        with self.progress.task(title, len(examples), finished) as advance:
            for trials in search(waiting):
                _require_all_trials(capability, trials, options)
                _require_one_part(capability, texts, trials, options.change)
                searches.keep(trials)
                known.update({(trial.example_id, trial.trial): trial for trial in trials})
                advance()
        ordered = tuple(
            known[example.id, trial]
            for example in examples
            for trial in range(1, options.trials + 1)
        )
        notes = _notes(capability, examples, ordered, options.change)
        outcome = _measured(capability, ordered, notes)
        return PerturbationSet(outcome=outcome, perturbations=ordered)


_Search = Callable[[Sequence[Example]], Iterator[tuple[Perturbation, ...]]]
"""From the examples that are to be searched to all trials of each."""


def stored_name(kept_as: str, kind: Kind) -> str:
    """The name under which a run keeps the pairs of a kind."""
    return kept_as if kind == "kept" else f"{kept_as}, {kind}"


def searched_on(capability: str, fingerprint: str) -> str:
    """The name under which a run of several references keeps the searches on one of them."""
    return f"{capability} of {fingerprint}"


def changed_texts(run: Run, kept_as: str, examples: Sequence[Example]) -> list[str]:
    """The texts that a search of these examples, as the run keeps it, has found so far."""
    ids = [example.id for example in examples]
    names = [stored_name(kept_as, kind) for kind in get_args(Kind)]
    trials = [trial for name in names for trial in searched(run, name, ids).values()]
    return [trial.text for trial in trials if trial.text is not None]


def _require_all_trials(
    capability: Capability, trials: Sequence[Perturbation], options: SearchOptions
) -> None:
    numbers, ids = sorted(trial.trial for trial in trials), {trial.example_id for trial in trials}
    if numbers != list(range(1, options.trials + 1)) or len(ids) > 1:
        raise ValueError(
            f"{capability.name} gave the trials {numbers} at once, not all {options.trials} of one "
            "example"
        )


def _require_one_part(
    capability: Capability, texts: Mapping[str, str], trials: Sequence[Perturbation], change: int
) -> None:
    """Refuse changes of another part of a text than the one that is to change."""
    for trial in trials:
        text = texts[trial.example_id]
        if trial.text is None or SEPARATOR not in text + trial.text:
            continue
        if with_part(trial.text, change, "") != with_part(text, change, ""):
            raise ValueError(
                f"{capability.name} gave {shown(trial.text)} for {shown(text)}, which differs in "
                "more than the part that is to change"
            )


def _notes(
    capability: Capability, examples: Sequence[Example], trials: Sequence[Perturbation], change: int
) -> str | None:
    """What the capability lacked, repeated, and left of the texts as it was, in words."""
    notes: list[str] = []
    if isinstance(capability, ComparesWords):
        notes += filter(None, (capability.caution, _repeated(examples, trials)))
    if isinstance(capability, LeavesWords) and (
        words := sum(capability.left_alone(each.text.split(SEPARATOR)[change]) for each in examples)
    ):
        notes.append(f"{counted(words, 'word')} too long to be changed")
    return "; ".join(notes) or None


def _repeated(examples: Sequence[Example], trials: Sequence[Perturbation]) -> str:
    """Which swaps of a word make up more than 3 % of the changed texts, the most frequent first."""
    texts = {example.id: _WORD.findall(example.text.lower()) for example in examples}
    changed = [(trial.example_id, trial.text) for trial in trials if trial.text is not None]
    swaps = Counter(
        f"{old} → {new}"
        for key, text in changed
        for old, new in zip(texts[key], _WORD.findall(text.lower()), strict=False)
        if old != new and {old, new} != {"a", "an"}
    )
    most = max(1, _OFTEN * len(changed))
    often = [f"{swap} {n / len(changed):.0%}" for swap, n in swaps.most_common() if n > most]
    return f"the most frequent changes: {', '.join(often)}" if often else ""


def _measured(
    capability: Capability, perturbations: Sequence[Perturbation], note: str | None
) -> Outcome:
    applicable = [trial for trial in perturbations if trial.applicable]
    failures = _reasons(applicable)
    never = _reasons([trial for trial in perturbations if not trial.applicable])
    nowhere = bool(never) and not applicable
    return Outcome(
        capability=capability.name,
        status="not applicable" if nowhere else "measured",
        reason="; ".join(never) if nowhere else note,
        searched=len(applicable),
        found=len(applicable) - sum(failures.values()),
        queries=sum(trial.queries for trial in perturbations),
        queries_saved=sum(trial.queries_saved for trial in perturbations),
        compared=sum(trial.compared for trial in perturbations if trial.trial == 1),
        failures=failures,
        not_applicable=never,
    )


def _reasons(perturbations: Sequence[Perturbation]) -> dict[str, int]:
    """How many have no text, by reason."""
    reasons = Counter(trial.failure for trial in perturbations if trial.failure is not None)
    return dict(sorted(reasons.items()))


MOST_SLICES = 50
"""Most slices of one column; with more, each would have too few texts."""


def load_texts(
    request: LabelledTexts, n: int | None, slices: Sequence[str] = (), cluster: str | None = None
) -> LoadedData:
    """Load ``n`` examples, with their gold labels in a classifier's role.

    Raises
    ------
    DataError
        When the texts cannot be read, or a column of ``slices`` has more than 50 values.
    """
    if request.role == "answer":
        return _questions(request, n, cluster)
    loaded = load_data(
        request.data,
        text_column=request.text_column,
        label_column="none" if request.role == "next_token" else request.label_column,
        slices=slices,
        cluster=cluster,
        n=n,
        seed=request.seed,
    )
    every = {name for example in loaded.examples for name in example.slices}
    for column in slices:
        count = sum(name.startswith(f"{column}: ") for name in every)
        if not 1 < count <= MOST_SLICES:
            raise DataError(
                f"{count} different values in the column `{column}` of --slice",
                expected=f"2 to {MOST_SLICES} values, each of many texts",
                fix="choose another column, or group its values, such as lengths into bands",
            )
    return loaded


def reading_parts(request: Asked, parts: Sequence[str]) -> Asked:
    """The request whose models know the names of the parts of texts, and its prompts checked.

    Raises
    ------
    SpecError
        When the models read no labels, or a prompt does not fit the parts.
    """
    if parts and request.role == "next_token":
        raise SpecError(
            f"texts of {len(parts)} parts in the role next_token",
            expected="one text, which the models continue",
            fix="name one column of texts, or use --role classifier",
        )
    if request.role == "answer":
        return request
    options = replace(request.model_options, parts=tuple(parts))
    check_prompts(None, options)
    return replace(request, model_options=options) if parts else request


def _questions(request: LabelledTexts, n: int | None, cluster: str | None) -> LoadedData:
    """Load what models write answers to."""
    parts, drafts = read_written(request.data, cluster)
    wanted = Wanted(task="answer", rows="questions", unfit="without words", once=True)
    data = gather(drafts, wanted, request.data, n, request.seed)
    examples = [
        Example(
            id=item.question.id,
            text=joined([*([item.question.context or ""] * len(parts[1:])), item.question.text]),
            label=(item.gold[0] or UNANSWERABLE) if item.gold else None,
            gold=item.gold,
        )
        for item in data.items
    ]
    card = replace(data.card, capability=None, parts=parts)
    return LoadedData(examples=tuple(examples), card=card)


def changed_part(request: LabelledTexts, parts: Sequence[str]) -> int:
    """The place of the part of a text that capabilities change, of the parts with these names.

    Raises
    ------
    SpecError
        When the request names none of them, or texts have one part.

    Examples
    --------
    >>> request = LabelledTexts(data=["good"], change="hypothesis")
    >>> changed_part(request, ("premise", "hypothesis"))
    1
    """
    change = request.change
    if change is None:
        # After the parts of a text to answer stands the reference's answer.
        return len(parts) - 1 if request.role == "answer" else -1
    places = [*parts, *range(len(parts))]
    named = [name for name in parts if name != CHAT]  # the earlier messages of a chat stay
    place = places.index(change) % len(parts) if change in places else 0
    if change not in places or isinstance(change, bool) or parts[place] == CHAT:
        raise SpecError(
            f"--change {change}{'' if parts else ', where texts have one part'}",
            expected=f"one of the parts: {listed(named)}" if parts else "texts of several parts",
            fix="omit --change for the last one"
            if parts
            else "omit --change, or give --text-column for each part",
        )
    return place


def with_labels(loaded: LoadedData, labels: Sequence[str], label_map: Sequence[str]) -> LoadedData:
    """The examples with their gold labels spelled as the reference spells its labels."""
    aligned = align_examples(loaded.examples, labels, parse_label_map(label_map))
    return replace(loaded, examples=aligned)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenCapability:
    """A capability and its origin."""

    capability: Capability
    origin: str

    def card(self) -> CapabilityCard:
        """Its entry in the manifest."""
        return piece_card(self.capability, self.origin)


def choose_capabilities(
    requested: Sequence[str | object], settings: Mapping[str, Setting]
) -> tuple[ChosenCapability, ...]:
    """The capabilities by name or as they are, with the settings that each of them has.

    Raises
    ------
    SpecError
        When a name is unknown or repeated, or no capability has one of the settings.
    """
    takes: dict[str, set[str]] = {}
    chosen: list[ChosenCapability] = []
    for capability in requested:
        if isinstance(capability, str):
            entry = find("capabilities", capability)
            argument = _argument(entry)
            made, origin = make_piece(entry, {**settings, **argument}), entry.origin
            # A setting given after the colon may not be repeated as an option.
            fixed = {key.removeprefix(f"{entry.name}.") for key in argument}
            takes[capability] = settings_of(entry.target) - fixed
        else:
            made, origin = capability, type(capability).__module__
        chosen.append(ChosenCapability(capability=guarded_piece(made), origin=origin))
    names = [choice.capability.name for choice in chosen]
    require_distinct("capabilities", names, "--capability synonym --capability typo")
    refuse_unused_settings(settings, takes)
    return tuple(chosen)


def _argument(entry: Entry) -> Mapping[str, Setting]:
    """The setting given after the colon of a capability's name.

    Raises
    ------
    SpecError
        When the capability takes no such setting.
    """
    name, colon, argument = entry.name.partition(":")
    field = getattr(entry.target, "argument", None)
    if colon and field is None:
        raise SpecError(
            f"the capability `{entry.name}`",
            expected=f"nothing behind `{name}`: its settings are options of their own",
            fix=f"write --capability {name}, and for example --setting {name}.FIELD=VALUE",
        )
    return {f"{entry.name}.{field}": argument} if colon else {}


_CLEAN, _TARGET = [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.7, 0.3]]
_TRIAL = (_CLEAN, _CLEAN, _CLEAN, _TARGET)
"""Predictions on two kept pairs, the reference's and a target's, before and after."""


def further_metrics(spellings: Sequence[str], known: Sequence[Metric]) -> tuple[Metric, ...]:
    """The metrics on pairs that these spellings mean, without those that are measured anyway.

    Raises
    ------
    SpecError
        When one is unknown, is not measured on pairs, or does not give one number per pair.
    ModelError
        When its function fails.
    """
    metrics = tuple(dict.fromkeys(parse_metric(spelling, "audits") for spelling in spellings))
    for metric in metrics:
        if metric.on_pairs is None:
            always = metric.measured_in == "audits"
            others = (key for key in known_metrics("audits") if parse_metric(key).on_pairs)
            raise SpecError(
                f"the metric `{metric}` for an audit",
                expected="a metric on pairs of an original and a perturbed text",
                fix=f"{'leave it out, an audit measures it anyway, or ' * always}choose one of "
                f"{', '.join(others)}",
            )
        # A mistake in a plugin's function shows before hours of search, not after.
        metric.pair_values(*_TRIAL)
    return tuple(metric for metric in metrics if metric not in known)


def soft_scope_metric(tolerance: float, cutoff: float) -> Metric:
    """Soft-SCoPE with these bounds.

    Raises
    ------
    SpecError
        When they are not 0 <= tolerance <= cutoff.
    """
    try:
        return METRICS["soft_scope"].at(tolerance=tolerance, cutoff=cutoff)
    except ValueError as error:
        raise SpecError(
            str(error),
            expected="0 <= tolerance <= cutoff, as L1 distances of two changes (0 to 4)",
            fix="write for example --tolerance 0.1 --cutoff 1.0",
        ) from error
