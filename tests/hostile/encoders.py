"""A tiny sentence encoder for cases, written once a process, and code that must not run."""

import functools
import json
import shutil
import tempfile
from pathlib import Path

from hub.tiny import write_tiny_model

TYPES = "sentence_transformers.models"
# The mark lies where the command runs: the library copies code to places of its own.
EVIL = "from pathlib import Path\nPath('ran').touch()\nEvil = generate = dict\n"
ROWS = "text,label\n" + "".join(
    f"{text},{('bad', 'good')[number % 2]}\n"
    for number, text in enumerate(
        ["a dull film", "a good film", "the plot is bad", "the film is great", "not a plot", "fine"]
    )
)


@functools.cache
def whole_encoder():
    """A folder with Transformer, Pooling, Dense and Normalize modules; never changed."""
    from safetensors.torch import save_file

    from scope.models.torch_setup import load_torch, quiet_transformers

    transformers, torch = quiet_transformers(), load_torch()
    folder = Path(tempfile.mkdtemp(prefix="scope-test-encoder-"))
    write_tiny_model(folder)
    transformers.BertModel(transformers.AutoConfig.from_pretrained(folder)).save_pretrained(folder)
    write_modules(folder, ["Transformer", "Pooling", "Dense", "Normalize"])
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
    write_json(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True},
    )
    write_json(
        folder / "2_Dense" / "config.json",
        {
            "in_features": 16,
            "out_features": 8,
            "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh",
        },
    )
    generator = torch.Generator().manual_seed(0)
    save_file(
        {
            "linear.weight": torch.randn(8, 16, generator=generator),
            "linear.bias": torch.randn(8, generator=generator),
        },
        folder / "2_Dense" / "model.safetensors",
    )
    return folder


def copy_encoder(folder):
    """A copy that a case may change."""
    shutil.copytree(whole_encoder(), folder)
    return folder


def write_modules(folder, kinds, **paths):
    """``modules.json``; a name without a dot is one of the library's."""
    write_json(
        folder / "modules.json",
        [
            {
                "idx": number,
                "name": str(number),
                "path": paths.get(kind, f"{number}_{kind.rpartition('.')[2]}" if number else ""),
                "type": kind if "." in kind else f"{TYPES}.{kind}",
            }
            for number, kind in enumerate(kinds)
        ],
    )


def write_json(path, held):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(held), encoding="utf-8")


def change_json(path, **changes):
    """Set some keys of a file of JSON."""
    write_json(path, (json.loads(path.read_text()) if path.exists() else {}) | changes)


def nothing_ran(folder):
    """No file of code has written its mark, wherever it lay and was copied to."""
    assert not list(folder.parent.rglob("ran")), list(folder.parent.rglob("ran"))
