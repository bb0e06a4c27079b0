"""How much memory does a search take that streams its examples?

Made-up texts go through the lockstep search for typos, one trial each, with a small random model;
all that is found goes to a run on disk and nothing is held in memory.

    python benchmarks/search_memory.py COUNT [--json]

Keys of --json: `count` (texts), `peak_mb` (greatest resident memory of the process, in MB, of
which torch and TextAttack take most), `seconds`, `python`, `torch`.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from capabilities.typo import Typo
from scope.models import ModelOptions, load_classifier
from scope.models.cached import CachedClassifier
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.protocols import SearchOptions
from scope.records import Example
from scope.store import Run


def main() -> None:
    """Stream the texts and print the peak."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, help="how many texts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    start = time.perf_counter()
    stream(arguments.count)
    figures = {
        "count": arguments.count,
        "peak_mb": peak_mb(),
        "seconds": round(time.perf_counter() - start, 1),
        "python": platform.python_version(),
        "torch": version("torch"),
    }
    if arguments.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{key:<8} {value}" for key, value in figures.items()))


def peak_mb() -> float:
    """Greatest resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # Unlike getrusage, this does not count what the process that started this one had.
        line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return round(int(line.split()[1]) / 1024, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 1)


def stream(count: int) -> None:
    """Search so many texts and keep all on disk."""
    with tempfile.TemporaryDirectory() as folder:
        classifier = load_classifier(str(small_model(Path(folder))), ModelOptions(device="cpu"))
        with Run.open(Path(folder, "run"), {"job": "stream"}) as run:
            cached = CachedClassifier(classifier, run)
            for found in Typo().search(cached, made_up_texts(count), SearchOptions(trials=1)):
                run.add_perturbations("typo", found)


def made_up_texts(count: int) -> Iterator[Example]:
    """Twelve words of random letters each, one text at a time."""
    generator = random.Random(0)
    for number in range(count):
        words = ("".join(generator.choices("abcdefgh", k=6)) for _ in range(12))
        yield Example(id=str(number), text=" ".join(words))


def small_model(folder: Path) -> Path:
    """A two-layer classifier of single letters with random weights."""
    torch, transformers = load_torch(), quiet_transformers()
    letters = "abcdefgh"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{one}" for one in letters)]
    (folder / "vocab.txt").write_text("\n".join(tokens))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder / "model")
    tokenizer = transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder / "model")
    return folder / "model"


if __name__ == "__main__":
    main()
