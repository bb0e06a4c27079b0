"""What a search looks for: a changed text that keeps the reference's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from perturbations.textattack_gate import load_textattack
from scope.errors import SpecError
from scope.metrics.arrays import open_rows
from scope.records import Prediction

load_textattack()

from textattack.goal_function_results import (  # noqa: E402
    TextToTextGoalFunctionResult,
)
from textattack.goal_functions import ClassificationGoalFunction  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402
from textattack.shared.validators import MODELS_BY_GOAL_FUNCTION  # noqa: E402

Distance = Literal["l1", "kl"]
Goal = Literal["formula", "released"]
DECIMALS = 6
"""Scores are compared at this precision; what is equal then is ordered by text."""

_SMALLEST = 10.0**-DECIMALS

MOST_STEPS = 20_000
"""Steps of one search. Those that come with TextAttack take at most some hundred for a text of
ordinary length; one that changes words back and forth would never end."""

STEPS_TO_GROW = 100
"""A search that has taken more steps must not have made a text several times as long."""


def distance_between(original: Any, changed: Any, distance: Distance) -> float:
    """How far an answer moved: L1 norm of the difference (0 to 2), or KL divergence in nats.

    For KL, probabilities of 0 count as the smallest that predictions can hold, 1e-6.

    Examples
    --------
    >>> distance_between([0.9, 0.1], [0.7, 0.3], "l1")
    0.4
    """
    p, q = np.asarray(original, dtype=float), np.asarray(changed, dtype=float)
    if distance == "l1":
        return round(float(np.abs(p - q).sum()), DECIMALS)
    p, q = np.maximum(p, _SMALLEST), np.maximum(q, _SMALLEST)
    return round(max(0.0, float((p * np.log(p / q)).sum())), DECIMALS)


class KeepsPrediction(ClassificationGoalFunction):
    """Reached by a new text on which the model predicts what it predicts on the original.

    The score is s(x') = 1 / (1 + distance) and 0 for the original itself. The paper's published
    code asks the model for the original again with every candidate; here it is asked once.

    A language model predicts its likeliest next token. Its answers name other tokens for every
    text: each candidate is compared with the original over the tokens that either names, and the
    rest, which never is the prediction.

    Parameters
    ----------
    model
        From a list of texts to one row of probabilities, or one `Prediction`, a text.
    distance
        L1 as in the paper, or KL.
    goal
        ``formula``: the distance of the paper's text. ``released``: as in the paper's published
        code, which applies a second softmax to the answer on the changed text, not to that on the
        original; where the model is sure of the original, the surest candidate wins. For labels
        alone.
    taken
        Texts that do not count as new: the perturbations of earlier trials.

    Attributes
    ----------
    tried
        Whether the search has come up with any changed text; what it asks only to rank the
        words does not count.
    """

    def __init__(
        self,
        model: Callable[[list[str]], Sequence[Any]],
        *,
        distance: Distance = "l1",
        goal: Goal = "formula",
        taken: Sequence[str] = (),
    ) -> None:
        # All of a step's candidates in one question: TextAttack's default would cut it in 32s.
        super().__init__(_Wrapped(model), model_batch_size=2**30)
        self._distance: Distance = distance
        self._goal: Goal = goal
        self._taken = frozenset(taken)
        self.tried = False

    def init_attack_example(self, attacked_text: AttackedText, ground_truth_output: int) -> Any:
        """Start on a new original; its answer is asked for here, and only here."""
        self._original_text = attacked_text.text
        self._original = self._call_model([attacked_text])[0]
        self._steps = 0
        return super().init_attack_example(attacked_text, ground_truth_output)

    def get_results(
        self, attacked_text_list: list[AttackedText], check_skip: bool = False
    ) -> tuple[list[Any], bool]:
        """Judge these texts; the flag says whether a budget of queries is used up."""
        self._steps += 1
        longest = max((len(text.text) for text in attacked_text_list), default=0)
        grows = self._steps > STEPS_TO_GROW and longest > 4 * len(self._original_text) + 1_000
        if self._steps > MOST_STEPS or grows:
            text = f", with a text of {longest:,} characters" if grows else ""
            raise SpecError(
                f"a search that has not ended after {self._steps - 1} steps{text}",
                expected="a search that runs out of changes",
                fix="add the constraint RepeatModification, or choose a search that takes few "
                "steps, such as FewestChanges or BestCandidate",
            )
        # Only a transformation leaves this mark; a ranking replaces or deletes words itself.
        changed = ("last_transformation" in text.attack_attrs for text in attacked_text_list)
        self.tried = self.tried or any(changed)
        results, used_up = super().get_results(attacked_text_list, check_skip=check_skip)
        return results, used_up

    def _is_goal_complete(self, model_output: Any, attacked_text: AttackedText) -> bool:
        return bool(
            _predicted(model_output) == _predicted(self._original)
            and attacked_text.text != self._original_text
            and attacked_text.text not in self._taken
        )

    def _get_score(self, model_output: Any, attacked_text: AttackedText) -> float:
        if attacked_text.text == self._original_text:
            return 0.0
        original, changed = self._original, model_output
        if not isinstance(changed, Prediction) and not len(changed):
            return 0.0
        if isinstance(changed, Prediction):
            original, changed = open_rows([original, changed])
        elif self._goal == "released":
            changed = np.exp(changed) / np.exp(changed).sum()
        moved = distance_between(original, changed, self._distance)
        return round(1 / (1 + moved), DECIMALS)

    def _process_model_outputs(self, inputs: Any, scores: Sequence[Any]) -> list[Any]:
        # The answers are probabilities already; TextAttack would apply a softmax to any row whose
        # rounded sum is not 1 to the last digit.
        return [row if isinstance(row, Prediction) else np.asarray(row, float) for row in scores]

    def _get_displayed_output(self, raw_output: Any) -> int | str | float:
        return _predicted(raw_output)

    def _goal_function_result_type(self) -> Any:
        # A token is shown as it stands; TextAttack would look for its number in a row.
        if isinstance(self._original, Prediction):
            return TextToTextGoalFunctionResult
        return super()._goal_function_result_type()


# TextAttack's list of the models that a goal can judge: these take any. A goal that is not on the
# list is warned about twice in every attack.
MODELS_BY_GOAL_FUNCTION[KeepsPrediction] = [".*"]


class _Wrapped:
    """The shape in which TextAttack expects a model."""

    def __init__(self, model: Callable[[list[str]], Sequence[Any]]) -> None:
        self.model = model

    def __call__(self, texts: list[str]) -> list[Any]:
        return [_plain(answer) for answer in self.model(texts)]


def _plain(answer: Any) -> Any:
    """A language model's prediction as it is, and all else as a list of probabilities."""
    if isinstance(answer, Prediction):
        if answer.tokens:
            return answer
        answer = answer.probabilities
    # A list: TextAttack would join rows that are arrays into one.
    return np.asarray(answer, dtype=float).tolist()


def _predicted(answer: Any) -> int | str | float:
    """The token, or the place of the most probable label; the first of equals; -1 without any."""
    if isinstance(answer, Prediction):
        return answer.choice
    return int(np.argmax(answer)) if len(answer) else -1
