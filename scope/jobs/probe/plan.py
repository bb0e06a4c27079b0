"""The plan of a probe: everything read and checked, but no model loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scope.answers.vectors import LatentTable
from scope.jobs.identity import manifest_of
from scope.jobs.probe.leakage_groups import leakage_groups, notes_on_overlap
from scope.jobs.probe.pair_task_choice import ChosenPairTask
from scope.jobs.probe.pairs import GivenPairs
from scope.jobs.probe.readers import card_of, names_of
from scope.jobs.probe.request import ProbeRequest
from scope.probes import LatentSource
from scope.records import DataCard, Manifest, ProbeFindings, Setting


@dataclass(frozen=True, kw_only=True)
class ProbePlan:
    """The inputs of a probe, checked.

    ``settings`` determine the result. ``unlabelled`` are the sentences without scores,
    ``unlabelled_card`` is their data card.
    """

    request: ProbeRequest
    chosen: ChosenPairTask
    pairs: GivenPairs
    sources: tuple[LatentSource, ...]
    unlabelled: tuple[str, ...] = ()
    unlabelled_card: DataCard | None = None
    settings: Mapping[str, Setting]

    @property
    def names(self) -> tuple[str, ...]:
        """A short name for each model."""
        return names_of(self.sources)

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts for the models."""
        return tuple(dict.fromkeys((*self.pairs.sentences, *self.unlabelled)))

    def manifest(self, tables: Sequence[LatentTable] = ()) -> Manifest:
        """The manifest of the result; ``tables`` are the models' latents, if computed."""
        read: Sequence[LatentTable | None] = tables or [None] * len(self.sources)
        others = () if self.unlabelled_card is None else (self.unlabelled_card,)
        return manifest_of(
            "probe",
            self.request,
            {**self.settings, **_reading(self.sources)},
            models=tuple(
                card_of(name, source, table)
                for name, source, table in zip(self.names, self.sources, read, strict=True)
            ),
            data=(*self.pairs.cards, *others),
            capabilities=(self.chosen.card(),),
        )

    def findings(self, notes: Sequence[str] = ()) -> ProbeFindings:
        """The findings that are known before any model is loaded.

        Parameters
        ----------
        notes
            Rules applied, besides those on the pairs and their overlap.
        """
        low, high = self.chosen.ends
        leakage = leakage_groups(self.pairs)
        return ProbeFindings(
            train=len(self.pairs.train),
            development=len(self.pairs.development),
            test=len(self.pairs.test),
            unseen=leakage.unseen_count,
            groups=leakage.group_count,
            sentences=len(self.pairs.sentences),
            unlabelled=len(self.unlabelled),
            low=low,
            high=high,
            models=(),
            scores=(),
            notes=(*self.pairs.notes, *notes_on_overlap(self.pairs, self.unlabelled), *notes),
        )


def _reading(sources: Sequence[LatentSource]) -> dict[str, Setting]:
    """The distinct readouts of the models."""
    ways = {
        name: ", ".join(
            dict.fromkeys(
                str(value)
                for value in (getattr(source, name) for source in sources)
                if value is not None
            )
        )
        for name in ("readout", "prompt", "dtype")
    }
    return {name: said for name, said in ways.items() if said}
