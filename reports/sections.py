"""The page of a run: models, data, outcomes, failures, left-out texts, how to reproduce it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from reports.blocks import (
    Block,
    Bullets,
    Callout,
    Fold,
    Heading,
    Page,
    Paragraph,
    Preformatted,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.estimates import table_of
from reports.prose import Span, Text, joined, prose, written
from reports.wording import setting
from scope.errors import counted, listed
from scope.records import (
    MEMORY,
    AuditResult,
    CapabilityCard,
    Clock,
    DataCard,
    LeftOut,
    Manifest,
    ModelCard,
    Outcome,
)
from scope.records.result import ASKED_ANEW, DIFFERENTLY, OBJECT, SAMPLED


def page_of_run(
    manifest: Manifest,
    clock: Clock | None,
    *,
    title: str,
    heading: Text,
    about: Text = (),
    answer: Iterable[Block],
    answer_title: str = "Answer",
    findings: Iterable[Section | None] = (),
    details: Iterable[Section | None],
    hashes: Iterable[tuple[str, str]] = (),
    brief: Iterable[Block],
    facts: Iterable[tuple[Text, Text]] = (),
) -> Page:
    """The page of every job: the answer, what was found, then details and the command, folded.

    Its ``brief`` ends with ``facts`` in lines. ``hashes`` are as for `reproduce`.
    """
    lines = tuple(facts)
    opened = (Section(anchor="answer", title=answer_title, blocks=tuple(answer)), *findings)
    closed = (replace(section, folded=True) for section in details if section)
    return Page(
        title=f"SCoPE {title}",
        heading=heading,
        about=about,
        sections=(*filter(None, opened), *closed, reproduce(manifest, clock, hashes)),
        brief=(*brief, *([Terms(lines, facts=True)] if lines else []), *run_lines(clock)),
    )


def asked(manifest: Manifest, *, capabilities: str = "Capabilities") -> Section:
    """The models, prompts, data and capabilities of a run; ``capabilities`` heads the last part."""
    return Section(
        anchor="asked",
        title="What was asked",
        blocks=(
            Heading(prose("Models")),
            *filter(None, [models_table(manifest)]),
            *asked_differently(manifest.models),
            *_prompts(manifest),
            Heading(prose("Data")),
            *filter(None, [data_table(manifest.data)]),
            *(
                Paragraph(prose("{data}: {note}", data=data_name(card), note=line))
                for card in manifest.data
                for line in card.notes
            ),
            *([Heading(prose(capabilities))] if manifest.capabilities else []),
            *(block for card in manifest.capabilities for block in about_capability(card)),
        ),
    )


def models_table(manifest: Manifest) -> Table | None:
    """Every model, the reference first; fingerprints are in the section on reproduction."""
    roles = {"baseline": "yardstick", "floor": "unrelated model"}
    rows = (
        (card.name, roles.get(card.role, card.role), code(card.spec), *row)
        for card in sorted(manifest.models, key=lambda card: card.role != "reference")
        for row in [(joined(card.labels), card.truncated, _cut(card))]
    )
    heads = ("Model", "Role", "Spec", "Labels", "Truncated texts", "Answers that end at the limit")
    return table_of("", heads, rows)


def _truncated(card: ModelCard) -> str:
    """The unchanged and changed texts that a model read in part, of those that it was asked."""
    whole = f" of {card.answers}" if card.truncated and card.answers else ""
    return f"{card.truncated}{whole}"


def _cut(card: ModelCard) -> str:
    return f"{card.cut} of {card.answers}" if card.cut else ""


def data_table(data: tuple[DataCard, ...]) -> Table | None:
    """The rows of each data set, and those that were left out."""
    rows = (
        (data_name(card), card.rows, card.used, card.labelled, card.duplicates, card.empty)
        for card in data
    )
    heads = ("Data", "Rows", "Used", "With gold", "Duplicates left out", "Empty left out")
    return table_of("", heads, rows)


def data_name(card: DataCard) -> Text:
    """The spec of a data set, and the task that it belongs to."""
    if card.capability is None:
        return code(card.spec)
    return prose("{spec} ({task})", spec=code(card.spec), task=card.capability)


def code(text: str) -> Text:
    """Foreign text as code."""
    return (Span(text, "code", foreign=True),)


def _prompts(manifest: Manifest) -> Iterator[Block]:
    """The prompts of all models, each once, in the order of the models."""
    prompts: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    for card in manifest.models:
        for name, template in card.prompts.items():
            words = tuple(card.words.items())
            prompts.setdefault((name, template, words), []).append(card.name)
    if prompts:
        yield heading("Prompts")
        yield note(
            "Fields in braces are replaced by parts of each question. Where a tokenizer has a chat "
            "template, the prompt is the user’s message in it."
        )
    if manifest.settings.get("ask") == "letters":
        yield note("All models choose by writing the letter of an option.")
    if any("{reply}" in template for _, template, _ in prompts):
        yield note(
            "The text after ``{reply}`` is the beginning of the reply; endpoints receive only the "
            "text before it.",
            reply="{reply}",
        )
    for (name, template, words), models in prompts.items():
        yield paragraph("**{name}**, used for {models}:", name=name, models=joined(models))
        yield Preformatted(template)
        if words:
            yield note("Words for the labels: {words}", words=equations(words))
        yield from _first_prompts(name, [card for card in manifest.models if card.name in models])


def _first_prompts(name: str, cards: Sequence[ModelCard]) -> Iterator[Block]:
    """The first prompt as the models read it, each text once."""
    readers: dict[tuple[str, bool], list[str]] = {}
    for card in cards:
        if card.reading and (shown := card.reading.first_prompts.get(name)):
            readers.setdefault((shown, card.reading.template is None), []).append(card.name)
    for (shown, served), models in readers.items():
        how = "is sent to the server of" if served else "is read, with special tokens, by"
        yield paragraph(f"The first one, as it {how} {{models}}:", models=joined(models))
        yield Preformatted(shown)


def asked_differently(models: Iterable[ModelCard]) -> tuple[Block, ...]:
    """What differs between the prompts that the language models of a verdict read, if anything."""
    readings = [(card, card.reading) for card in models if card.reading is not None]
    here = [(card, reading) for card, reading in readings if reading.template is not None]
    facts: dict[str, list[tuple[str, str | None]]] = {
        "Chat template": [(card.name, reading.template) for card, reading in readings],
        "First token": [(card.name, reading.first_token) for card, reading in here],
        "Texts cut (of those asked)": [(card.name, _truncated(card)) for card, _ in readings],
    }
    lines = []
    for fact, values in facts.items():
        different = dict.fromkeys(value for _, value in values)
        parts = []
        for kind in different:
            what = "its own" if kind and fact == "Chat template" else kind or "none"
            few = ", ".join(name for name, value in values if value == kind)
            parts.append(f"{'not known here' if kind is None else what} for {few}")
        if len(different) > 1:
            lines.append(f"{fact}: {', '.join(parts)}.")
    return (paragraph("The prompts differ. {facts}", facts=" ".join(lines)),) if lines else ()


def about_capability(card: CapabilityCard) -> Iterator[Block]:
    """The question that a capability or task asks, and its settings."""
    yield paragraph(
        "**{name}** ({origin}): {question}",
        name=card.name,
        origin=card.origin,
        question=card.question,
    )
    if card.settings:
        values = [(name, setting(card.settings[name])) for name in sorted(card.settings)]
        yield Paragraph(equations(values), note=True)


def equations(pairs: Iterable[tuple[str, str]]) -> Text:
    """Names with their values: ``a = 1, b = 2``."""
    return joined(
        (*written(name), Span("\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"), *written(value))
        for name, value in pairs
    )


def reproduce(
    manifest: Manifest, clock: Clock | None, hashes: Iterable[tuple[str, str]] = ()
) -> Section:
    """The command, and everything on which the result depends.

    ``hashes`` are a job's own, beside the fingerprints of models and data.
    """
    return Section(
        anchor="reproduce",
        title="Reproduce",
        heading="How to reproduce",
        blocks=tuple(_blocks(manifest, clock, hashes)),
        folded=True,
    )


def command_with(command: str, dropped: Collection[str], *added: str) -> str:
    """A command with other options in place of those that are ``dropped``.

    >>> command_with("scope compare --model 'a b' --n 9 --task choice", ["--model"], "--model", "c")
    'scope compare --n 9 --task choice --model c'
    """
    words, kept = iter(shlex.split(command)), []
    for word in words:
        if word in dropped:
            next(words, None)
        elif word.partition("=")[0] not in dropped:
            kept.append(word)
    return shlex.join([*kept, *added])


def _blocks(
    manifest: Manifest, clock: Clock | None, hashes: Iterable[tuple[str, str]]
) -> Iterator[Block]:
    yield Preformatted(manifest.command)
    specs = [*(card.spec for card in manifest.models), *(card.spec for card in manifest.data)]
    named = (spec for several in specs for spec in several.split(", "))
    if passed := dict.fromkeys(spec for spec in named if spec.startswith((MEMORY, OBJECT))):
        yield paragraph(
            "Passed from Python: {passed}. The command alone cannot read them: call the function "
            "of the job again with the same objects. The name of data is a hash of their content.",
            passed=", ".join(passed),
        )
    if (encoder := manifest.settings.get("encoder")) and "--encoder" not in manifest.command:
        yield paragraph(
            "The sentence encoder was the one at hand; to have the same elsewhere, add {option}.",
            option=f"--encoder {str(encoder).split()[0]}",
        )
    yield paragraph(
        "On the same machine the same command gives the same numbers, if settings, versions and "
        "fingerprints are the same."
    )
    degrees = [(card.name, card.reproducible) for card in manifest.models]
    degrees.append(("the sentence encoder", manifest.encoder_reproducible))
    if known := [(name, degree) for name, degree in degrees if degree]:
        yield _pairs("Model", "In batches of another size its answers are equal", known)
    if clock:
        yield paragraph(
            "This run finished at {finished} and took {seconds}\u00a0seconds in all its sessions.",
            finished=clock.finished,
            seconds=f"{clock.seconds:.1f}",
        )
        if clock.asked_again:
            yield paragraph(
                "It repeated {count} of the stored questions to check that the models are "
                "unchanged.",
                count=clock.asked_again,
            )
        yield from (paragraph("{drift}", drift=drift) for drift in clock.drifts)
    settings = sorted(manifest.settings.items())
    yield _pairs("Setting", "Value", ((name, setting(value)) for name, value in settings))
    yield _pairs("Software", "Version", sorted(manifest.versions.items()))
    fingerprints = (
        *((f"model {card.name}", card.fingerprint) for card in manifest.models),
        *((f"data {card.spec}", card.fingerprint) for card in manifest.data),
        *hashes,
    )
    if fingerprints:
        yield _pairs("Of", "Fingerprint", fingerprints)


def _pairs(first: str, second: str, pairs: Iterable[tuple[str, str]]) -> Table:
    return Table.of({first: "name", second: "text"}, pairs)


def run_lines(clock: Clock | None) -> tuple[Terms, ...]:
    """The number of repeated cached answers; nothing for none."""
    if clock is None or not clock.asked_again:
        return ()
    agree = "" if clock.drifts else "; all agree"
    text = prose(f"{{n}} cached answers repeated{agree}", n=clock.asked_again)
    return (Terms(((prose("store"), text),), facts=True),)


MOST_NAMED = 4
"""Lines on what was left out or not answered in a terminal; the page has all."""


def outcomes_section(result: AuditResult) -> Section:
    """Every outcome, with the number of failed searches by reason."""
    heads = ("Capability", "Searches", "Found", "Failed")
    shown = _outcomes(all_outcomes(result), heads, "Each text is searched once a trial.")
    heading = "Searches and failures"
    return Section(anchor="failures", title="Failures", heading=heading, blocks=tuple(shown))


def all_outcomes(result: AuditResult) -> list[Outcome]:
    """The outcomes of the searches for kept pairs, each before that of random candidates."""
    drawn = {
        outcome.capability: replace(outcome, capability=f"{outcome.capability}, random changes")
        for outcome in result.candidate_outcomes
    }
    both = (
        (replace(outcome, capability=f"{outcome.capability}, kept pairs"), drawn.get(capability))
        for outcome in result.outcomes
        for capability in [outcome.capability]
    )
    return [outcome for pair in both for outcome in pair if outcome is not None]


def _outcomes(
    outcomes: Iterable[Outcome], heads: tuple[str, str, str, str], caption: str
) -> Iterator[Block]:
    """One row per outcome, with the reasons of failures; tracebacks are folded."""
    first, *counts = heads
    more = ("Not applicable", "Queries of the reference", "Queries saved", "Why")
    outcomes = tuple(outcomes)
    rows = (
        (
            outcome.capability,
            f"{outcome.status}: {outcome.reason}" if outcome.reason else outcome.status,
            *(outcome.searched, outcome.found, outcome.searched - outcome.found),
            *(sum(outcome.not_applicable.values()), outcome.queries, outcome.queries_saved),
            _reasons({**outcome.failures, **outcome.not_applicable}),
        )
        for outcome in outcomes
    )
    if table := table_of(caption, (first, "Outcome", *counts, *more), rows):
        yield table
    for outcome in outcomes:
        if outcome.trace:
            title = prose("Traceback of {name}", name=outcome.capability)
            yield Fold(title, (Preformatted(outcome.trace),))


def _reasons(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} ({count:,})" for reason, count in sorted(reasons.items()))


def outcome_lines(outcomes: Iterable[Outcome], *, of_tasks: bool = False) -> Terms:
    """The outcome of each capability, or task, in a line."""
    summary = _answered if of_tasks else _searched
    return Terms(
        tuple((written(outcome.capability), _summary(outcome, summary)) for outcome in outcomes),
        facts=True,
    )


def _summary(outcome: Outcome, measured: Callable[[Outcome], Text]) -> Text:
    if outcome.status != "measured":
        return prose("{status}: {reason}", status=outcome.status, reason=outcome.reason or "")
    return (
        *measured(outcome),
        *(prose("; {reason}", reason=outcome.reason) if outcome.reason else ()),
    )


def _searched(outcome: Outcome) -> Text:
    searches = f"{outcome.searched} search{'' if outcome.searched == 1 else 'es'}"
    words = prose("{found} found in {searches}", found=outcome.found, searches=searches)
    if not outcome.not_applicable:
        return words
    never, reasons = sum(outcome.not_applicable.values()), _reasons(outcome.not_applicable)
    none = "; in {never} others none is possible: {reasons}"
    return (*words, *prose(none, never=never, reasons=reasons))


def _answered(outcome: Outcome) -> Text:
    if missing := outcome.searched - outcome.found:
        return prose(
            "{found} answers, {missing} without one",
            found=outcome.found,
            missing=counted(missing, "question"),
        )
    return prose("{found} answers", found=outcome.found)


def model_lines(manifest: Manifest) -> Iterator[tuple[Text, Text]]:
    """The models whose answers are not kept or not equal, truncated texts, and answers cut."""
    if objects := [card.name for card in manifest.models if card.spec.startswith(OBJECT)]:
        yield written(", ".join(objects)), prose(ASKED_ANEW)
    cut = [f"{card.name} {_cut(card)}" for card in manifest.models if card.cut]
    for card in manifest.models:
        if card.reproducible.startswith((DIFFERENTLY, SAMPLED)):
            yield written(card.name), written(card.reproducible)
        if card.truncated:
            texts = counted(card.answers or card.truncated, "text").partition(" ")[2]
            about = written(f"{_truncated(card)} {texts} cut to its maximum length")
            yield written(card.name), about
    if cut:
        limit = f"--max-answer-tokens {manifest.settings.get('max_answer_tokens', '')}".strip()
        yield written(", ".join(cut)), written(f"answers that end at their limit ({limit})")


def left_out_section(manifest: Manifest) -> Section | None:
    """What was left out and why models gave no answer, by reason with examples; None if nothing."""
    lefts = [(data_name(card), left) for card in manifest.data for left in card.left_out]
    missing = [(card.name, left) for card in manifest.models for left in card.missing]
    tables = (
        table_of(
            caption,
            (of, "Reason", "Count", "For example"),
            ((name, left.reason, left.count, "; ".join(left.examples)) for name, left in rows),
        )
        for caption, of, rows in (
            ("Left out for all models:", "Data", lefts),
            ("Why is there no answer? If not left out, it counts as wrong:", "Model", missing),
        )
    )
    shown = tuple(table for table in tables if table)
    return Section(anchor="left-out", title="Left out", blocks=shown) if shown else None


def left_out_lines(manifest: Manifest) -> Iterator[Terms]:
    """A line on what was left out, and on the answers that each of the first models lacks."""
    lines = []
    for card in manifest.data:
        if words := left_out_in_words(card):
            lines.append(("left out", words))
    answers = [(f"no answer of {card.name}", card.missing) for card in manifest.models]
    lines += [(name, _counts(missing)) for name, missing in answers if missing]
    if more := lines[MOST_NAMED:]:
        lines[MOST_NAMED:] = [("and", f"{len(more):,} more")]
    if lines:
        yield Terms(tuple((written(name), written(text)) for name, text in lines), facts=True)


def left_out_in_words(card: DataCard) -> str:
    """The rows that are left out, by reason, and how many are used; empty where none is."""
    counts = _counts(card.all_left_out)
    return f"{counts}; {card.used:,} of {card.rows:,} used" if counts else ""


def _counts(lefts: Sequence[LeftOut]) -> str:
    """How many of each reason; the first with examples names one, or the commonest replies."""
    counts = ", ".join(f"{left.count:,} ({left.reason})" for left in lefts)
    left = next((left for left in lefts if left.examples), None)
    replies = left is not None and left.reason == "not readable"
    example = left and (listed(left.examples) if replies else f"{left.examples[0]:.160}")
    return f"{counts}, such as {example}" if example else counts


def answered_section(
    outcomes: Iterable[Outcome], *more: Block, title: str = "Answered questions"
) -> Section:
    """Every task's outcome, then further counts of a job."""
    heads, caption = ("Task", "Asked", "Answered", "Not answered"), "An answer is one model’s."
    shown = (*_outcomes(outcomes, heads, caption), *more)
    return Section(anchor="answered", title=title, heading="Answered questions", blocks=shown)


def gates_box(gates: Any, failed: Sequence[str]) -> Callout | None:
    """Whether all gates passed, their options, and a line for each that failed; None for none."""
    options = [
        f"--{field.name.replace('_', '-')} {option}"
        for field in fields(gates)
        for value in [getattr(gates, field.name)]
        if value != field.default
        for option in ([value] if isinstance(value, str) else value)
    ]
    if not options:
        return None
    head = (
        "**✗ A gate failed**: ``{options}``" if failed else "**✓ All gates passed**: ``{options}``"
    )
    return Callout(
        "bad" if failed else "good",
        (
            Paragraph(prose(head, options=" ".join(options))),
            *([Bullets(tuple(map(written, failed)))] if failed else []),
        ),
    )
