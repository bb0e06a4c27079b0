"""What runs against what in `throughput.py`: an adapter and a plain loop over the same items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import throughput_checkpoints as made
from throughput_plain import PlainEncoder, PlainMasker, PlainPointer, PlainScorer, PlainWriter

from capabilities.choice import Choice
from scope.models import ModelOptions, load_encoder, load_model
from scope.models.prompts import prompt_of
from scope.models.torch_setup import load_torch
from scope.protocols import Answers
from scope.records import BLANK, Question

LONGEST = 12
"""Most tokens of a written answer: random weights never stop."""

FEWEST = 8
"""Items at least, however small the scale."""

OPTIONS = ModelOptions(device="cpu", max_answer_tokens=LONGEST)


class Race(NamedTuple):
    """The same items for both; ``same`` says whether two answers are."""

    items: Sequence[Any]
    ours: Callable[[Sequence[Any]], Any]
    plain: Callable[[Any], Any]
    same: Callable[[Any, Any], bool] = lambda ours, plain: bool(ours == plain)


def texts(answer: Callable[[Sequence[Question]], Answers], asked: Sequence[Question]) -> list[str]:
    """What a model says to each question."""
    answers = dict(answer(asked))
    return [answers[place].text or "" for place in range(len(asked))]


def options_chosen(
    choose: Callable[[Sequence[Question]], Answers], asked: Sequence[Question]
) -> list[int | None]:
    """Which option of each question a model chooses."""
    answers = dict(choose(asked))
    return [answers[place].choice for place in range(len(asked))]


class Entrants:
    """Checkpoints, written once, and as many items of each kind as are wanted."""

    def __init__(self, folder: Path, scale: float, data: Path | None) -> None:
        self.folder, self.scale, self.data = folder, scale, data

    @cached_property
    def t5(self) -> Path:
        """The encoder-decoder's folder."""
        return made.write_t5(self.folder / "t5")

    @cached_property
    def causal(self) -> tuple[Path, str]:
        """The causal model's folder, and what it is."""
        return self.folder / "causal", made.write_causal(self.folder / "causal")

    def bert(self, kind: str) -> Path:
        """The folder of a BERT with that head."""
        return made.write_bert(self.folder / kind, kind)

    def count(self, items: int) -> int:
        """So many, scaled."""
        return max(FEWEST, round(items * self.scale))

    @cached_property
    def choices(self) -> list[Question]:
        """The multiple-choice questions."""
        count = self.count(200)
        if self.data is None:
            return made.choice_questions(count)
        data = Choice().load(str(self.data), n=count, seed=0)
        return [item.question for item in data.items]


def masked(entrants: Entrants) -> Race:
    """Fill blanks with masks."""
    folder = entrants.bert("MaskedLM")
    model = load_model(f"hf:{folder}", "mask_filler", OPTIONS)
    questions = made.cloze_questions(entrants.count(600))
    return Race(questions, partial(texts, model.fill), PlainMasker(folder))


def sentinel(entrants: Entrants) -> Race:
    """Fill blanks with what follows T5's first sentinel."""
    model = load_model(f"hf:{entrants.t5}", "mask_filler", OPTIONS)
    writer = PlainWriter(entrants.t5, "ForSeq2SeqLM", LONGEST)
    first, *_ = sentinels = writer.tokenizer.convert_tokens_to_ids(list(made.SENTINELS))
    ends = [writer.model.generation_config.eos_token_id, *sentinels]
    begun = load_torch().tensor([[writer.model.config.decoder_start_token_id, first]])

    def fill(question: Question) -> str:
        text = question.text.replace(BLANK, made.SENTINELS[0])
        return writer.text(writer.write(text, decoder_input_ids=begun, eos_token_id=ends))

    return Race(made.cloze_questions(entrants.count(400)), partial(texts, model.fill), fill)


def extractive(entrants: Entrants) -> Race:
    """Point at answers."""
    folder = entrants.bert("QuestionAnswering")
    model = load_model(f"hf:{folder}", "answerer", OPTIONS)
    questions = made.passage_questions(entrants.count(400))
    return Race(questions, partial(texts, model.answer), PlainPointer(folder, LONGEST))


def text_to_text(entrants: Entrants) -> Race:
    """Write answers with an encoder-decoder."""
    model = load_model(f"hf:{entrants.t5}", "answerer", OPTIONS)
    writer = PlainWriter(entrants.t5, "ForSeq2SeqLM", LONGEST)
    prompt = prompt_of("text_to_text_answer", OPTIONS)
    questions = made.passage_questions(entrants.count(200))
    return Race(
        questions,
        partial(texts, model.answer),
        lambda question: writer.text(writer.write(prompt.render(question))),
    )


def text_to_text_choice(entrants: Entrants) -> Race:
    """Score options as what an encoder-decoder would write."""
    model = load_model(f"hf:{entrants.t5}", "choice_scorer", OPTIONS)
    scorer = PlainScorer(entrants.t5, "ForSeq2SeqLM")
    prompt = prompt_of("choice", OPTIONS)
    return Race(
        entrants.choices,
        partial(options_chosen, model.choose),
        lambda question: scorer.written(prompt.render(question), question.options),
    )


def causal_answer(entrants: Entrants) -> Race:
    """Write answers with a causal model."""
    folder, _ = entrants.causal
    model = load_model(f"hf:{folder}", "answerer", OPTIONS)
    writer = PlainWriter(folder, "ForCausalLM", LONGEST)
    prompt = prompt_of("answer", OPTIONS)
    return Race(
        made.passage_questions(entrants.count(60)),
        partial(texts, model.answer),
        lambda question: writer.line_after(prompt.render(question)),
    )


def causal_choice(entrants: Entrants) -> Race:
    """Score options as what a causal model would go on with."""
    folder, _ = entrants.causal
    model = load_model(f"hf:{folder}", "choice_scorer", OPTIONS)
    scorer = PlainScorer(folder, "ForCausalLM")
    prompt = prompt_of("choice", OPTIONS)
    return Race(
        entrants.choices,
        partial(options_chosen, model.choose),
        lambda question: scorer.after(prompt.render(question), question.options),
    )


def encoder(entrants: Entrants, *, fewest: int = 1, most: int = 10) -> Race:
    """Encode texts of so many words."""
    model = load_encoder(f"hf:{made.ENCODER}", OPTIONS)

    items = made.texts_of(entrants.count(1000), fewest, most)
    return Race(items, model.encode, PlainEncoder(made.ENCODER, ""), close)


def close(ours: Any, plain: Any) -> bool:
    """Whether two vectors are the same but for the order of their sums."""
    return bool(np.allclose(ours, plain, atol=1e-6))


ADAPTERS: Mapping[str, Callable[[Entrants], Race]] = MappingProxyType(
    {
        "masked": masked,
        "sentinel": sentinel,
        "extractive": extractive,
        "text_to_text": text_to_text,
        "text_to_text_choice": text_to_text_choice,
        "causal_answer": causal_answer,
        "causal_choice": causal_choice,
        "encoder": encoder,
        "encoder_sentences": partial(encoder, fewest=8, most=40),
    }
)
