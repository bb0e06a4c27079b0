"""Made-up pairs of sentences, scored from 0 to 5 by the share of words that they have in common."""

import csv
import random

from tiny_heads import write_tiny_bert_mlm, write_tiny_t5
from tiny_language import write_tiny_llama

from scope.models.torch_setup import load_torch, quiet_transformers

WORDS = ("the", "film", "was", "good", "dull", "who", "saw", "ann", "bob", "paris", "in", "a")
PARTS = {"train": 90, "dev": 30, "test": 40}


def sentence(generator):
    return " ".join(generator.choice(WORDS) for _ in range(generator.randint(1, 6)))


def score(first, second):
    """All words in common: 5; none: 0."""
    one, other = set(first.split()), set(second.split())
    return round(5 * len(one & other) / len(one | other), 2)


def made_up_rows(count, seed=0):
    """Rows of first, second and score; every third pair differs in its last word alone."""
    generator = random.Random(seed)
    rows = []
    for number in range(count):
        first = sentence(generator)
        second = (
            f"{first.rpartition(' ')[0]} {generator.choice(WORDS)}".strip()
            if number % 3 == 0
            else sentence(generator)
        )
        rows.append((first, second, score(first, second)))
    return rows


def write_pairs(path, rows):
    """A table of one part."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("sentence1", "sentence2", "score"), *rows])
    return path


def write_split(path, parts=None, seed=0):
    """A table of all parts, told apart by the column ``split``."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("split", "sentence1", "sentence2", "score"))
        for place, (part, count) in enumerate((parts or PARTS).items()):
            rows = made_up_rows(count, seed=10 * seed + place)
            writer.writerows((part, *row) for row in rows)
    return path


def write_unlabelled(path, count=60):
    """Sentences without scores, one per row."""
    generator = random.Random(99)
    rows = "".join(f"{sentence(generator)} {number}\n" for number in range(count))
    path.write_text(f"text\n{rows}", encoding="utf-8")
    return path


def write_tiny_gpt2(folder):
    """With the Llama's tokenizer."""
    transformers = quiet_transformers()
    write_tiny_llama(folder, chat=False)
    config = transformers.GPT2Config(
        vocab_size=len(transformers.AutoTokenizer.from_pretrained(folder)),
        n_embd=16,
        n_layer=3,
        n_head=2,
        n_positions=160,
        initializer_range=0.5,
    )
    torch = load_torch()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)


def write_llama(folder, seed=0):
    write_tiny_llama(folder, chat=False, seed=seed)


CHECKPOINTS = {
    "bert": write_tiny_bert_mlm,
    "t5": write_tiny_t5,
    "gpt2": write_tiny_gpt2,
    "llama": write_llama,
}


def lay_out(folder, names=("llama", "bert")):
    """Checkpoints, a table of pairs with and without a column ``split``, and sentences."""
    for name in names:
        CHECKPOINTS[name](folder / name)
    write_split(folder / "pairs.csv")
    write_pairs(folder / "train.csv", made_up_rows(PARTS["train"], seed=0))
    write_pairs(folder / "test.csv", made_up_rows(PARTS["test"], seed=2))
    write_unlabelled(folder / "sentences.csv")
