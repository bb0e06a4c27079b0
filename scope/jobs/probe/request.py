"""What is asked of a probe, with all refused that cannot be or would do nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scope.errors import SpecError
from scope.jobs.identity import short_names
from scope.jobs.probe.pairs import PairSpecs
from scope.probes import PRETRAINED, STEPS, SimilarityProbe, Step
from scope.probes.parameters import check_parameters
from scope.probes.recipes import checked_step

USUAL_STEPS: tuple[Step, ...] = ("raw", "final")

UNLABELLED_N = 4000
"""Sentences without scores that are drawn unless said otherwise; more change little."""


@dataclass(frozen=True, kw_only=True)
class ProbeRequest:
    """A probe to be fitted, as it was asked; the names are those of `scope.probe`.

    ``unlabelled_n`` is None where it was not given.
    """

    models: tuple[str, ...]
    pairs: PairSpecs
    unlabelled: str | None
    unlabelled_n: int | None
    text_column: str | None
    steps: tuple[Step, ...]
    seeds: int
    seed: int
    hidden: int | None
    save: Path | None

    @property
    def most_unlabelled(self) -> int:
        """At most so many sentences without scores are drawn."""
        return UNLABELLED_N if self.unlabelled_n is None else self.unlabelled_n

    def new_probe(self, step: Step, low: float, high: float) -> SimilarityProbe:
        """A probe of that step, not fitted yet."""
        return SimilarityProbe(step=step, seed=self.seed, low=low, high=high, hidden=self.hidden)

    def check(self) -> None:
        """See that the request makes sense by itself, before anything is read.

        Raises
        ------
        SpecError
            When it does not.
        """
        if not self.models:
            raise SpecError(
                "no model to probe",
                expected="one model or several, of the scheme hf, gguf or python",
                mend="write for example --model hf:openai-community/gpt2-medium",
            )
        short_names(self.models)
        self._check_numbers()
        self._check_use()
        if self.save is not None and len(self.models) > 1:
            raise SpecError(
                f"{len(self.models)} models, and one folder `{self.save}` to save a probe in",
                expected="one model: a probe belongs to the model that it was fitted on",
                mend="leave --save out, or probe one model at a time",
            )

    def _check_numbers(self) -> None:
        for name, value in (("seeds", self.seeds), ("unlabelled_n", self.most_unlabelled)):
            if value < 1:
                raise SpecError(
                    f"{name}={value}",
                    expected="a number from 1",
                    mend=f"leave --{name.replace('_', '-')} out for the usual one",
                )
        check_parameters(self.new_probe(self.steps[-1], 0.0, 1.0))

    def _check_use(self) -> None:
        if self.text_column is not None and self.unlabelled is None:
            raise SpecError(
                f"--text-column {self.text_column} without --unlabelled",
                expected="sentences without scores, whose column it names",
                mend="leave --text-column out; the columns of pairs are found by their names",
            )
        if self.unlabelled_n is not None and self.unlabelled is None:
            raise SpecError(
                f"--unlabelled-n {self.unlabelled_n} without --unlabelled",
                expected="sentences without scores, of which so many are drawn",
                mend="leave --unlabelled-n out; --n draws pairs",
            )
        if self.unlabelled is not None and not set(PRETRAINED) & set(self.steps):
            raise SpecError(
                f"--unlabelled {self.unlabelled} with no other step than "
                f"{' and '.join(self.steps)}",
                expected=f"a step that makes use of it: {', '.join(PRETRAINED)}",
                mend=f"add --step {PRETRAINED[-1]}, or leave --unlabelled out",
            )


def ordered_steps(steps: Sequence[str] | None) -> tuple[Step, ...]:
    """The steps in the paper's order, each once; the usual ones of None.

    Raises
    ------
    SpecError
        When there is no such step, or none at all.

    Examples
    --------
    >>> ordered_steps(["final", "raw", "mlp"]), ordered_steps(None)
    (('raw', 'mlp', 'final'), ('raw', 'final'))
    """
    if steps is None:
        return USUAL_STEPS
    named = {checked_step(step) for step in ([steps] if isinstance(steps, str) else steps)}
    if not named:
        raise SpecError(
            "no step of a probe",
            expected=f"one or more of {', '.join(STEPS)}",
            mend=f"leave the steps out for {' and '.join(USUAL_STEPS)}",
        )
    return tuple(step for step in STEPS if step in named)
