"""A BERT tokenizer of few words, as a checkpoint holds it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scope.models.torch_setup import quiet_transformers


def write_word_pieces(folder: Path, pieces: Sequence[str], **settings: object) -> Any:
    """Save a tokenizer of these pieces, special ones included, in a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    tokenizer = quiet_transformers().BertTokenizerFast.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer
