"""Models that write, in the role of classifier: a text's label is the answer written to it.

A text is a question with its passage, if any, and, once it is known, the reference's answer to the
unchanged question: its parts in this order, see `scope.records.text_parts`. A model writes its own
answer, and scores the reference's: how the support of that answer changes with the question is the
model's reaction, for which nothing needs to be written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from scope.metrics.agreement import squad_normalized
from scope.models.checkpoint import fingerprint_with
from scope.models.labels import InAnotherRole
from scope.models.options import ModelOptions
from scope.models.questions import ASKED_AT_ONCE, KINDS, ask
from scope.protocols import Answerer
from scope.records import Answer, GivenAnswer, Prediction, Question, ScoredAnswer
from scope.records.estimates import UNANSWERABLE
from scope.records.text_parts import parts_of

CHAT = "chat"
"""The name of the part with the earlier messages of a chat: a list of roles and contents."""

_LEAST = 1e-6
"""Least probability that a prediction holds."""


def normalized(answer: str) -> str:
    """An answer as it is compared: as SQuAD's evaluation does, or in lower case if nothing stays.

    Examples
    --------
    >>> normalized("The Normans."), normalized("..."), normalized("")
    ('normans', '...', '(unanswerable)')
    """
    return squad_normalized(answer) or answer.casefold().strip() or UNANSWERABLE


class WrittenClassifier(InAnotherRole):
    """A model that writes, in the role of classifier.

    It has no list of labels: each prediction names one token, the normalised answer, whose
    probability is that of the reference's answer, a token (geometric mean); 1 where it is not
    scored.

    Parameters
    ----------
    model
        What is asked.
    parts
        Names of the parts of a text: ``passage`` or ``chat``, if any, and ``question`` or
        ``prompt``.
    or_other
        Whether the model may stop as soon as its answer can no longer equal the reference's.
    """

    role, labels, writes = "answerer", (), True
    most_tokens = ModelOptions.max_answer_tokens

    def __init__(self, model: Answerer, parts: Sequence[str], *, or_other: bool = False) -> None:
        super().__init__(model)
        self._parts, self._or_other = tuple(parts), or_other
        prompts, used = getattr(model, "prompts", {}), KINDS["answerer"].prompts
        self.prompts = {name: prompts[name] for name in used if name in prompts}
        self.reading = getattr(model, "reading", None)
        how = ("written answers", *["or other"] * or_other)
        self.fingerprint = fingerprint_with(model.fingerprint, *how, *self._parts)

    @property
    def in_search(self) -> WrittenClassifier:
        """The same for a search, which needs no answer that differs from the reference's."""
        if not getattr(self._model, "stops_at_other", False):
            return self
        return WrittenClassifier(self._model, self._parts, or_other=True)

    @cached_property
    def scores(self) -> bool:
        """Whether the model scores given answers; an endpoint learns that when it is asked."""
        can_score = getattr(self._model, "can_score", lambda: True)
        return hasattr(self._model, "score_answers") and bool(can_score())

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """The answer to every text, as it comes: its index and the prediction."""
        for start in range(0, len(texts), ASKED_AT_ONCE):
            places = range(start, min(start + ASKED_AT_ONCE, len(texts)))
            questions = {place: self.question(texts[place]) for place in places}
            left: dict[int, ScoredAnswer | None] = dict.fromkeys(places)
            for place, score in self._scored(questions):
                left[place] = score
                if score.written or score.same:
                    answer = score.written or Answer(text=questions[place].draft, cut=score.cut)
                    yield place, _prediction(answer, left.pop(place))
            others = list(left)
            written = ask(self._model, "answerer", [questions[place] for place in others])
            for number, answer in written:
                yield others[number], _prediction(answer, left[others[number]])

    def question(self, text: str) -> Question:
        """What is asked; its draft is the reference's answer, where the text holds one."""
        parts, count = parts_of(text), len(self._parts)
        draft = parts[count] if len(parts) > count else ""
        question = Question(id=text, text=parts[count - 1], draft=draft, or_other=self._or_other)
        if self._parts[0] == CHAT:
            return replace(question, messages=tuple(map(tuple, json.loads(parts[0] or "[]"))))
        return replace(question, context=(parts[0] or None) if count > 1 else None)

    def _scored(self, questions: dict[int, Question]) -> Iterator[tuple[int, ScoredAnswer]]:
        items = {
            place: GivenAnswer(question=question, answer=question.draft)
            for place, question in questions.items()
            if len(parts_of(question.id)) > len(self._parts) and self.scores
        }
        places = list(items)
        scored = ask(self._model, "answer_scorer", list(items.values()))
        yield from ((places[number], score) for number, score in scored)


def _prediction(answer: Answer, scored: ScoredAnswer | None) -> Prediction:
    """An answer, with the support of the reference's answer where that was scored."""
    if scored is not None and scored.missing == "server":
        answer = Answer(missing="server")
    truncated = answer.truncated or (scored is not None and scored.truncated)
    if answer.text is None:
        missing = answer.missing or "not readable"
        prediction = Prediction(probabilities=(), truncated=truncated, missing=missing)
    else:
        prediction = Prediction(
            probabilities=(1.0,),
            truncated=truncated,
            cut=answer.cut,
            tokens=(normalized(answer.text),),
            reply=answer.text,
        )
    if scored is None or scored.missing:
        return prediction
    share = max(_LEAST, math.exp(min(0.0, scored.log_probability / scored.tokens)))
    return replace(
        prediction,
        probabilities=(share,) * prediction.given,
        support=scored.log_probability,
        scored_tokens=scored.tokens,
    )


def writer_of(model: Any) -> Any:
    """What is asked: the model itself, or what writes the labels of a classifier."""
    return model._model if isinstance(model, WrittenClassifier) else model
