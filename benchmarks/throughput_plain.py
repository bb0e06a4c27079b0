"""Plain loops over models of the transformers library: one text at a time, as a user writes them.

Each gives the answers of an adapter in `scope.models`, by the same steps: as many forward passes,
but each alone, with the scores of every place, and nothing that two passes share read only once.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from scope.models.replies import is_line, line
from scope.models.spelling import word_pieces
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.records import BLANK, Question


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


class PlainPointer(Plain):
    """Points at the likeliest span of a passage that fits in one window."""

    def __init__(self, folder: Path, longest: int) -> None:
        super().__init__(folder, "ForQuestionAnswering")
        self.longest = longest

    def __call__(self, question: Question) -> str:
        """The span, or an empty text."""
        context = question.context or ""
        inputs = self.tokenizer(
            question.text, context, return_tensors="pt", return_offsets_mapping=True
        )
        offsets = inputs.pop("offset_mapping")[0].tolist()
        with self.torch.inference_mode():
            answer = self.model(**inputs)
        starts, ends = (row[0].double() for row in (answer.start_logits, answer.end_logits))
        inside = [n for n, part in enumerate(inputs.sequence_ids()) if part == 1]
        scores = starts[inside][:, None] + ends[inside][None, :]
        allowed = self.torch.ones_like(scores, dtype=bool).triu().tril(self.longest - 1)
        scores = scores.masked_fill(~allowed, -math.inf)
        first, last = divmod(int(scores.argmax()), len(inside))
        if starts[0] + ends[0] > scores[first, last]:
            return ""
        return context[offsets[inside[first]][0] : offsets[inside[last]][1]].strip()


class PlainWriter(Plain):
    """Writes with `generate`, greedily."""

    def __init__(self, folder: Path, kind: str, longest: int) -> None:
        super().__init__(folder, kind)
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

    def line_after(self, prompt: str) -> str:
        """A causal model's line that counts after a prompt; writing stops where it is complete."""
        begun = len(self.tokenizer(prompt)["input_ids"])

        def is_over(tokens: Any, scores: Any, **_: Any) -> Any:
            said = self.tokenizer.decode(tokens[0, begun:], skip_special_tokens=True)
            return self.torch.tensor([is_line(said)])

        written = self.write(prompt, stopping_criteria=[is_over])[begun:]
        return line(self.text(written))


class PlainScorer(Plain):
    """Scores options, each with the whole of its question."""

    def after(self, prompt: str, options: tuple[str, ...]) -> int:
        """The option that a causal model is likeliest to go on with, by the mean of its tokens."""
        before = self.tokenizer(prompt)["input_ids"]
        scores = []
        for option in options:
            tokens = self.tokenizer(f" {option}", add_special_tokens=False)["input_ids"]
            logits = self.logits([*before, *tokens])[len(before) - 1 : -1]
            scores.append(self._mean(logits, tokens))
        return scores.index(max(scores))

    def written(self, prompt: str, options: tuple[str, ...]) -> int:
        """The option that an encoder-decoder is likeliest to write."""
        inputs = self.tokenizer(prompt, return_tensors="pt")["input_ids"]
        scores = []
        for option in options:
            tokens = self.tokenizer(option)["input_ids"]
            with self.torch.inference_mode():
                wanted = self.torch.tensor([tokens])
                logits = self.model(input_ids=inputs, labels=wanted).logits[0]
            scores.append(self._mean(logits, tokens))
        return scores.index(max(scores))

    def _mean(self, logits: Any, tokens: list[int]) -> float:
        every = logits.double().log_softmax(dim=-1)
        return round(float(every[range(len(tokens)), tokens].mean()), 9)
