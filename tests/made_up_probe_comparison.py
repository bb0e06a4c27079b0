"""The findings on two frozen models with everything a report must survive, built by hand."""

from __future__ import annotations

import math
from dataclasses import replace

from made_up_comparison import (
    ARABIC,
    CLOCK,
    CLOSING,
    IMAGE,
    LINK,
    SCRIPT,
    capability_card,
    file_card,
    interval,
    model_card,
    records,
)

from scope.records import (
    Estimate,
    LayerAlignment,
    LayerScore,
    Manifest,
    MisjudgedPair,
    ProbeDifference,
    ProbedModel,
    ProbeFindings,
    ProbeResult,
    StepScore,
    Undefined,
)

DEEP, SHALLOW = f"deep {IMAGE}", f"shallow {CLOSING}"
DEPTHS = {DEEP: 30, SHALLOW: 18}
STEPS = ("raw", "mlp", "siamese", "autoencoder", "final")
PROMPT = f'The sentence "{{}}" {SCRIPT} in one word:"'


def estimate(value: float, n: int = 750, half: float = 0.03125) -> Estimate:
    return interval(value, n, half, f"jackknife over groups of pairs {IMAGE}")


def models() -> tuple[ProbedModel, ...]:
    return records(
        ProbedModel,
        "name layers width readout prompt dtype",
        (DEEP, DEPTHS[DEEP], 576, "prompt", PROMPT, "bfloat16"),
        (SHALLOW, DEPTHS[SHALLOW], 640, "last", None, "float32"),
    )


def scores() -> tuple[StepScore, ...]:
    """Five steps of each, the last three of three seeds; one Spearman is undefined."""
    found = {
        DEEP: (0.6875, 0.703125, 0.765625, 0.78125, 0.796875),
        SHALLOW: (0.625, 0.6875, 0.75, 0.75, 0.78125),
    }
    trained = (0, 31, 3_322_511, 2_212_895, 2_212_399)
    made = []
    for model, values in found.items():
        for place, (step, value) in enumerate(zip(STEPS, values, strict=True)):
            gain = estimate(value - values[place - 1], half=0.01171875) if place else None
            seeds = (0.0, 0.0078125, -0.0078125) if place > 1 else (0.0,)
            score = StepScore(
                model=model,
                step=step,
                parameters=trained[place],
                pearson=estimate(value),
                spearman=estimate(value - 0.0078125),
                # The more a step learns, the more it owes to sentences that it has met.
                unseen=estimate(value - place / 256, n=520, half=0.0390625),
                error=estimate(0.875 - place / 32, half=0.046875),
                gain=gain,
                pearsons=tuple(value + change for change in seeds),
                spearmans=(value - 0.0078125,) * len(seeds),
            )
            made.append(score)
    constant = Undefined(reason=f"one side is constant {LINK}", n=750)
    made[-1] = replace(made[-1], spearman=constant, spearmans=(None, 0.75, 0.78125))
    return tuple(made)


def layers() -> tuple[LayerScore, ...]:
    """Curves that rise and sink again; one layer has no number as it is."""
    made = []
    for model, depth in DEPTHS.items():
        for layer in range(depth):
            rise = math.floor(64 * math.sin(2.4 * (layer + 1) / depth)) / 64
            raw, encoded = estimate(0.125 + rise / 2), estimate(0.25 + rise / 2, half=0.0234375)
            lost = estimate((layer % 7 - 1) / 512, half=0.00390625)
            made.append((model, layer, raw, encoded, lost))
    still = Undefined(reason=f"one side is constant {SCRIPT}", n=750)
    rows = [(*row[:2], still, *row[3:]) if row[:2] == (SHALLOW, 4) else row for row in made]
    return records(LayerScore, "model layer raw encoded lost", *rows)


def differences() -> tuple[ProbeDifference, ...]:
    values = (0.0625, 0.015625, 0.015625, 0.03125, -0.0078125)
    rows = (
        (step, SHALLOW, DEEP, estimate(-value, half=0.01953125))
        for step, value in zip(STEPS, values, strict=True)
    )
    return records(ProbeDifference, "step first second pearson", *rows)


def alignment() -> LayerAlignment:
    """Layers at the same share of the depth are most alike; the first one is like no other."""
    rows = []
    for one in range(DEPTHS[DEEP]):
        apart = [abs(one / DEPTHS[DEEP] - two / DEPTHS[SHALLOW]) for two in range(DEPTHS[SHALLOW])]
        top = 0.0625 if one == 0 else 0.75
        rows.append(tuple(math.floor(256 * top * math.exp(-2 * share)) / 256 for share in apart))
    return LayerAlignment(
        first=DEEP,
        second=SHALLOW,
        sentences=500,
        values=tuple(rows),
        margins=tuple((0.03125,) * DEPTHS[SHALLOW] for _ in rows),
        chance=0.09375,
    )


def misjudged() -> tuple[MisjudgedPair, ...]:
    lit = (f"The lamp is lit. {SCRIPT}", f"The lamp is not lit. {LINK}")
    long = ("Her uncle sold the old boat last spring, " * 12, ARABIC)
    geese = (f"Three geese {CLOSING} crossed the road.", "Nine geese crossed the road.")
    return records(
        MisjudgedPair,
        "model id first second wanted given",
        (DEEP, f"p7{IMAGE}", *lit, 0.5, 4.125),
        (DEEP, "p12", *long, 4.75, 1.5),
        (SHALLOW, "p7", *geese, 1.25, 4.0),
    )


def findings() -> ProbeFindings:
    return ProbeFindings(
        train=3_010,
        development=820,
        test=750,
        unseen=520,
        groups=619,
        sentences=7_966,
        unlabelled=4_000,
        low=0.0,
        high=5.0,
        models=models(),
        scores=scores(),
        layers=layers(),
        differences=differences(),
        alignments=(alignment(),),
        misjudged=misjudged(),
        notes=(f"the best layer was chosen on the development pairs {SCRIPT}", "one left out"),
        files=("probes/deep-final", f"probes/shallow{IMAGE}"),
    )


def build_comparison(found: ProbeFindings | None = None) -> ProbeResult:
    """A run of the job that found this, or everything that it can find."""
    kept = findings() if found is None else found
    return ProbeResult(
        manifest=Manifest(
            job="probe",
            models=tuple(model_card(model.name, "model", truncated=2) for model in kept.models),
            data=(file_card(f"csv:pairs{IMAGE}.csv", 4_581, 4_580, labelled=4_580, empty=1),),
            capabilities=(
                capability_card(
                    "similarity",
                    f"How alike are two sentences in meaning? {SCRIPT}",
                    low=0.0,
                    high=5.0,
                ),
            ),
            settings={"seed": 7, "seeds": 3},
            versions={"scope": "0.1.0"},
            command=f"scope probe --model 'hf:{IMAGE}' --data 'csv:pairs.csv'",
        ),
        findings=kept,
        clock=CLOCK,
    )
