"""The last section: how to get the same result again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reports.blocks import (
    Block,
    Column,
    Paragraph,
    Preformatted,
    Row,
    Section,
    Table,
    Terms,
    heading,
    paragraph,
)
from reports.prose import prose, together
from reports.wording import setting
from scope.records import MEMORY, Clock, Manifest


def reproduce(
    manifest: Manifest, clock: Clock | None, hashes: Iterable[tuple[str, str]] = ()
) -> Section:
    """The command, and everything on which the result depends.

    ``hashes`` are those of a job's own beside the fingerprints of models and data.
    """
    return Section(
        anchor="reproduce",
        title="Reproduce",
        heading="How to reproduce",
        blocks=tuple(_blocks(manifest, clock, hashes)),
    )


def _blocks(
    manifest: Manifest, clock: Clock | None, hashes: Iterable[tuple[str, str]]
) -> Iterator[Block]:
    equal = tuple(_reproducible(manifest))
    yield Preformatted(manifest.command)
    if passed := [one for one in _specs(manifest) if one.startswith(MEMORY)]:
        yield paragraph(
            "Passed from Python: {passed}. The command alone cannot read them: call the function "
            "of the job again with the same objects. The name of data is a hash of their content.",
            passed=", ".join(passed),
        )
    yield _promise(clock, stated=bool(equal))
    for drift in clock.drifts if clock else ():
        yield paragraph("{drift}", drift=drift)
    if equal:
        yield heading("Exactness")
        yield paragraph(
            "On the same machine with the same number of threads, a model’s answers and an "
            "encoder’s vectors are equal in any batch to the degree stated here: to the byte, or "
            "to about the greatest difference observed on test texts. Another processor may round "
            "differently."
        )
        yield _pairs(equal, "Model", "Answers are equal")
    yield heading("Settings and seeds")
    settings = sorted(manifest.settings.items())
    yield _pairs(((name, setting(value)) for name, value in settings), "Setting", "Value")
    yield heading("Versions")
    yield _pairs(sorted(manifest.versions.items()), "Software", "Version")
    fingerprints = (
        *((f"model {card.name}", card.fingerprint) for card in manifest.models),
        *((f"data {card.spec}", card.fingerprint) for card in manifest.data),
        *hashes,
    )
    if fingerprints:
        yield heading("Fingerprints")
        yield _pairs(fingerprints, "Of", "Fingerprint")


def _specs(manifest: Manifest) -> Iterator[str]:
    """The spec of each model and each source of data, once."""
    written = [*(card.spec for card in manifest.models), *(card.spec for card in manifest.data)]
    yield from dict.fromkeys(spec for one in written for spec in one.split(", "))


def _reproducible(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """How equal the answers of each model are in any batch, where it is known."""
    for card in manifest.models:
        if card.reproducible:
            yield card.name, card.reproducible
    if manifest.encoder_reproducible:
        yield "the sentence encoder", manifest.encoder_reproducible


def _promise(clock: Clock | None, *, stated: bool) -> Block:
    exactly = ", as exactly as stated under __Exactness__" if stated else ""
    parts = [
        prose(
            "The same command with the same settings, versions and fingerprints gives the same "
            f"numbers on the same machine{exactly}."
        )
    ]
    if clock:
        parts.append(
            prose(
                "This run finished at {finished}; all its sessions took {seconds}\u00a0seconds.",
                finished=clock.finished,
                seconds=f"{clock.seconds:.1f}",
            )
        )
    if clock and clock.asked_again:
        parts.append(
            prose(
                "It repeated {count} of the stored questions to check that the models are "
                "unchanged.",
                count=clock.asked_again,
            )
        )
    return Paragraph(together(*parts))


def _pairs(pairs: Iterable[tuple[str, str]], first: str, second: str) -> Table:
    rows = tuple(Row(cells=pair) for pair in pairs)
    return Table(columns=(Column(first, "name"), Column(second)), rows=rows)


def run_lines(clock: Clock | None) -> tuple[Terms, ...]:
    """How many cached answers were repeated; nothing where none was."""
    if clock is None or not clock.asked_again:
        return ()
    text = prose("{n} cached answers repeated; all agree", n=clock.asked_again)
    return (Terms(((prose("store"), text),), facts=True),)
