"""A job on frozen latents as it was asked, with everything read and checked but no model loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scope.core.request import reproduce
from scope.jobs.identity import software_versions
from scope.jobs.latent_store import LatentTable
from scope.jobs.probe.leakage_groups import notes_on_overlap, leakage_groups
from scope.jobs.probe.pair_task_choice import find_pair_task
from scope.jobs.probe.pairs import GivenPairs
from scope.jobs.probe.readers import card_of, names_of
from scope.jobs.probe.request import ProbeRequest
from scope.pieces import piece_card
from scope.probes import LatentSource
from scope.protocols import PairTask
from scope.records import CapabilityCard, DataCard, Manifest, ProbeFindings, Setting


@dataclass(frozen=True, kw_only=True)
class ChosenPairTask:
    """A task of pairs, and where it comes from."""

    task: PairTask
    origin: str

    @classmethod
    def of(
        cls, task: str | object, low: float | None = None, high: float | None = None
    ) -> ChosenPairTask:
        """The task by name or as it stands, with its range where one is given."""
        found, origin = find_pair_task(task, low, high)
        return cls(task=found, origin=origin)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest score."""
        return self.task.low, self.task.high

    def card(self) -> CapabilityCard:
        """What the manifest says of it."""
        return piece_card(self.task, self.origin)


@dataclass(frozen=True, kw_only=True)
class ProbePlan:
    """What is to be done; nothing of it changes any more.

    ``settings`` decide the result. ``unlabelled`` are the sentences without scores, and
    ``unlabelled_card`` says what they are.
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
        """All that the models read."""
        return tuple(dict.fromkeys((*self.pairs.sentences, *self.unlabelled)))

    def manifest(self, tables: Sequence[LatentTable] = ()) -> Manifest:
        """What stands at the head of the result; the models' tables of latents come later."""
        read: Sequence[LatentTable | None] = tables or [None] * len(self.sources)
        others = () if self.unlabelled_card is None else (self.unlabelled_card,)
        return Manifest(
            job="probe",
            models=tuple(
                card_of(name, source, table)
                for name, source, table in zip(self.names, self.sources, read, strict=True)
            ),
            data=(*self.pairs.cards, *others),
            capabilities=(self.chosen.card(),),
            settings={**self.settings, **_reading(self.sources)},
            versions=software_versions(),
            command=reproduce("probe", self.request),
        )

    def findings(self, notes: Sequence[str] = ()) -> ProbeFindings:
        """What is known before any model is loaded, for the rest to be put into.

        Parameters
        ----------
        notes
            Rules that were applied, beside those for the pairs and what they have in common.
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
    """How the models are read, each way once."""
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
