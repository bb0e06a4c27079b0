"""What runs against what in `throughput.py`: an adapter and a plain loop over the same items.

A loop asks a model of the transformers library one text at a time, as a user writes it, by the
steps of the adapter: as many forward passes, but each alone, with the scores of every place, and
nothing that two passes share read only once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import throughput_checkpoints as made

from scope.models.heads import word_pieces
from scope.models.options import ModelOptions
from scope.models.prompts import prompt_of
from scope.models.scheme import load_encoder, load_model
from scope.models.torch_setup import load_torch, quiet_transformers
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

    def __init__(self, folder: Path, scale: float) -> None:
        self.folder, self.scale = folder, scale

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
        return made.choice_questions(self.count(200))


class Plain:
    """A checkpoint as the transformers library loads it."""

    def __init__(self, folder: Path, kind: str) -> None:
        transformers, self.torch = quiet_transformers(), load_torch()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = getattr(transformers, f"AutoModel{kind}").from_pretrained(folder).eval()

    def logits(self, tokens: list[int]) -> Any:
        """At every place of one text."""
        with self.torch.inference_mode():
            return self.model(input_ids=self.torch.tensor([tokens])).logits[0]


class PlainEncoder(Plain):
    """Encodes a text: the mean of its tokens' vectors, at length 1."""

    def __call__(self, text: str) -> Any:
        """One vector."""
        with self.torch.inference_mode():
            inputs = self.tokenizer(text, return_tensors="pt")
            mean = self.model(**inputs).last_hidden_state.mean(dim=1)
            return self.torch.nn.functional.normalize(mean, dim=-1)[0].numpy()


class PlainMasker(Plain):
    """Fills a blank with one, two and three masks, from left to right."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "ForMaskedLM")
        pieces = word_pieces(self.tokenizer, self.model.config.vocab_size)
        self.begins, self.continues = map(self.torch.from_numpy, (pieces.begins, pieces.continues))

    def __call__(self, question: Question) -> str:
        """The likeliest word."""
        return max(self._best(question.text, masks) for masks in (1, 2, 3))[1]

    def _best(self, text: str, masks: int) -> tuple[float, str]:
        filled = text.replace(BLANK, self.tokenizer.mask_token * masks)
        tokens = self.tokenizer(filled)["input_ids"]
        first = tokens.index(self.tokenizer.mask_token_id)
        total = 0.0
        for place in range(first, first + masks):
            scores = self.logits(tokens)[place].double().log_softmax(dim=-1)
            allowed = self.begins if place == first else self.continues
            best = scores.masked_fill(~allowed, -math.inf).max(dim=-1)
            tokens[place] = int(best.indices)
            total += float(best.values) / masks
        return round(total, 6), self.tokenizer.decode(tokens[first : first + masks]).strip()


class PlainWriter(Plain):
    """Writes with `generate`, greedily."""

    def __init__(self, folder: Path, longest: int) -> None:
        super().__init__(folder, "ForSeq2SeqLM")
        self.longest = longest

    def write(self, text: str, **settings: Any) -> list[int]:
        """What is written, without what the writing began with."""
        inputs = self.tokenizer(text, return_tensors="pt")
        with self.torch.inference_mode():
            written = self.model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                max_new_tokens=self.longest,
                do_sample=False,
                pad_token_id=self.model.generation_config.eos_token_id,
                **settings,
            )[0].tolist()
        return list(written)

    def text(self, tokens: list[int]) -> str:
        """Tokens as text."""
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True)).strip()


class PlainScorer(Plain):
    """Scores options, each with the whole of its question."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "ForCausalLM")

    def best(self, prompt: str, options: tuple[str, ...]) -> int:
        """The option that a causal model is likeliest to go on with, by the mean of its tokens."""
        before = self.tokenizer(prompt)["input_ids"]
        scores = []
        for option in options:
            tokens = self.tokenizer(f" {option}", add_special_tokens=False)["input_ids"]
            logits = self.logits([*before, *tokens])[len(before) - 1 : -1]
            scores.append(self._mean(logits, tokens))
        return scores.index(max(scores))

    def _mean(self, logits: Any, tokens: list[int]) -> float:
        every = logits.double().log_softmax(dim=-1)
        return round(float(every[range(len(tokens)), tokens].mean()), 9)


def masked(entrants: Entrants) -> Race:
    """Fill blanks with masks."""
    folder = entrants.bert("MaskedLM")
    model = load_model(f"hf:{folder}", "mask_filler", OPTIONS)
    questions = made.cloze_questions(entrants.count(600))
    return Race(questions, partial(texts, model.fill), PlainMasker(folder))


def sentinel(entrants: Entrants) -> Race:
    """Fill blanks with what follows T5's first sentinel."""
    model = load_model(f"hf:{entrants.t5}", "mask_filler", OPTIONS)
    writer = PlainWriter(entrants.t5, LONGEST)
    first, *_ = sentinels = writer.tokenizer.convert_tokens_to_ids(list(made.SENTINELS))
    ends = [writer.model.generation_config.eos_token_id, *sentinels]
    begun = load_torch().tensor([[writer.model.config.decoder_start_token_id, first]])

    def fill(question: Question) -> str:
        text = question.text.replace(BLANK, made.SENTINELS[0])
        return writer.text(writer.write(text, decoder_input_ids=begun, eos_token_id=ends))

    return Race(made.cloze_questions(entrants.count(400)), partial(texts, model.fill), fill)


def causal_choice(entrants: Entrants) -> Race:
    """Score options as what a causal model would go on with."""
    folder, _ = entrants.causal
    model = load_model(f"hf:{folder}", "choice_scorer", OPTIONS)
    scorer = PlainScorer(folder)
    prompt = prompt_of("choice", OPTIONS)
    return Race(
        entrants.choices,
        partial(options_chosen, model.choose),
        lambda question: scorer.best(prompt.render(question), question.options),
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
        "causal_choice": causal_choice,
        "encoder": encoder,
        "encoder_sentences": partial(encoder, fewest=8, most=40),
    }
)
