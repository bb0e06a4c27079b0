"""``hf:NAME_OR_PATH[@REVISION]``: question-answering heads, which point at their answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.models.batching import batches_of_equal_length, portions_by_length
from scope.models.checkpoint import fingerprint_with
from scope.models.heads import Head
from scope.models.huggingface import DECIMALS
from scope.models.inference import Computed, Inference
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch
from scope.protocols import Answers
from scope.records import Answer, Question
from scope.untrusted import during_inference


class _Window(NamedTuple):
    """A window of the passage after its question, as the model reads it.

    ``places`` are the positions of the passage's tokens and ``offsets`` their characters in the
    passage; ``null`` is the position that stands for no answer.
    """

    question: int
    inputs: dict[str, list[int]]
    places: list[int]
    offsets: list[tuple[int, int]]
    null: int


class _Reading(NamedTuple):
    """The best span of one window, its score and characters, and the score of no answer."""

    score: float
    span: tuple[int, int]
    null: float


class ExtractiveModel(Computed):
    """A question-answering head in the role of answerer.

    A passage too long for the model is read in windows; each begins in the middle of the previous
    one. The answer is the span, over all windows, with the highest sum of start and end logit. The
    answer is empty where every window scores its first token (``[CLS]``) higher than that span, as
    with SQuAD 2.0. A checkpoint does not show whether it was trained on questions without an
    answer; heads of SQuAD 1.1 are read in the same way, since the usual training taught them that
    token for windows that lack the answer.

    Raises
    ------
    ModelError
        When the tokenizer does not map tokens to characters.
    """

    def __init__(self, head: Head, spec: str, options: ModelOptions) -> None:
        if not head.tokenizer.is_fast:
            name, kind = spec.removeprefix("hf:"), type(head.tokenizer).__name__
            raise ModelError(
                f"the tokenizer of `{name}` ({kind}) gives no offsets",
                expected="a fast tokenizer, which maps tokens to characters",
                fix="save the checkpoint with a tokenizer.json",
            )
        self._model, self._tokenizer, fingerprint, self._limit = head
        self._token_budget = options.token_budget
        self._longest = options.max_answer_tokens
        self._inference = Inference(
            self._model, lambda tokens: load_torch().cat(self._run(input_ids=tokens), dim=1)
        )
        self.spec = spec
        self.fingerprint = fingerprint_with(fingerprint, self._longest)

    @during_inference
    def answer(self, questions: Sequence[Question]) -> Answers:
        """Point out each question's answer in its passage.

        A question of more than half the model's limit is cut there, and counts as truncated.

        Raises
        ------
        ModelError
            When a question has no passage.
        """
        for question in questions:
            if not (question.context or "").strip():
                raise ModelError(
                    f"`{self.spec}` has no context for the question {question.id!r}",
                    expected="a question with a context: an extractive model selects a span of it",
                    fix="choose a generative model, or data with contexts",
                )
        texts = [self._shortened(question.text.strip()) for question in questions]
        both = zip(texts, questions, strict=True)
        windows = [list(self._windows(at, t, q.context or "")) for at, (t, q) in enumerate(both)]
        lengths = [sum(len(window.inputs["input_ids"]) for window in group) for group in windows]
        for portion in portions_by_length(lengths):
            readings: dict[int, list[_Reading]] = {index: [] for index in portion}
            parts = [part for index in portion for part in windows[index]]
            for window, reading in self._read(parts):
                readings[window.question].append(reading)
            for index in portion:
                question = questions[index]
                cut = texts[index] != question.text.strip()
                if any(math.isnan(reading.score + reading.null) for reading in readings[index]):
                    yield index, Answer(truncated=cut, missing="no number")
                    continue
                text = _best_text(readings[index], question.context or "")
                yield index, Answer(text=text, truncated=cut)

    def _shortened(self, text: str) -> str:
        encoded = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        offsets, most = encoded["offset_mapping"], self._limit // 2
        return text[: offsets[most - 1][1]] if len(offsets) > most else text

    def _windows(self, index: int, question: str, context: str) -> Iterator[_Window]:
        whole = self._tokenizer(question, context, return_offsets_mapping=True, verbose=False)
        if len(whole["input_ids"]) > self._limit:
            inside = sum(part == 1 for part in whole.sequence_ids())
            room = self._limit - (len(whole["input_ids"]) - inside)
            bounds = {"truncation": "only_second", "max_length": self._limit, "stride": room // 2}
            names = ("return_overflowing_tokens", "return_offsets_mapping")
            more = {**bounds, **dict.fromkeys(names, True), "verbose": False}
            whole = self._tokenizer(question, context, **more)
        first = self._tokenizer.cls_token_id
        for encoding in whole.encodings:
            places = [
                place
                for place, part in enumerate(encoding.sequence_ids)
                if part == 1 and context[slice(*encoding.offsets[place])].strip()
            ]
            rows = {"input_ids": encoding.ids, "token_type_ids": encoding.type_ids}
            yield _Window(
                question=index,
                inputs={key: rows[key] for key in rows if key in whole},
                places=places,
                offsets=[encoding.offsets[place] for place in places],
                # The classification token stands for no answer, else the first one.
                null=encoding.ids.index(first) if first in encoding.ids else 0,
            )

    def _read(self, windows: Sequence[_Window]) -> Iterator[tuple[_Window, _Reading]]:
        lengths = [len(window.inputs["input_ids"]) for window in windows]
        for batch in batches_of_equal_length(lengths, self._token_budget):
            inputs = [windows[number].inputs for number in batch]
            rows = {key: self._tensor([row[key] for row in inputs]) for key in inputs[0]}
            # Not every device has float64.
            ran = self._inference.run(self._run, **rows)
            starts, ends = (side.cpu().double().numpy() for side in ran)
            for row, number in enumerate(batch):
                window = windows[number]
                yield window, _reading(window, starts[row], ends[row], self._longest)

    def _run(self, **batch: Any) -> tuple[Any, Any]:
        answer = self._model(**batch)
        return answer.start_logits, answer.end_logits


def _reading(
    window: _Window, starts: NDArray[np.float64], ends: NDArray[np.float64], longest: int
) -> _Reading:
    """The best span of at most ``longest`` tokens; the first of equals."""
    null = round(float(starts[window.null] + ends[window.null]), DECIMALS)
    places = np.array(window.places, dtype=int)
    if not places.size:
        # Characters that the tokenizer drops, such as control characters, hold no answer.
        return _Reading(-np.inf, (0, 0), null)
    scores = np.round(starts[places][:, None] + ends[places][None, :], DECIMALS)
    length = places[None, :] - places[:, None] + 1
    scores[(length < 1) | (length > longest)] = -np.inf
    first, last = np.unravel_index(int(scores.argmax()), scores.shape)
    return _Reading(
        float(scores[first, last]), (window.offsets[first][0], window.offsets[last][1]), null
    )


def _best_text(readings: Sequence[_Reading], context: str) -> str:
    best = min(readings, key=lambda reading: (-reading.score, reading.span))
    if min(reading.null for reading in readings) > best.score:
        return ""
    return context[slice(*best.span)].strip()
