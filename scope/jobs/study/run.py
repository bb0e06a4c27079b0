"""The studies: statistics over many models' stored answers to the same questions.

The study of size takes the invariances shared in a matrix of audits in place of answers.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress, rankdata

from scope.answers import Run
from scope.core.request import as_function
from scope.data.fields import read_fields
from scope.data.specs import open_source
from scope.errors import DataError, SpecError, counted, listed
from scope.estimation.choices import ChoiceTable, accuracy_measurements
from scope.jobs.answering_models import (
    ask_all,
    check_answering_models,
    choose_tasks,
    load_answering_models,
    with_reasons,
)
from scope.jobs.configuration import manifest_of
from scope.jobs.pages import load_result
from scope.jobs.runner import Prepared, run_job
from scope.jobs.study import inference, requests
from scope.jobs.study.inference import ACROSS, ALL, FEWEST_JUDGED, Pairs, PairTable, Square
from scope.jobs.study.requests import SizeRequest, StudyNumber, StudyPair, StudyResult
from scope.metrics.catalog import parse_metric
from scope.models.options import ModelOptions
from scope.progress import reading_shown_by
from scope.records import AuditResult, Estimate, Undefined
from scope.statistics.between_models import FEWEST_MODELS, correlation_estimate
from scope.statistics.intervals import LEVEL, one_numpy_thread, student_quantile
from scope.statistics.paired import holm

Judgements = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Scores by judge, model and item."""

TREND = {"capa": "CAPA", "flips": "% flips", "kl": "KL", "error_correlation": "r of errors"}
"""Measures of the trend; the first is tested."""

JUDGED = ("score", "capa", "accuracy", "score, given accuracy", "CAPA, given accuracy")
"""Measures of a judge and a judged model; the last two are residuals."""

RANKED = ("rank of CAPA, given accuracies", "rank of gain, given accuracies")
"""Residuals of ranks over all pairs of models."""


def run_study(request: requests.StudyRequest | requests.SizeRequest) -> StudyResult:
    """Measure, or continue the run."""
    if isinstance(request, requests.SizeRequest):
        return run_job(request, prepare_size)
    return run_job(request, prepare)


study_judges = as_function(requests.JudgesRequest, run_study)
study_complementarity = as_function(requests.ComplementarityRequest, run_study)
study_trend = as_function(requests.TrendRequest, run_study)
study_size = as_function(requests.SizeRequest, run_study)


def prepare(request: requests.StudyRequest) -> Prepared[StudyResult]:
    """Read the questions, the stored answers, and judgements or families."""
    judgements: Judgements | None = None
    study = _trend if isinstance(request, requests.TrendRequest) else _complementarity
    if isinstance(request, requests.JudgesRequest):
        judgements = read_judgements(request.judgements)
        study = partial(_judges, judgements)
    (task,) = choose_tasks(["choice"], request.data, {}, n=None, seed=request.seed)
    specs = check_answering_models(request.models, ["choice_scorer"], ModelOptions())
    models = load_answering_models(specs, [task], ModelOptions(), request.progress)
    names = [model.name for model in models]
    _require_enough(names, judgements)
    families = families_of(names, getattr(request, "families", {}))
    content = json.dumps([judgements or {}, families], sort_keys=True).encode()
    manifest = manifest_of(
        next(job.name for job in requests.JOBS if job.request is type(request)),
        request,
        {"seed": request.seed, "content": hashlib.sha256(content).hexdigest()[:16]},
        models=[model.card() for model in models],
        data=[task.data.card],
        capabilities=[task.card()],
    )

    def compute(run: Run) -> StudyResult:
        answers, replies = ask_all(models, task, run, request.progress)
        known = with_reasons(manifest, {"choice": replies}, request.most_unusable)
        # The matrices are small: several threads would wait for each other.
        with one_numpy_thread(), reading_shown_by(request.progress):
            choices = ChoiceTable.of(answers)
            stored = Answers(PairTable(choices), choices, names, families, request.seed)
            pairs, numbers, note = study(stored)
            accuracies = accuracy_measurements(choices, names)
        some = "choices; not all give probabilities"
        form = "probabilities" if stored.table.probabilistic else some
        return StudyResult(
            manifest=known,
            numbers=tuple(numbers),
            accuracies=tuple(StudyNumber("accuracy", a.target, a.estimate) for a in accuracies),
            pairs=tuple(pairs),
            families=families,
            notes=(f"CAPA is computed from the models' {form}", *filter(None, [note])),
        )

    return Prepared(manifest, compute)


def _require_enough(names: Sequence[str], judgements: Judgements | None) -> None:
    """Refuse a study of too few models before its draws."""
    if len(names) < FEWEST_MODELS:
        raise SpecError(
            counted(len(names), "model"),
            expected=f"at least {FEWEST_MODELS} models",
            fix="add --model SPEC, or FILE.tsv#* for all models of a table",
        )
    if judgements is None:
        return
    judged = [{*judgements[name]} & {*names} - {name} for name in names if name in judgements]
    most = max(map(len, judged), default=0)
    if most < FEWEST_JUDGED:
        raise DataError(
            f"{counted(most, 'model')} with stored answers and scores of a judge that has some; "
            f"judges: {listed(judgements, 5)}; "
            f"judged: {listed(dict.fromkeys(m for rows in judgements.values() for m in rows), 5)}; "
            f"stored answers: {listed(names, 5)}",
            expected=f"stored answers of a judge and of at least {FEWEST_JUDGED} models that it "
            "judged, under the same names",
            fix="add their answers with --model, or correct the names in --judgements",
        )


def read_judgements(spec: str) -> dict[str, dict[str, dict[str, float]]]:
    """Scores by judge, model and item, from a table with these columns and ``score``.

    Raises
    ------
    DataError
        When a column is missing, a score is no finite number, or a judgement occurs twice.
    """
    names = {name: (name,) for name in ("judge", "model", "item", "score")}
    judgements: dict[str, dict[str, dict[str, float]]] = {}
    for row in read_fields(open_source(spec), names, required=tuple(names)):
        judge, model, item, score = (row.name(name) or "" for name in names)
        items = judgements.setdefault(judge, {}).setdefault(model, {})
        try:
            items[item] = float(score if item not in items else "")
        except ValueError:
            items[item] = math.nan
        if not math.isfinite(items[item]):
            raise row.wrong(
                f"the score `{score}` by `{judge}` of `{model}` on `{item}`",
                "a finite number, once for each judge, model and item",
            )
    return judgements


def families_of(models: Sequence[str], families: Mapping[str, str]) -> dict[str, str]:
    """The family of each model that begins with one of its prefixes.

    Raises
    ------
    SpecError
        When no model belongs to a family, or a model belongs to two.

    Examples
    --------
    >>> families_of(["Llama-2-7b", "Meta-Llama-3-8B", "Yi-6B"], {"Llama": "Llama-,Meta-Llama-"})
    {'Llama-2-7b': 'Llama', 'Meta-Llama-3-8B': 'Llama'}
    """
    families_by_model: dict[str, str] = {}
    for family, prefixes in families.items():
        beginnings = tuple(prefixes.split(","))
        members = [name for name in models if all(beginnings) and name.startswith(beginnings)]
        if not members or families_by_model.keys() & set(members):
            raise SpecError(
                f"the family {family}={prefixes} with "
                + ("a model of another family" if members else "no model"),
                expected=f"beginnings of names, each model in one family: {listed(models, 10)}",
                fix="check the prefix of --family",
            )
        families_by_model |= dict.fromkeys(members, family)
    return families_by_model


class Answers(NamedTuple):
    """The answers of all models, their names, the families of some, and the seed."""

    table: PairTable
    choices: ChoiceTable
    names: Sequence[str]
    families: Mapping[str, str]
    seed: int

    def pairs(self) -> list[StudyPair]:
        """Every two models with their measures."""
        measures, names = self.table.measures().items(), self.names
        return [
            StudyPair(names[i], names[j], {k: m[i, j] for k, m in measures if np.isfinite(m[i, j])})
            for i, j in combinations(range(len(names)), 2)
        ]


Studied = tuple[list[StudyPair], list[StudyNumber], str]
"""Pairs, numbers and a note."""


def _trend(answers: Answers) -> Studied:
    groups = [answers.families.get(name) for name in answers.names]
    related = np.array([[float(a == b is not None) for b in groups] for a in groups])
    subsets = (ALL, ACROSS) if answers.families else (ALL,)

    def statistics(pairs: Pairs) -> dict[tuple[str, str], tuple[float, int]]:
        values = {}
        for key, title in TREND.items():
            for subset in subsets if answers.table.probabilistic or key != "kl" else ():
                kept = (pairs["related"] <= (subset == ALL)) & np.isfinite(pairs[key])
                change = inference.slope(pairs["accuracy"][kept], pairs[key][kept]) / 10
                values[f"{title} for 10 points of accuracy", subset] = change, int(kept.sum())
        return values

    numbers = inference.pair_numbers(answers.table, related, statistics, ["accuracy"], answers.seed)
    families = len({*answers.families.values()})
    return answers.pairs(), numbers, f"families named: {families}" if families else ""


def _complementarity(answers: Answers) -> Studied:
    def statistics(pairs: Pairs) -> dict[tuple[str, str], tuple[float, int]]:
        kept = np.isfinite(pairs["gain"] + pairs["capa"])
        title = "rank correlation of gain and CAPA"
        capa, gain, mean, gap = (pairs[k][kept] for k in ("capa", "gain", "accuracy", "gap"))
        average = float(gain.mean()) if len(gain) else math.nan
        return {
            (f"{title}, given accuracies", ALL): (
                inference.spearman(gain, capa, mean, gap),
                len(gain),
            ),
            (title, ALL): (inference.spearman(gain, capa), len(gain)),
            ("mean gain over the better model", ALL): (average, len(gain)),
        }

    none = np.zeros((len(answers.names), len(answers.names)))
    tested = ("gain", "accuracy", "gap")
    numbers = inference.pair_numbers(answers.table, none, statistics, tested, answers.seed)
    pairs, wanted = answers.pairs(), {"gain", "capa"}
    known = [place for place, pair in enumerate(pairs) if wanted <= pair.measures.keys()]
    values = [[pairs[place].measures[key] for place in known] for key in ("capa", *tested)]
    # What the first number correlates: the ranks, less what the accuracies explain.
    capa, gain, *accuracies = map(rankdata, values)
    left = (inference.residuals(ranks, *accuracies).tolist() for ranks in (capa, gain))
    for place, *row in zip(known, *left, strict=True):
        measures = {**pairs[place].measures, **dict(zip(RANKED, row, strict=True))}
        pairs[place] = replace(pairs[place], measures=measures)
    return pairs, numbers, "gain: questions that only the weaker model answers correctly"


def _judges(judgements: Judgements, answers: Answers) -> Studied:
    known = [judge for judge in judgements if judge in answers.names]
    # A judge without stored answers must not come first: the page answers by the first number.
    in_order = [[judge] for judge in dict.fromkeys((*known, *judgements))]
    measures = answers.table.measures()
    pairs: list[StudyPair] = []
    numbers: list[StudyNumber] = []
    for judges in [known, *in_order] if len(known) > 1 else in_order:
        number, of_judge = _judge(judges, judgements, answers, measures)
        numbers.append(number)
        pairs += of_judge
    tested = [n for n, number in enumerate(numbers) if n and number.p_value is not None]
    adjusted = holm([numbers[n].p_value or 0.0 for n in tested]) if tested else ()
    for n, p_value in zip(tested, adjusted, strict=True):
        numbers[n] = replace(numbers[n], p_value=p_value)
    left_out = sorted({model for row in judgements.values() for model in row} - {*answers.names})
    missing = f"{counted(len(left_out), 'judged model')} without stored answers"
    return pairs, numbers, f"{missing}: {listed(left_out, 10)}" if left_out else ""


def _judge(
    judges: Sequence[str], judgements: Judgements, answers: Answers, measures: Mapping[str, Square]
) -> tuple[StudyNumber, list[StudyPair]]:
    """The number of one judge or of all together, and the pairs with each judged model."""
    names = answers.names
    capa, accuracy = measures["capa"], measures["accuracy"].diagonal()
    columns = [names.index(judge) for judge in judges if judge in names]
    judged = [
        place
        for place, name in enumerate(names)
        if name not in judges
        and all(name in judgements[judge] for judge in judges)
        and np.isfinite([accuracy[place], *capa[place, columns]]).all()
    ]
    scores = np.array(
        [[np.mean(list(judgements[j][names[m]].values())) for j in judges] for m in judged]
    )
    label = judges[0] if len(judges) == 1 else f"mean of {len(judges)} judges"
    alike, skill = capa[np.ix_(judged, columns)], accuracy[judged]
    number = inference.judge_number(label, scores, alike, skill, answers.seed)
    if len(judges) > 1 or isinstance(number.estimate, Undefined):
        return number, []
    left = inference.residuals(np.column_stack([scores, alike]), skill)
    rows = np.column_stack([scores, alike, skill, left])
    return number, [
        StudyPair(label, names[place], dict(zip(JUDGED, row, strict=True)))
        for place, row in zip(judged, rows, strict=True)
    ]


MEASURES = ("hard_scope", "soft_scope", "concordance", "ood_agreement")
"""Measures that are correlated with size; the first is tested."""

DOUBLINGS = "doublings of the target's size over the reference's"

WITHIN = ("doublings of size, less the reference's mean", "hard_scope, less the reference's mean")
"""What the first number correlates, each less its mean over the targets of the reference."""

Vector = NDArray[np.float64]
Pair = tuple[str, str]
"""Reference and target."""


def prepare_size(request: SizeRequest) -> Prepared[StudyResult]:
    """Read the audit, and check that it has several references and the size of each model.

    Raises
    ------
    SpecError
        When the run is no such audit, or a size is missing.
    """
    audit = load_result(request.audit, Path(request.runs))
    if not isinstance(audit, AuditResult) or not audit.audits:
        raise SpecError(
            f"the run `{request.audit}`, which is no audit of several references",
            expected="a finished audit in several directions",
            fix="run scope audit with several --reference, or with --both-directions",
        )
    table = SizeTable.of(audit, request.sizes)
    shown = audit.manifest
    settings = {f"size of {name}": size for name, size in sorted(request.sizes.items())}
    manifest = manifest_of(
        "study size",
        request,
        {"seed": request.seed, "audit": request.audit, **settings},
        models=shown.models,
        data=shown.data,
        capabilities=shown.capabilities,
    )

    def compute(_: Run) -> StudyResult:
        return StudyResult(
            manifest=manifest,
            numbers=tuple(table.numbers(request.seed)),
            accuracies=(),
            pairs=tuple(table.pairs()),
            families={},
            notes=table.notes,
        )

    return Prepared(manifest, compute)


class SizeTable(NamedTuple):
    """Each measure by pair of reference and target, log2 of each size, and what is lacking."""

    measures: Mapping[str, Mapping[Pair, float]]
    sizes: Mapping[str, float]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, audit: AuditResult, sizes: Mapping[str, float]) -> SizeTable:
        """The means over capabilities; degenerate models and undefined pairs are left out.

        Raises
        ------
        SpecError
            When a model of the audit has no size, or a size belongs to no model of it.
        """
        models = [card.name for card in audit.manifest.models]
        if set(models) != sizes.keys():
            lacking = [name for name in models if name not in sizes]
            unknown = [name for name in sizes if name not in models]
            wrong = [f"no size of {listed(lacking)}"] if lacking else []
            wrong += [f"a size of {listed(unknown)}, which the audit lacks"] if unknown else []
            raise SpecError(
                "; ".join(wrong),
                expected=f"a size of each model of the audit: {listed(models)}",
                fix=f"give --size {lacking[0]}=22.7M" if lacking else f"omit {listed(unknown)}",
            )
        degenerate = {share.model for share in audit.answer_shares if share.degenerate}
        values: dict[str, dict[Pair, list[float]]] = {name: defaultdict(list) for name in MEASURES}
        for row in audit.measurements:
            pair = (str(row.against), row.target)
            key = parse_metric(row.metric).key
            if key in values and row.capability and row.subset is None:
                value = row.estimate.value if isinstance(row.estimate, Estimate) else math.nan
                values[key][pair].append(value if degenerate.isdisjoint(pair) else math.nan)
        means = {
            name: {pair: fmean(numbers) for pair, numbers in rows.items()}
            for name, rows in values.items()
        }
        measures = {
            name: {pair: mean for pair, mean in rows.items() if math.isfinite(mean)}
            for name, rows in means.items()
        }
        notes = [f"left out as degenerate: {listed(sorted(degenerate))}"] if degenerate else []
        notes += [
            f"{name} is undefined for {number} of {len(means[name])} pairs, which are left out"
            for name in MEASURES
            if (number := len(means[name]) - len(measures[name]))
        ]
        logarithms = {name: math.log2(size) for name, size in sizes.items()}
        return cls(measures, logarithms, tuple(notes))

    def pairs(self) -> list[StudyPair]:
        """Every pair with its measures and the doublings between its sizes."""
        pairs = sorted(self.measures[MEASURES[0]])
        hard = within_references(pairs, [self.measures[MEASURES[0]][pair] for pair in pairs])
        centred = zip(self._sizes_within(pairs, self.sizes), hard, strict=True)
        return [
            StudyPair(
                *pair,
                {DOUBLINGS: self.sizes[pair[1]] - self.sizes[pair[0]]}
                | dict(zip(WITHIN, map(float, row), strict=True))
                | {name: rows[pair] for name, rows in self.measures.items() if pair in rows},
            )
            for pair, row in zip(pairs, centred, strict=True)
        ]

    def numbers(self, seed: int) -> Iterator[StudyNumber]:
        """Correlations given the reference, then the slope of each reference's targets.

        The correlation is Pearson's of measure and log size, each less its mean over the targets of
        the same reference. Its interval leaves out each model in turn; for the test the sizes are
        permuted over the models: p = (k + 1) / (9,999 + 1), two-sided. A slope is the change of the
        measure for a target of twice the size, with Student's t over at least 4 targets.
        """
        for name, rows in self.measures.items():
            pairs = sorted(rows)
            values = within_references(pairs, [rows[pair] for pair in pairs])
            estimate = correlation_estimate(self._sizes_within(pairs, self.sizes), values, pairs)
            tested = name == MEASURES[0] and isinstance(estimate, Estimate)
            p_value = self._p_value(pairs, values, seed) if tested else None
            yield StudyNumber(f"r of {name} and size", "all references", estimate, p_value)
        for name, rows in self.measures.items():
            targets: dict[str, list[tuple[float, float]]] = defaultdict(list)
            for (reference, target), value in sorted(rows.items()):
                targets[reference].append((self.sizes[target], value))
            for reference, points in targets.items():
                if len(points) >= FEWEST_MODELS:
                    label = f"{name} for twice the size"
                    yield StudyNumber(label, f"reference {reference}", slope_estimate(points))

    def _sizes_within(self, pairs: Sequence[Pair], sizes: Mapping[str, float]) -> Vector:
        return within_references(pairs, [sizes[target] for _, target in pairs])

    def _p_value(self, pairs: Sequence[Pair], values: Vector, seed: int) -> float | None:
        names = sorted({name for pair in pairs for name in pair})
        sizes = np.array([self.sizes[name] for name in names])
        orders = inference.permutations(len(names), np.random.default_rng([seed, 3]))
        permuted = (dict(zip(names, sizes[order].tolist(), strict=True)) for order in orders)
        drawn = (inference.correlation(self._sizes_within(pairs, s), values) for s in permuted)
        observed = inference.correlation(self._sizes_within(pairs, self.sizes), values)
        return inference.two_sided_p(observed, drawn)


def within_references(pairs: Sequence[Pair], values: Sequence[float]) -> Vector:
    """Return values less their mean over the pairs of the same reference.

    Examples
    --------
    >>> within_references([("a", "b"), ("a", "c"), ("b", "c")], [1.0, 3.0, 7.0]).tolist()
    [-1.0, 1.0, 0.0]
    """
    references = np.unique([first for first, _ in pairs], return_inverse=True)[1]
    array = np.asarray(values, dtype=np.float64)
    return np.asarray(
        array - (np.bincount(references, array) / np.bincount(references))[references]
    )


def slope_estimate(targets: Sequence[tuple[float, float]]) -> Estimate | Undefined:
    """Return the least-squares slope of the measure on log2 of size, with Student's t.

    Examples
    --------
    >>> print(slope_estimate([(0, 0.5), (1, 0.6), (2, 0.8), (3, 0.8)]))
    0.110 [-0.004, 0.224]
    """
    sizes, values = np.array(targets).T
    if not np.ptp(sizes) or not np.ptp(values):
        return Undefined(reason="the targets do not differ", n=len(sizes))
    fit = linregress(sizes, values)
    half = student_quantile(LEVEL, len(sizes) - 2) * float(fit.stderr)
    value = float(fit.slope)
    method = f"Student t over {len(sizes)} targets"
    return Estimate(value=value, low=value - half, high=value + half, n=len(sizes), method=method)
