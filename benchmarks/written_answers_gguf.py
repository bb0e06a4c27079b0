"""Parts of `written_answers.py`: how fast and large a GGUF file is that llama.cpp runs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

from surroundings import bounded

from scope.estimation.drift import lower_bound
from scope.models.options import ModelOptions
from scope.models.scheme import load_model
from scope.models.torch_setup import load_torch
from scope.records import Prediction, Question

LONGEST = 32
"""Tokens of an answer."""

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
        **bounded(
            "gguf_kl",
            lower_bound(dict(zip(texts, pairs, strict=True)), "gguf", "unpacked").estimate,
        ),
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
