"""The page of a probe: how well the layers of frozen models predict human scores."""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks import (
    Block,
    Bullets,
    Card,
    Cards,
    Column,
    Page,
    Passage,
    Preformatted,
    Row,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.asked import (
    SHORT_FINGERPRINT,
    about_capability,
    code,
    data_name,
)
from reports.builders.reproduce import reproduce
from reports.prose import Text, prose, together, written
from scope.jobs.probe.brief import brief_blocks
from scope.jobs.probe.headline import headline_section
from scope.jobs.probe.layer_similarity import similarity_section
from scope.jobs.probe.layers_section import layer_bullets, layers_section
from scope.jobs.probe.step_tables import difference_table, step_tables, steps_section
from scope.records import Manifest, MisjudgedPair, ProbedModel, ProbeFindings, ProbeResult

MOST_MISJUDGED = 2_000
"""Misjudged pairs shown of each model at most."""

MOST_IN_TITLE = 3
"""The most models named in the title."""


def page(result: ProbeResult, *, max_pairs: int = MOST_MISJUDGED) -> Page:
    """The whole report of a probe.

    ``max_pairs`` bounds how many misjudged pairs of each model are shown.
    """
    manifest, findings = result.manifest, result.findings
    tables, differences = step_tables(findings), difference_table(findings)
    bullets = layer_bullets(findings)
    sections = (
        headline_section(findings),
        _asked(manifest, findings),
        steps_section(findings, [table for _, table in tables], differences),
        layers_section(findings, bullets),
        similarity_section(findings),
        misjudged_section(findings, most=max_pairs),
        reproduce(manifest, result.clock),
    )
    return Page(
        title=_title(manifest.job, [model.name for model in findings.models]),
        sections=tuple(section for section in sections if section is not None),
        brief=brief_blocks(result, dict(tables), differences, bullets),
    )


def _title(job: str, names: list[str]) -> str:
    shown = ", ".join(names) if len(names) <= MOST_IN_TITLE else f"{len(names):,} models"
    return f"SCoPE {job}: {shown}"


def _asked(manifest: Manifest, findings: ProbeFindings) -> Section:
    """The models, the data, the task and the rules applied."""
    return Section(
        anchor="asked",
        title="What was asked",
        blocks=(
            *(block for card in manifest.capabilities for block in about_capability(card)),
            heading("Models"),
            _models_table(manifest, findings),
            note(
                "A layer’s vector is the residual stream after its block, at one position of every "
                "text: __last__ is the last token, __mean__ the mean of all tokens, and __prompt__ "
                "the last token of a prompt with the text."
            ),
            *_prompts(findings),
            heading("Data"),
            _pairs(findings),
            *_data_table(manifest),
            *_listed("Rules applied", tuple(written(one) for one in findings.notes)),
            *_listed("Saved probes", tuple(code(one) for one in findings.files)),
        ),
    )


def _models_table(manifest: Manifest, findings: ProbeFindings) -> Table:
    return Table(
        columns=(
            Column("Model", "name"),
            Column("Spec"),
            Column("Layers", "number"),
            Column("Width", "number"),
            Column("Position"),
            Column("Precision"),
            Column("Fingerprint"),
            Column("Truncated texts", "number"),
        ),
        rows=tuple(_model_row(manifest, model) for model in findings.models),
    )


def _model_row(manifest: Manifest, model: ProbedModel) -> Row:
    card = next((one for one in manifest.models if one.name == model.name), None)
    return Row(
        cells=(
            model.name,
            None if card is None else code(card.spec),
            model.layers,
            model.width,
            model.readout,
            model.dtype,
            None if card is None else code(card.fingerprint[:SHORT_FINGERPRINT]),
            None if card is None else card.truncated,
        )
    )


def _prompts(findings: ProbeFindings) -> Iterator[Block]:
    for model in findings.models:
        if model.prompt is not None:
            yield paragraph("Prompt for {model}:", model=model.name)
            yield Preformatted(model.prompt)


def _pairs(findings: ProbeFindings) -> Terms:
    return Terms(
        (
            (prose("Pairs"), _pair_counts(findings)),
            (prose("Shared sentences"), _shared(findings)),
            (prose("Sentences"), _sentences(findings)),
            (
                prose("Scores"),
                prose("from {low} to {high}", low=f"{findings.low:g}", high=f"{findings.high:g}"),
            ),
        ),
        facts=True,
    )


def _pair_counts(findings: ProbeFindings) -> Text:
    if not findings.train:
        return prose("{test} to evaluate a saved probe", test=findings.test)
    return prose(
        "{train} for training, {development} for development, {test} for testing",
        train=findings.train,
        development=findings.development,
        test=findings.test,
    )


def _shared(findings: ProbeFindings) -> Text:
    groups = prose(
        f"the test pairs form {{groups}} group{'' if findings.groups == 1 else 's'} without shared "
        "sentences",
        groups=findings.groups,
    )
    if not findings.train:
        return groups
    seen = findings.test - findings.unseen
    return together(
        prose("{seen} test pairs share a sentence with the other pairs;", seen=seen), groups
    )


def _sentences(findings: ProbeFindings) -> Text:
    distinct = prose("{n} distinct ones in these pairs", n=findings.sentences)
    if not findings.unlabelled:
        return distinct
    return prose("{distinct}, and {n} without scores", distinct=distinct, n=findings.unlabelled)


def _data_table(manifest: Manifest) -> Iterator[Table]:
    """The rows of each data set; repeated pairs are kept, so none is counted as left out."""
    if manifest.data:
        numbers = ("Rows", "Used", "With a score", "Empty, excluded")
        yield Table(
            columns=(Column("Data", "name"), *(Column(name, "number") for name in numbers)),
            rows=tuple(
                Row(cells=(data_name(card), card.rows, card.used, card.labelled, card.empty))
                for card in manifest.data
            ),
        )


def _listed(title: str, items: tuple[Text, ...]) -> Iterator[Block]:
    if items:
        yield heading(title)
        yield Bullets(items)


def misjudged_section(findings: ProbeFindings, *, most: int) -> Section | None:
    """The pairs on which each model's probe is most wrong; None if there are none."""
    pairs = findings.misjudged
    if not pairs:
        return None
    models = {
        name: [pair for pair in pairs if pair.model == name][:most]
        for name in dict.fromkeys(pair.model for pair in pairs)
    }
    shown = sum(map(len, models.values()))
    part = (
        prose(
            "{shown} of {total} are shown; all are in ``result.json``.",
            shown=shown,
            total=len(pairs),
        )
        if shown < len(pairs)
        else ()
    )
    about = prose(
        "The test pairs (of {test}) with the largest difference between the last step’s probe and "
        "human scores, the largest first. Scores range from {low} to {high}.",
        test=findings.test,
        low=f"{findings.low:g}",
        high=f"{findings.high:g}",
    )
    return Section(
        anchor="misjudged",
        title="Misjudged pairs",
        blocks=(
            paragraph("{about}", about=together(about, part)),
            *(block for name, rows in models.items() for block in _misjudged(name, rows)),
        ),
    )


def _misjudged(model: str, pairs: list[MisjudgedPair]) -> Iterator[Block]:
    yield heading("{model}", model=model)
    yield Cards(cards=tuple(map(_card, pairs)), narrow=True)


def _card(pair: MisjudgedPair) -> Card:
    return Card(
        note=prose("pair {id}", id=pair.id),
        blocks=(
            Passage(written(pair.first)),
            Passage(written(pair.second)),
            paragraph(
                "human **{wanted}**, probe **{given}**, difference **{difference}**",
                wanted=_score(pair.wanted),
                given=_score(pair.given),
                difference=_score(pair.given - pair.wanted, "+"),
            ),
        ),
    )


def _score(value: float, sign: str = "") -> str:
    return f"{value:{sign}.2f}".replace("-", "−")
