"""What a verdict does not say, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.records import Verdict
from scope.sections.blocks import Block, Bullets, Paragraph, Section, heading, paragraph
from scope.sections.prose import Text, prose, written
from scope.sections.wording import percent


def limits_section(verdicts: Sequence[Verdict]) -> Section:
    """The limits of every verdict, and what could change it."""
    return Section(
        anchor="limits",
        title="Limits",
        heading="What would change the verdict, and its limits",
        blocks=(
            *(block for one in verdicts for block in _limits_of(one, several=len(verdicts) > 1)),
            heading("Limits of the test", level=4),
            Bullets(tuple(_limits_of_the_test(verdicts))),
        ),
    )


def _limits_of(verdict: Verdict, *, several: bool) -> Iterator[Block]:
    if several:
        yield heading(
            f"Compared with {{reference}}: {verdict.decision}", reference=verdict.reference
        )
    for title, lines in (
        ("Why it is not clearer", verdict.reasons),
        ("What would change it", verdict.changes),
    ):
        if lines:
            yield heading(title, level=4)
            yield Bullets(tuple(map(written, lines)))
    yield heading("How much reuse is detectable", level=4)
    yield _detectable(verdict)


def _detectable(verdict: Verdict) -> Paragraph:
    if verdict.detectable is None:
        return paragraph(
            "No share of reused answers is known to be detectable by this test: it might miss "
            "even a copy of the reference."
        )
    meant = (
        "“Not related” means no more than this, and assumes that the suspect was not trained on "
        "answers of the reference: reuse of a smaller share is not ruled out."
    )
    cleared = verdict.decision == "not related"
    return paragraph(
        f"A suspect that took **{percent(verdict.detectable)}\u00a0%** of its answers from the "
        "reference would rank above the controls. "
        f"{meant if cleared else 'The test may miss a smaller share.'}"
    )


def _limits_of_the_test(verdicts: Sequence[Verdict]) -> Iterator[Text]:
    yield prose(
        "It measures similarity: whether the suspect’s answers are more similar to the "
        "reference’s than those of independent models of its skill. It does not show the cause "
        "of the similarity: which model was derived from which, how, or with what right."
    )
    yield prose(
        "Training on the same data, or from the same public base model, can make models similar "
        "without derivation. Only controls with this data or base show how much of the "
        "similarity they explain: include such models among the controls."
    )
    yield prose(
        "It assumes that a suspect that is independent of the reference is exchangeable with the "
        "controls, so that each rank is equally likely. Controls of very different skill, or "
        "related to the reference, violate this assumption."
    )
    if verdicts:
        together = "all references of this suspect together"
        yield prose(
            f"The error rate holds for {together if len(verdicts) > 1 else 'this test by itself'}: "
            "of a hundred suspects that are independent of the references, at most about "
            f"{100 * verdicts[0].alpha:g} are called related. With many suspects, expect such "
            "errors among them. “Related” is not the probability of reuse."
        )
    yield prose("“Undecided” is a verdict neither for nor against the suspect.")
