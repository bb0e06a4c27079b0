"""The same multiple-choice questions by lm-evaluation-harness, on the same checkpoint."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from scope.models.options import ModelOptions
from scope.models.prompts import prompt_of
from scope.records import Question

BATCH_SIZES = (1, 4, 16)
TRIED_ON = 12


class Harness:
    """Its model `hf`, in single precision, given the prompts that our adapter renders.

    An option is what goes on after the prompt and a space. The choice is the option with the
    highest log-likelihood, divided by the number of its tokens: the harness itself divides by
    characters, or not at all, from the same log-likelihoods.
    """

    def __init__(self, folder: Path) -> None:
        logging.getLogger("lm_eval").setLevel(logging.ERROR)
        # Its packages say nothing of their types.
        self.model: Any = import_module("lm_eval.models.huggingface").HFLM(
            pretrained=str(folder), device="cpu", dtype="float32", batch_size=BATCH_SIZES[0]
        )
        self._prompt = prompt_of("choice", ModelOptions())

    def choose(self, questions: Sequence[Question]) -> list[int]:
        """The index of the chosen option of each question."""
        instance = import_module("lm_eval.api.instance").Instance
        requests = [
            instance(
                request_type="loglikelihood",
                doc={},
                arguments=(self._prompt.render(question), f" {option}"),
                idx=place,
            )
            for question in questions
            for place, option in enumerate(question.options)
        ]
        answered = iter(self.model.loglikelihood(requests, disable_tqdm=True))
        chosen = []
        for question in questions:
            scores = [
                # Rounded as ours, so that equals stay equal; of these the first counts.
                round(next(answered)[0] / len(self._tokens(option)), 6)
                for option in question.options
            ]
            chosen.append(scores.index(max(scores)))
        return chosen

    def settle_batch_size(self, questions: Sequence[Question]) -> int:
        """Keep the batch size that is quickest on the first questions."""
        seconds = {}
        for size in BATCH_SIZES:
            self.model.batch_size_per_gpu = size
            start = time.perf_counter()
            self.choose(questions[:TRIED_ON])
            seconds[size] = time.perf_counter() - start
        best = min(seconds, key=lambda size: seconds[size])
        self.model.batch_size_per_gpu = best
        return best

    def _tokens(self, option: str) -> list[int]:
        return list(self.model.tok_encode(f" {option}", add_special_tokens=False))
