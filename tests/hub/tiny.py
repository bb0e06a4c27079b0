"""A tiny classifier and a tiny data set, laid out as the hub's repositories are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from word_pieces import write_word_pieces

WORDS = ("a", "film", "good", "bad", "dull", "fine", "the", "is", "plot", "great", "not", "##s")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

README = """---
dataset_info:
  features:
  - name: sentence
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': bad
          '1': good
---
"""


def write_tiny_model(
    folder: Path, *, labels: Sequence[str] = ("bad", "good"), seed: int = 0
) -> None:
    """Save a random BERT classifier and its WordPiece tokenizer; no file of it is a pickle."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    write_word_pieces(folder, (*SPECIAL, *WORDS), model_max_length=32)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertForSequenceClassification(
            BertConfig(
                vocab_size=len(SPECIAL) + len(WORDS),
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=16,
                max_position_embeddings=32,
                initializer_range=0.5,
                id2label=dict(enumerate(labels)),
                label2id={label: number for number, label in enumerate(labels)},
            )
        )
    model.save_pretrained(folder)


def write_tiny_data(folder: Path) -> None:
    """Write two splits of a data set whose labels are numbers with names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(README, encoding="utf-8")
    splits = {
        "train": [("a great film", 1), ("a bad plot", 0)],
        "validation": [
            ("the film is good", 1),
            ("the plot is dull", 0),
            ("the film is good ", 0),
            ("a fine plot", 1),
            ("not rated", -1),
        ],
    }
    for split, rows in splits.items():
        lines = [json.dumps({"sentence": text, "label": label}) for text, label in rows]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
