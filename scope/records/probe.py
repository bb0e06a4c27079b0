"""What a probe of frozen models finds: how far their layers follow people's judgement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scope.records.estimates import Estimate, Undefined
from scope.records.result import FrameRow, Result


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbedModel:
    """How a model was read: the number and width of its layers, and the readout position.

    ``prompt`` is the template around the text, for the readout ``prompt`` alone; ``dtype`` the
    precision in which the model ran.
    """

    name: str
    layers: int
    width: int
    readout: str
    prompt: str | None
    dtype: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StepScore:
    """How well one step's scores follow people's, on the test pairs.

    ``parameters`` counts the numbers that are trained. The estimates are those of the first
    seed's probe; ``pearsons`` and ``spearmans`` hold each seed's, None where one has none.
    ``unseen`` is Pearson's correlation on those test pairs alone of which no sentence stands
    among the training and development pairs. ``error`` is the mean absolute difference from
    people's scores, in their unit; ``gain`` is Pearson's correlation beyond that of the step
    before, on all test pairs, and None for the first step. ``layer`` is that of ``raw``.
    """

    model: str
    step: str
    parameters: int
    pearson: Estimate | Undefined
    spearman: Estimate | Undefined
    unseen: Estimate | Undefined
    error: Estimate | Undefined
    gain: Estimate | Undefined | None = None
    pearsons: tuple[float | None, ...] = ()
    spearmans: tuple[float | None, ...] = ()
    layer: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerScore:
    """What one layer knows by itself, and what the last step's probe loses without it.

    ``raw`` is Pearson's correlation of the latents' own cosines with people's scores on the test
    pairs, ``encoded`` that of the probe's encodings where it has any. ``lost`` is the probe's
    correlation with all layers minus that without this one; None where there is but one layer.
    ``reconstruction`` is the share of the layer's variance that its autoencoder leaves unexplained
    on the test sentences; None without autoencoders.
    Layers count from 0, the input embeddings aside.
    """

    model: str
    layer: int
    raw: Estimate | Undefined
    encoded: Estimate | Undefined | None = None
    lost: Estimate | Undefined | None = None
    reconstruction: Estimate | Undefined | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerAblation:
    """What the last step's probe loses when it is fitted again without neighbouring layers.

    The layers from ``first`` to ``last`` are left out. ``pearson`` and ``spearman`` are the
    correlations with all layers minus those without these, on the same test pairs.
    """

    model: str
    step: str
    first: int
    last: int
    pearson: Estimate | Undefined
    spearman: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeDifference:
    """Pearson's correlation of one model's probe minus another's, on the same test pairs."""

    step: str
    first: str
    second: str
    pearson: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerAlignment:
    """How alike two models arrange the same sentences: linear CKA, from 0 to 1, layer by layer.

    ``values`` has a row for each layer of ``first`` and a column for each of ``second``;
    ``margins`` has the half widths of the 95 % intervals. ``chance`` is what the greatest value
    of the map stays below in 95 of 100 maps with the sentences of one model shuffled.
    """

    first: str
    second: str
    sentences: int
    values: tuple[tuple[float, ...], ...]
    margins: tuple[tuple[float, ...], ...]
    chance: float

    def cells(self) -> Mapping[tuple[int, int], Estimate]:
        """The CKA of each layer of ``first`` with each of ``second``, by the two numbers."""
        n = self.sentences
        return {
            (row, column): Estimate(
                value=value, low=value - margin, high=value + margin, n=n, method="CKA"
            )
            for row, pair in enumerate(zip(self.values, self.margins, strict=True))
            for column, (value, margin) in enumerate(zip(*pair, strict=True))
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class MisjudgedPair:
    """A test pair whose score by a step's probe is far from people's.

    The ``step`` is the last one, or ``raw`` where that has the higher correlation.
    """

    model: str
    id: str
    first: str
    second: str
    wanted: float
    given: float
    step: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeFindings:
    """All that a job on frozen latents found.

    ``train``, ``development`` and ``test`` count pairs, ``unseen`` the test pairs of which no
    sentence stands in the other two, and ``groups`` the groups of test pairs that share
    sentences, which intervals take for one each. ``sentences`` counts the different sentences in
    all pairs, ``unlabelled`` the sentences without scores that were read beside. ``low`` and
    ``high`` are the range of the scores. Of a saved probe that was put to the test ``train`` and
    ``development`` are 0. ``misjudged`` holds the worst pair of each model first. ``notes`` are
    rules that were applied, in words, and ``files`` the folders in which probes were saved.
    """

    train: int
    development: int
    test: int
    unseen: int
    groups: int
    sentences: int
    unlabelled: int
    low: float
    high: float
    models: tuple[ProbedModel, ...]
    scores: tuple[StepScore, ...]
    layers: tuple[LayerScore, ...] = ()
    ablations: tuple[LayerAblation, ...] = ()
    differences: tuple[ProbeDifference, ...] = ()
    alignments: tuple[LayerAlignment, ...] = ()
    misjudged: tuple[MisjudgedPair, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class ProbeResult(Result):
    """How well the frozen latents of each model predict human scores."""

    findings: ProbeFindings

    def rows(self) -> Iterator[FrameRow]:
        """Every number as a row of a data frame.

        ``target`` is the model, ``against`` the other model or the step before, and ``subset`` the
        step, the layer or the two layers.
        """
        job, findings = self.manifest.job, self.findings
        yield from _step_rows(job, findings.scores)
        for layer in findings.layers:
            for metric, estimate in (
                ("layer_pearson", layer.raw),
                ("layer_pearson_encoded", layer.encoded),
                ("layer_pearson_lost", layer.lost),
                ("layer_reconstruction_error", layer.reconstruction),
            ):
                if estimate is not None:
                    subset = f"layer {layer.layer}"
                    yield FrameRow.of(job, metric, layer.model, estimate, subset=subset)
        for each in findings.ablations:
            subset = f"without layers {each.first} to {each.last}"
            for metric, lost in (("pearson", each.pearson), ("spearman", each.spearman)):
                yield FrameRow.of(job, f"refitted_{metric}_lost", each.model, lost, subset=subset)
        for difference in findings.differences:
            yield FrameRow.of(
                job,
                "pearson_difference",
                difference.first,
                difference.pearson,
                against=difference.second,
                subset=difference.step,
            )
        for alignment in findings.alignments:
            first, second = alignment.first, alignment.second
            for (row, column), cell in alignment.cells().items():
                subset = f"layers {row} and {column}"
                yield FrameRow.of(job, "cka", first, cell, against=second, subset=subset)


def _step_rows(job: str, scores: tuple[StepScore, ...]) -> Iterator[FrameRow]:
    for before, score in zip((None, *scores), scores, strict=False):
        model, step = score.model, score.step
        for metric, estimate in (
            ("pearson", score.pearson),
            ("pearson_unseen", score.unseen),
            ("spearman", score.spearman),
            ("mean_absolute_error", score.error),
        ):
            yield FrameRow.of(job, metric, model, estimate, subset=step)
        if before is not None and score.gain is not None:
            last = before.step
            yield FrameRow.of(job, "pearson_gain", model, score.gain, against=last, subset=step)
