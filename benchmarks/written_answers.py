"""How fast do models write, and verify what another one wrote, against a loop of `generate`?

Questions with passages of unequal length, each as it is and, as an audit asks it, with two letters
swapped, are answered greedily, up to the end of the first line or 32 tokens: by our adapter, and
one by one by transformers' `generate` on the same checkpoint. Both run in this process, in turn:
half of the loop, ours, the other half.

    part            model
    hf              SmolLM2-135M-Instruct
    copy            the same, each weight matrix rounded to 8 bits; the answers of the unrounded
                    model are its drafts
    text_to_text    T5 of T5-small's size, random, which never ends by itself
    audit           `scope audit --role answer` of SmolLM2 and the rounded copy, from loading to the
                    result: 30 questions, a third of them searched, with typos. The loop writes
                    every answer of the audit anew: some, drawn at random, stand for all. The same
                    is one that begins alike where the search stopped writing
    gguf            SmolLM2's file run by llama.cpp, in one place and in eight, and in a loop
                    through the binding's own chat handler with the same settings
    gguf_memory     the file run by llama.cpp and unpacked, each in a process of its own, predicts
                    what follows the same beginnings of passages; both in seconds of the processor

    python benchmarks/written_answers.py [--json] [--scale FACTOR] [--processor-time] [--file FILE]
                                         [PART]...

Keys of --json: for each of the first four PARTs `PART_ratio` (seconds of the loop over ours),
`PART_tokens` and `PART_loop_tokens` (written tokens a second), `PART_same` (share of equal
answers), `PART_questions` (answers that the loop wrote), `audit_answers` (of the audit) and
`audit_seconds`; `gguf_ratio` and `gguf_places_ratio` (tokens a second in one place and in eight,
over the loop's), `gguf_tokens`, `gguf_places_tokens`, `gguf_loop_tokens`, `gguf_same` (equal
answers in one place and in the loop), `gguf_places_same` (in eight places and in one);
`gguf_memory_ratio` (resident memory above that before loading, over 1.5 times the file and 300 MB:
at most 1), `gguf_memory` and `unpacked_memory` (MB), `gguf_file` (MB), `gguf_load` and
`unpacked_load` (seconds to load), `gguf_seconds` and `unpacked_seconds` (a prediction),
`gguf_same_top` (share of texts with one likeliest next token) and `gguf_kl` (mean lower bound of
the KL divergence of llama.cpp from the unpacked weights); `same_share` (equal answers of all parts
that write); `python`, `torch`, `transformers`, `processor`, `cores`, `threads`, and `load` (the
machine's load average before and after).
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import throughput_checkpoints as made
import written_answers_gguf as by_llama_cpp
from surroundings import command_of_parts, parsed, show, surroundings
from zoo.smollm import smollm_file

import scope
from scope.models import replies
from scope.models.options import ModelOptions
from scope.models.scheme import load_model
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.models.written import WrittenClassifier
from scope.records import Prediction, Question

LONGEST = 32
QUESTIONS = 24
AUDITED = 30
"""Questions of the audit."""

ANEW = 32
"""Answers of the audit that the loop writes."""

MOST_CHARACTERS = 600
"""Of a passage."""

OPTIONS = ModelOptions(device="cpu", max_answer_tokens=LONGEST)


Clock = Callable[[], float]


class Race(NamedTuple):
    """Our adapter, and what writes one answer plainly, with its number of tokens."""

    model: Any
    plain: Callable[[Question], tuple[str | None, int]]
    questions: Sequence[Question]


class Entrants:
    """Checkpoints, written once, and the questions."""

    def __init__(self, folder: Path, data: Path, count: int) -> None:
        self._folder, self._data, self._count = folder, data, count

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """All questions with short passages, and their right answers."""
        folder = self._data / "squad"
        passages = {
            row["context_id"]: row["context"] for row in rows_of(folder / "contexts.jsonl.gz")
        }
        return [
            {
                "question": row["question"],
                "context": passages[row["context_id"]],
                "answers": [answer["text"] for answer in row["answers"]],
            }
            for row in rows_of(folder / "xquad_en.jsonl.gz")
            if len(passages[row["context_id"]]) < MOST_CHARACTERS
        ]

    @cached_property
    def questions(self) -> list[Question]:
        """Questions with passages, drawn at random."""
        chance = random.Random(0)
        drawn = [
            Question(id="", text=row["question"], context=row["context"])
            for row in chance.sample(self.rows, self._count)
        ]
        asked = drawn + [replace(each, text=swapped(each.text, chance)) for each in drawn]
        chance.shuffle(asked)
        return [replace(each, id=str(number)) for number, each in enumerate(asked)]

    @cached_property
    def causal(self) -> Path:
        """The causal model's folder, with its chat template."""
        made.write_causal(self._folder / "causal", chat=True)
        return self._folder / "causal"

    def hf(self) -> Race:
        """A causal model."""
        model = load_model(f"hf:{self.causal}", "answerer", OPTIONS)
        return Race(model, partial(self._line, model), self.questions)

    def copy(self) -> Race:
        """A rounded copy of it, which is given the answers of the model itself."""
        reference = load_model(f"hf:{self.causal}", "answerer", OPTIONS)
        answers = dict(reference.answer(self.questions))
        model = load_model(f"hf:{self.causal}", "answerer", OPTIONS)
        round_weights(model._head.model)
        drafted = [
            replace(question, draft=answers[number].text or "")
            for number, question in enumerate(self.questions)
        ]
        return Race(model, partial(self._line, model), drafted)

    def text_to_text(self) -> Race:
        """An encoder-decoder."""
        folder = made.write_t5(self._folder / "t5")
        model = load_model(f"hf:{folder}", "answerer", OPTIONS)

        def write(question: Question) -> tuple[str | None, int]:
            prompt = model._prompts["text_to_text_answer"]
            tokens = generated(model._head.model, model._tokens(prompt, question).tokens)[1:]
            return replies.answer_text(model._text(tokens)), len(tokens)

        return Race(model, write, self.questions)

    def rounded(self) -> Path:
        """The folder of the rounded copy."""
        folder = Path(shutil.copytree(self.causal, self._folder / "rounded"))
        model = quiet_transformers().AutoModelForCausalLM.from_pretrained(self.causal)
        round_weights(model)
        model.save_pretrained(folder)
        return folder

    def audit(self, clock: Clock) -> dict[str, Any]:
        """A whole audit, and some of its answers anew."""
        count, asked = max(4, AUDITED * self._count // QUESTIONS), dict[Any, Prediction]()
        writers: dict[str, Any] = {}
        stopped: set[Any] = set()
        stream = WrittenClassifier.stream

        def noted(writer: WrittenClassifier, texts: Sequence[str]) -> Iterator[Any]:
            model = writer._model
            writers[model.fingerprint] = model
            for place, prediction in stream(writer, texts):
                question = writer.question(texts[place])
                key = (model.fingerprint, question.context, question.text)
                if not question.or_other:
                    asked[key] = prediction
                    stopped.discard(key)
                elif key not in asked:
                    asked[key] = prediction
                    # A search stops writing an answer that is another one than the reference's.
                    stopped.add(key)
                yield place, prediction

        settings: dict[str, Any] = {
            "role": "answer",
            "data": random.Random(0).sample(self.rows, count),
            "capabilities": ["typo"],
            "n": count,
            "n_search": count // 3,
            "candidates": 4,
            "model_options": OPTIONS,
            "run": str(self._folder / "run"),
        }
        targets = [str(self.rounded())]
        WrittenClassifier.stream = noted  # type: ignore[assignment,method-assign]
        try:
            ours, _ = timed(
                lambda: scope.audit(reference=str(self.causal), targets=targets, **settings), clock
            )
        finally:
            WrittenClassifier.stream = stream  # type: ignore[method-assign]
        some = random.Random(1).sample(list(asked), min(ANEW, len(asked)))
        questions = [Question(id="", text=text, context=context) for _, context, text in some]
        models = [writers[fingerprint] for fingerprint, *_ in some]
        loop, plain = timed(lambda: list(map(self._line, models, questions)), clock)
        share = len(asked) / len(some)
        replies = [asked[each].reply if asked[each].given else None for each in some]
        same = sum(
            text == reply or (key in stopped and bool(text) and text.startswith(reply or ""))
            for key, (text, _), reply in zip(some, plain, replies, strict=True)
        )
        tokens = sum(count for _, count in plain)
        print(f"audit: {ours:.1f} s, the loop {loop * share:.1f} s", file=sys.stderr)
        return figures_of("audit", ours, loop * share, tokens * share, same / len(some)) | {
            "audit_answers": len(asked),
            "audit_questions": len(some),
            "audit_seconds": round(ours, 1),
        }

    def _line(self, model: Any, question: Question) -> tuple[str | None, int]:
        """What a causal model writes up to the end of its first line."""
        prompt = model._fitted("answer", question, LONGEST).tokens
        written = generated(
            model._head.model, prompt, lambda tokens: replies.is_line(model._reply(tokens))
        )
        return replies.answer_text(model._reply(written)), len(written)


def rows_of(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of JSON lines."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def swapped(text: str, chance: random.Random) -> str:
    """A text with two neighbouring letters swapped."""
    places = [place for place in range(len(text) - 1) if text[place : place + 2].isalpha()]
    place = chance.choice(places)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def generated(
    model: Any, prompt: Sequence[int], is_over: Callable[[list[int]], bool] | None = None
) -> list[int]:
    """The tokens that transformers' `generate` writes greedily after one prompt."""
    torch, transformers = load_torch(), quiet_transformers()
    rows = torch.tensor([list(prompt)])
    begin = 0 if model.config.is_encoder_decoder else len(prompt)

    def stops(tokens: Any, _scores: Any, **_settings: Any) -> Any:
        return torch.tensor([bool(is_over and is_over(row[begin:].tolist())) for row in tokens])

    with torch.inference_mode():
        written = model.generate(
            rows,
            attention_mask=torch.ones_like(rows),
            max_new_tokens=LONGEST,
            do_sample=False,
            pad_token_id=0,
            stopping_criteria=transformers.StoppingCriteriaList([stops]),
        )
    return list(written[0, begin:].tolist())


def round_weights(model: Any) -> None:
    """Round each matrix but that of the tokens to 8 bits, in groups of 32."""
    with load_torch().no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 2 and "embed" not in name:
                groups = weight.view(-1, 32)
                scale = groups.abs().amax(dim=1, keepdim=True) / 127 + 1e-12
                weight.copy_(((groups / scale).round() * scale).view_as(weight))


RACES: Mapping[str, Callable[[Entrants], Race]] = MappingProxyType(
    {"hf": Entrants.hf, "copy": Entrants.copy, "text_to_text": Entrants.text_to_text}
)
OF_FILES = MappingProxyType({"gguf": by_llama_cpp.speed, "gguf_memory": by_llama_cpp.compare})


def main() -> None:
    """Run all parts and print a table, or JSON."""
    parts = [*RACES, "audit", *OF_FILES]
    parser = command_of_parts(__doc__, parts)
    parser.add_argument("--file", type=Path, help="a GGUF file (default: SmolLM2's package)")
    parser.add_argument("--scale", type=float, default=1.0, help="times as many questions")
    parser.add_argument(
        "--processor-time", action="store_true", help="of this process, on a busy machine"
    )
    arguments = parsed(parser, parts)
    clock = time.process_time if arguments.processor_time else time.perf_counter
    load, figures = [os.getloadavg()[0]], dict[str, Any]()
    with tempfile.TemporaryDirectory() as folder:
        count = max(4, round(QUESTIONS * arguments.scale))
        entrants = Entrants(Path(folder), arguments.data, count)
        for name in arguments.parts:
            if name in RACES:
                figures |= measured(name, RACES[name](entrants), clock)
            elif name == "audit":
                figures |= entrants.audit(clock)
            else:
                file = arguments.file or smollm_file()
                figures |= OF_FILES[name](file, entrants.questions[:count])
    same = [share for key, share in figures.items() if key.endswith("_same")]
    figures |= {
        **({"same_share": round(sum(same) / len(same), 4)} if same else {}),
        **surroundings("torch", "transformers"),
        "threads": load_torch().get_num_threads(),
        "load": [*load, os.getloadavg()[0]],
    }
    show(figures, as_json=arguments.json)


def measured(name: str, race: Race, clock: Clock) -> dict[str, Any]:
    """The seconds of both, in turn, and how often their answers are equal."""
    middle = len(race.questions) // 2
    # Outside the clock: the numerics of the model are measured at its first use.
    list(race.model.answer([replace(race.questions[0], text="Who?", context=None)]))
    race.plain(race.questions[0])
    before, first = timed(lambda: list(map(race.plain, race.questions[:middle])), clock)
    ours, answers = timed(lambda: dict(race.model.answer(race.questions)), clock)
    after, second = timed(lambda: list(map(race.plain, race.questions[middle:])), clock)
    loop, plain = before + after, first + second
    tokens = sum(count for _, count in plain)
    equal = [answers[number].text == text for number, (text, _) in enumerate(plain)]
    print(f"{name}: {ours:.1f} s, the loop {loop:.1f} s", file=sys.stderr)
    shares = figures_of(name, ours, loop, tokens, sum(equal) / len(equal))
    return shares | {f"{name}_questions": len(equal)}


def figures_of(name: str, ours: float, loop: float, tokens: float, same: float) -> dict[str, Any]:
    """What is said of each comparison with a loop: seconds, written tokens, equal answers."""
    return {
        f"{name}_ratio": round(loop / ours, 2),
        f"{name}_tokens": round(tokens / ours, 1),
        f"{name}_loop_tokens": round(tokens / loop, 1),
        f"{name}_same": same,
    }


def timed(run: Callable[[], Any], clock: Clock) -> tuple[float, Any]:
    """Seconds, and the result."""
    start = clock()
    result = run()
    return clock() - start, result


if __name__ == "__main__":
    main()
