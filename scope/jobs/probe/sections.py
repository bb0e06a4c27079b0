"""The page of a probe: how well the layers of frozen models predict human scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reports.blocks import Bullets, Column, Page, Row, Section, Table, Terms, heading, note
from reports.builders.run import asked, code, reproduce
from reports.prose import Text, joined, prose, written
from scope.jobs.probe.answer import answer_section, brief_blocks
from scope.jobs.probe.errors_section import errors_section, wrong_section
from scope.jobs.probe.layer_similarity import similarity_section
from scope.jobs.probe.layers_section import layers_section
from scope.jobs.probe.steps_section import some_seen, steps_section
from scope.records import ProbeFindings, ProbeResult

MOST_IN_TITLE = 3
"""The most models named in the title."""

OPEN = ("answer", "wrong")
"""The sections that are not folded."""


def page(result: ProbeResult) -> Page:
    """The whole report of a probe."""
    findings = result.findings
    names = [model.name for model in findings.models]
    few = ", ".join(names) if len(names) <= MOST_IN_TITLE else f"{len(names):,} models"
    sections = (
        answer_section(findings),
        wrong_section(findings),
        steps_section(findings),
        layers_section(findings),
        similarity_section(findings),
        errors_section(findings),
        _limits(findings),
        _asked(result),
        reproduce(result.manifest, result.clock),
    )
    shown = (one for one in sections if one is not None)
    return Page(
        title=f"SCoPE {result.manifest.job}: {few}",
        sections=tuple(replace(one, folded=one.anchor not in OPEN) for one in shown),
        brief=brief_blocks(result),
    )


def _limits(findings: ProbeFindings) -> Section:
    """What the numbers do not show, and the rules that were applied."""
    items = (*_not_shown(findings), *map(written, findings.notes))
    return Section(anchor="limits", title="Limits", blocks=(Bullets(items),))


def _not_shown(findings: ProbeFindings) -> Iterator[Text]:
    yield prose(
        "A high correlation shows that layers hold the information, not that the model uses it. "
        "Other kinds of sentences may give other results."
    )
    yield prose(
        "Intervals are not corrected for multiple comparisons: about 1 of 20 excludes 0 by "
        "chance. A layer that is chosen as the best on the test pairs is slightly optimistic."
    )
    if findings.groups < findings.test:
        yield prose(
            "Test pairs that share a sentence are not independent: intervals are from a jackknife "
            "over {groups} groups of pairs.",
            groups=findings.groups,
        )
    if not findings.train:
        yield prose("Whether the saved probe was trained on some of these pairs is unknown.")
    if some_seen(findings):
        yield prose(
            "{seen} test pairs share a sentence with training or development pairs, which may "
            "inflate their correlation; unseen pairs may also be harder or easier.",
            seen=findings.test - findings.unseen,
        )


def _asked(result: ProbeResult) -> Section:
    """The models and how they were read, the pairs, and the task."""
    findings = result.findings
    shared = asked(result.manifest, capabilities="Task")
    layers = Table(
        columns=(
            Column("Model", "name"),
            *(Column(name, "number") for name in ("Layers", "Width")),
            *map(Column, ("Read at", "Precision", "Prompt")),
        ),
        rows=tuple(
            Row(cells=(one.name, one.layers, one.width, one.readout, one.dtype, one.prompt))
            for one in findings.models
        ),
    )
    about = note(
        "A layer’s vector is the residual stream after its block: at the __last__ token, as the "
        "__mean__ of all tokens, or at the last token of a __prompt__ with the text."
    )
    pairs = prose(
        "{train} pairs for training, {development} for development and {test} for testing, of "
        "{n} different sentences; {others} sentences without scores",
        train=findings.train,
        development=findings.development,
        test=findings.test,
        n=findings.sentences,
        others=findings.unlabelled,
    )
    facts = [(prose("Pairs"), pairs)]
    if findings.files:
        facts.append((prose("Saved probes"), joined(map(code, findings.files))))
    read = (heading("Layers"), layers, about, Terms(tuple(facts), facts=True))
    return replace(shared, blocks=(*read, *shared.blocks))
