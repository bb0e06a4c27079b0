"""GGUF files run by llama.cpp: how fast, how large, and how far from their unpacked weights?

Speed: questions with passages are answered by ``gguf:FILE`` in one place and in eight, and one by
one by the binding's own chat handler with the same settings, with equal threads. Memory and
differences: the file run by llama.cpp and unpacked, each in a process of its own, predicts what
follows the same beginnings of passages. Seconds are those of the processor, on one thread: what an
idle machine takes.

    python benchmarks/gguf_files.py [--json] [--file FILE] [--questions N] [PART]...

Parts: speed, compare. Keys of --json: `gguf_ratio` and `gguf_places_ratio` (tokens a second in one
place and in eight, over the loop's), `gguf_tokens`, `gguf_places_tokens`, `gguf_loop_tokens`
(written tokens a second), `gguf_same` (equal answers in one place and in the loop),
`gguf_places_same` (in eight places and in one); `gguf_memory_ratio` (resident memory above that
before loading, over 1.5 times the file and 300 MB: at most 1), `gguf_memory` and `unpacked_memory`
(MB), `gguf_file` (MB), `gguf_load` and `unpacked_load` (seconds to load), `gguf_seconds` and
`unpacked_seconds` (a prediction), `gguf_same_top` (share of texts with one likeliest next token)
and `gguf_kl` (mean lower bound of the KL divergence of llama.cpp from the unpacked weights, over
the tokens that both list and one remainder); `threads`, `load` (of the machine, before and after),
and what `surroundings` names.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

from surroundings import command_of_parts, parsed, show, surroundings
from zoo.smollm import smollm_file

from scope.models.options import ModelOptions
from scope.models.scheme import load_model
from scope.models.torch_setup import load_torch
from scope.records import Prediction, Question

LONGEST = 32
"""Tokens of an answer."""

MOST_CHARACTERS = 600
"""Of a passage."""

PLACES = 8
THREADS = 1
LISTED = 100
"""Likeliest next tokens that are compared."""

MB = 1e6
MOST_MEMORY = (1.5, 300 * MB)
"""Times the file, and bytes beside it."""


class Run(NamedTuple):
    """What a process of its own has found of a model."""

    load: float
    seconds: float
    memory: float
    predictions: list[Prediction]


def questions_in(folder: Path, count: int) -> Iterator[Question]:
    """The first questions with short passages, one a passage."""
    with gzip.open(folder / "contexts.jsonl.gz", "rt", encoding="utf-8") as lines:
        passages = {row["context_id"]: row["context"] for row in map(json.loads, lines)}
    with gzip.open(folder / "xquad_en.jsonl.gz", "rt", encoding="utf-8") as lines:
        asked = {row["context_id"]: row["question"] for row in map(json.loads, lines)}
    short = [key for key in asked if len(passages[key]) < MOST_CHARACTERS]
    for key in short[:count]:
        yield Question(id=str(key), text=asked[key], context=passages[key])


def speed(file: Path, questions: Sequence[Question]) -> dict[str, Any]:
    """Tokens a second in one place and in several, beside a loop through the binding."""
    import xllamacpp

    options = ModelOptions(device="cpu", threads=THREADS, max_answer_tokens=LONGEST)
    one = load_model(f"gguf:{file}", "answerer", options)
    context = 640 * PLACES
    several = load_model(f"gguf:{file}#places={PLACES}&context={context}", "answerer", options)
    params = xllamacpp.CommonParams()
    params.model.path, params.verbosity, params.n_ctx = str(file), -1, 2048
    params.n_parallel, params.cache_prompt = 1, False
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    server = xllamacpp.Server(params)
    bodies = [
        one._endpoint.dialect.body(one._chat("answer", question, most_tokens=LONGEST))
        for question in questions
    ]
    replies = {"loop": list[Any](), "gguf": list[Any](), "gguf_places": list[Any]()}
    for model, name in ((one, "gguf"), (several, "gguf_places")):
        model._server.reply = noted(model._server.reply, replies[name])
    seconds = {
        "loop": timed(lambda: replies["loop"].extend(map(server.handle_chat_completions, bodies))),
        "gguf": timed(lambda: list(one.answer(questions))),
        "gguf_places": timed(lambda: list(several.answer(questions))),
    }
    tokens = {
        name: sum(reply["usage"]["completion_tokens"] for reply in each) / seconds[name]
        for name, each in replies.items()
    }
    texts = {
        name: {json.dumps(reply["choices"][0]["message"]["content"]) for reply in each}
        for name, each in replies.items()
    }
    print(f"seconds: {seconds}", file=sys.stderr)
    return {
        "gguf_ratio": round(tokens["gguf"] / tokens["loop"], 2),
        "gguf_places_ratio": round(tokens["gguf_places"] / tokens["loop"], 2),
        **{f"{name.replace('loop', 'gguf_loop')}_tokens": n for name, n in tokens.items()},
        "gguf_same": len(texts["gguf"] & texts["loop"]) / len(texts["loop"]),
        "gguf_places_same": len(texts["gguf_places"] & texts["gguf"]) / len(texts["gguf"]),
    }


def noted(reply: Callable[..., bytes], kept: list[Any]) -> Callable[..., bytes]:
    """The same function, which keeps what the server replies."""

    def note(*asked: Any) -> bytes:
        content = reply(*asked)
        kept.append(json.loads(content))
        return content

    return note


def timed(run: Callable[[], Any]) -> float:
    """Its seconds of the processor."""
    began = time.process_time()
    run()
    return time.process_time() - began


def compare(file: Path, questions: Sequence[Question]) -> dict[str, Any]:
    """Memory, seconds and predictions by llama.cpp and of the unpacked weights."""
    texts = [f"{each.context or ''}"[: 40 + 3 * number] for number, each in enumerate(questions)]
    runs = {}
    for name, spec in (("gguf", f"gguf:{file}"), ("unpacked", f"hf:{file}")):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            runs[name] = apart.submit(run_apart, spec, texts).result()
    pairs = list(zip(runs["unpacked"].predictions, runs["gguf"].predictions, strict=True))
    size = file.stat().st_size
    times, beside = MOST_MEMORY
    return {
        "gguf_memory_ratio": round(runs["gguf"].memory / (times * size + beside), 3),
        "gguf_file": size / MB,
        **{f"{name}_memory": run.memory / MB for name, run in runs.items()},
        **{f"{name}_load": round(run.load, 2) for name, run in runs.items()},
        **{f"{name}_seconds": round(run.seconds / len(texts), 3) for name, run in runs.items()},
        "gguf_same_top": sum(a.tokens[0] == b.tokens[0] for a, b in pairs) / len(pairs),
        "gguf_kl": math.fsum(kl_bound(*pair) for pair in pairs) / len(pairs),
        "gguf_kl_most": max(kl_bound(*pair) for pair in pairs),
        "gguf_texts": len(texts),
    }


def run_apart(spec: str, texts: Sequence[str]) -> Run:
    """Load a model and predict what follows each text; the libraries are loaded before."""
    options = ModelOptions(device="cpu", threads=THREADS, next_tokens=LISTED)
    if spec.startswith("gguf:"):
        import xllamacpp  # noqa: F401 - its size is none of the model's
    else:
        load_torch()
        import transformers.models.llama.modeling_llama  # noqa: F401
    before = getrusage(RUSAGE_SELF).ru_maxrss * 1024
    began = time.process_time()
    model = load_model(spec, "next_token", options)
    loaded = time.process_time()
    # Outside the clock: the numerics of unpacked weights are measured at their first use.
    model.predict_next(texts[:1])
    started = time.process_time()
    predictions = model.predict_next(texts)
    ended = time.process_time()
    memory = getrusage(RUSAGE_SELF).ru_maxrss * 1024 - before
    return Run(loaded - began, ended - started, memory, predictions)


def kl_bound(first: Prediction, second: Prediction) -> float:
    """KL of the second from the first over the tokens that both list and one remainder.

    Tokens are merged, so the divergence over all of them is at least this.

    >>> one = Prediction(probabilities=(0.5, 0.25), tokens=("a", "b"))
    >>> kl_bound(one, one)
    0.0
    """
    ones, others = (dict(zip(p.tokens, p.probabilities, strict=True)) for p in (first, second))
    shares = [(share, others[token]) for token, share in ones.items() if token in others]
    rest = [max(1e-9, 1 - math.fsum(side)) for side in zip(*shares, strict=True)] or [1.0, 1.0]
    return math.fsum(p * math.log(p / max(q, 1e-9)) for p, q in [*shares, (rest[0], rest[1])] if p)


def main() -> None:
    """Run all parts and print a table, or JSON."""
    parts = {"speed": speed, "compare": compare}
    parser = command_of_parts(__doc__, [*parts])
    parser.add_argument("--file", type=Path, help="a GGUF file (default: SmolLM2's package)")
    parser.add_argument("--questions", type=int, default=24)
    asked = parsed(parser, [*parts])
    file = asked.file or smollm_file()
    questions = list(questions_in(asked.data / "squad", asked.questions))
    load, figures = [os.getloadavg()[0]], dict[str, Any]()
    for name in asked.parts:
        figures |= parts[name](file, questions)
    figures |= {**surroundings("xllamacpp", "torch", "transformers"), "threads": THREADS}
    show(figures | {"load": [*load, os.getloadavg()[0]]}, as_json=asked.json)


if __name__ == "__main__":
    main()
