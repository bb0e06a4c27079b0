"""Checkpoints that are damaged, lie about themselves, or would hang or fill the memory."""

import json
import os
from pathlib import Path

from hostile.cases import REFUSED, WORKS, Case
from hostile.checkpoints import (
    DAMAGED_CONFIGS,
    DEEP,
    copy_of,
    cut,
    header,
    in_place,
    large,
    setting,
    tensors,
    text,
    without,
)
from hostile.encoders import ROWS

CONFIG, TOKENS, WEIGHTS = "config.json", "tokenizer_config.json", "model.safetensors"
AUDIT = (
    *("audit", "--reference", "python:toy_models:Reference", "--target"),
    *("--capability", "typo", "--data", "rows.csv", "--n", "3", "--label-column", "none"),
    *("--run", "mine", "--label-map", "bad=negative", "--label-map", "good=positive"),
)


def classifier(*changes):
    """An audit of the tiny classifier with its files changed."""

    def make(folder, _):
        model = copy_of("classifier", folder / "model")
        for change in changes:
            change(model)
        (folder / "rows.csv").write_text(ROWS)
        return (*AUDIT[:4], "./model", *AUDIT[4:])

    return make


def itself(path):
    path.symlink_to(path.name)


def round_about(path):
    other = path.with_name("other")
    path.symlink_to(other)
    other.symlink_to(path)


def dangling(path):
    path.symlink_to("nowhere")


def more_words(folder):
    """A tokenizer whose last word the table of the model does not hold."""
    path = folder / "tokenizer.json"
    held = json.loads(path.read_text())
    held["model"]["vocab"]["film"] = 5000
    path.write_text(json.dumps(held))


def nan(held):
    held["classifier.bias"].fill_(float("nan"))


def moved(held):
    return {
        key: value | {"data_offsets": [0, 8]} if key.endswith("bias") else value
        for key, value in held.items()
    }


def beyond(held):
    last = max(held, key=lambda key: held[key].get("data_offsets", [0, 0])[1])
    start, end = held[last]["data_offsets"]
    return held | {last: held[last] | {"data_offsets": [start, end + 10**9]}}


PIPE = os.mkfifo
LINKS = {
    "a dangling link": dangling,
    "a link to itself": itself,
    "links in a circle": round_about,
    "a pipe": PIPE,
    "a device that never ends": lambda path: path.symlink_to("/dev/zero"),
    "a link to a folder": lambda path: path.symlink_to("/etc"),
}
FILES = (CONFIG, TOKENS, WEIGHTS, "tokenizer.json", "vocab.txt")

SIZES = {
    "num_hidden_layers": 10**9,
    "num_attention_heads": 10**9,
    "hidden_size": 10**12,
    "intermediate_size": 10**11,
    "vocab_size": 10**10,
    "max_position_embeddings": 10**10,
    "type_vocab_size": 10**9,
    "num_labels": 10**9,
}
WRONG_SIZES = {
    "layers below zero": {"num_hidden_layers": -1},
    "half a layer": {"num_hidden_layers": 0.5},
    "layers in words": {"num_hidden_layers": "two"},
    "no layers": {"num_hidden_layers": None},
    "five thousand layers": {"num_hidden_layers": 5000},
    "a million layers": {"num_hidden_layers": 2**20},
    "no width": {"hidden_size": 0},
    "width below zero": {"hidden_size": -16},
    "another width": {"hidden_size": 30_000, "num_attention_heads": 2},
    "another table": {"vocab_size": 9_000_000},
    "other positions": {"max_position_embeddings": 9_000_000},
    "an unknown activation": {"hidden_act": "evil.Evil"},
    "an activation that is a list": {"hidden_act": ["gelu"]},
    "heads that do not divide": {"num_attention_heads": 3},
    "an attention of another repository": {"attn_implementation": "someone/code"},
    "an unknown precision": {"dtype": "float7"},
    "weights by another name": {"transformers_weights": "pytorch_model.bin"},
    "weights elsewhere": {"transformers_weights": "../far.safetensors"},
}
LABELS = {
    "holes": {"0": "bad", "5": "good"},
    "two of a name": {"0": "bad", "1": "bad"},
    "one label": {"0": "bad"},
    "none": {},
    "numbers": {"0": 1, "1": 2},
    "null": {"0": None, "1": None},
    "lists": {"0": ["bad"], "1": ["good"]},
    "keys that are words": {"bad": 0, "good": 1},
    "a list": ["bad", "good"],
    "a word": "bad",
    "below zero": {"-1": "bad", "0": "good"},
}
LIMITS = {
    "below zero": -5,
    "zero": 0,
    "one": 1,
    "no room beside special tokens": 2,
    "in words": "many",
    "a list": [512],
    "an object": {"most": 512},
}

CASES = [
    Case(name="an ordinary classifier", make=classifier(), exits=WORKS),
    Case(
        name="an unknown quantization, which the library would leave out",
        make=classifier(setting(CONFIG, quantization_config={"quant_method": "evil"})),
        says=["is quantized by the method 'evil'"],
    ),
    *(
        Case(
            name=f"{title} for {file}",
            make=classifier(in_place(file, make)),
            says=["./model", f"{file} is not a regular file"],
        )
        for title, make in LINKS.items()
        for file in FILES
    ),
    Case(
        name="a pipe that nobody names",
        make=classifier(in_place("pytorch_model.bin", PIPE)),
        says=["pytorch_model.bin is not a regular file"],
    ),
    Case(
        name="a folder for config.json",
        make=classifier(in_place(CONFIG, Path.mkdir)),
        says=["cannot be loaded"],
    ),
    *(
        Case(
            name=f"a configuration that is {title}",
            make=classifier(text(CONFIG, content)),
            says=["found:", part],
        )
        for title, (content, part) in DAMAGED_CONFIGS.items()
    ),
    *(
        Case(
            name=f"a tokenizer's configuration that is {title}",
            make=classifier(text(TOKENS, content)),
        )
        for title, content in {"empty": "", "a list": "[]", "deep": DEEP, "a word": '"a"'}.items()
    ),
    *(
        Case(
            name=f"an enormous {file}",
            make=classifier(large(file, size)),
            says=[f"{file} has ", "MiB, not"],
        )
        for file, size in {
            CONFIG: 10**9,
            TOKENS: 10**9,
            "vocab.txt": 10**10,
            "tokenizer.json": 10**10,
            "special_tokens_map.json": 10**9,
            "merges.txt": 10**9,
        }.items()
    ),
    *(
        Case(
            name=f"{key} of {number:,}",
            make=classifier(setting(CONFIG, **{key: number})),
            says=[f"config.json says {key} {number}, the weights"],
        )
        for key, number in SIZES.items()
    ),
    *(
        Case(
            name=f"a configuration with {title}",
            make=classifier(setting(CONFIG, **changes)),
            says=["found:", "model"],
        )
        for title, changes in WRONG_SIZES.items()
    ),
    *(
        Case(
            name=f"labels with {title}",
            make=classifier(setting(CONFIG, id2label=held)),
            says=["found:"],
        )
        for title, held in LABELS.items()
    ),
    *(
        Case(
            name=f"a model_max_length {title}",
            make=classifier(setting(TOKENS, model_max_length=value)),
            says=["found:", "model"],
        )
        for title, value in LIMITS.items()
    ),
    *(
        Case(name=f"weights {title}", make=classifier(change), says=["model.safetensors"])
        for title, change in {
            "cut at their end": cut(WEIGHTS, -100),
            "cut in their header": cut(WEIGHTS, 100),
            "of seven bytes": cut(WEIGHTS, 7),
            "of no byte": cut(WEIGHTS, 0),
            "with zeros behind": large(WEIGHTS, 10**6),
            "with a header of half the universe": text(WEIGHTS, b"\xff" * 8 + b"{}"),
            "with a header that is no JSON": text(WEIGHTS, (4).to_bytes(8, "little") + b"{{{{"),
            "with a deep header": text(WEIGHTS, len(DEEP).to_bytes(8, "little") + DEEP.encode()),
            "with a header that is a list": header(lambda held: [held]),
            "with tensors beyond the file": header(beyond),
        }.items()
    ),
    *(
        Case(name=f"weights {title}", make=classifier(change), says=["found:", "./model"])
        for title, change in {
            "with tensors in each other's place": header(moved),
            "of another precision than they have": header(
                lambda held: {
                    key: value | {"dtype": "F64"} if "dtype" in value else value
                    for key, value in held.items()
                }
            ),
            "of nothing": header(lambda _: {}),
            "that are not there": without(WEIGHTS),
            "without a head": tensors(lambda held: held.pop("classifier.weight")),
            "with NaN": tensors(nan),
            "that are a pickle": in_place(
                WEIGHTS,
                lambda path: path.with_name("pytorch_model.bin").write_bytes(b"cos\nsystem\n."),
            ),
        }.items()
    ),
    *(
        Case(name=f"a tokenizer {title}", make=classifier(change), says=["found:", "model"])
        for title, change in {
            "that is half there": cut("tokenizer.json", 300),
            "that is an empty object": text("tokenizer.json", "{}"),
            "that is a list": text("tokenizer.json", "[]"),
            "that is deep": text("tokenizer.json", DEEP),
            "with words beyond the table": more_words,
            "that is a model": setting(TOKENS, tokenizer_class="BertModel"),
            "whose words are a device": setting(TOKENS, vocab_file="/dev/zero"),
            "whose words are elsewhere": setting(TOKENS, tokenizer_file="/etc/passwd"),
        }.items()
    ),
    Case(
        name="shards elsewhere",
        make=classifier(
            setting("model.safetensors.index.json", weight_map={"a": "../x.safetensors"})
        ),
        says=["names the a '../x.safetensors'"],
    ),
    Case(
        name="a million labels, of which one generation reads the names alone",
        make=classifier(setting(CONFIG, num_labels=2**20)),
        exits=REFUSED | WORKS,
    ),
    Case(
        name="a tokenizer of an unknown class, which one generation leaves unread",
        make=classifier(setting(TOKENS, tokenizer_class="evil.Evil")),
        exits=REFUSED | WORKS,
    ),
    Case(
        name="a table of positions for each other, in an architecture that fills it",
        make=classifier(
            setting(CONFIG, model_type="gpt2", n_positions=200_000, n_embd=2, n_layer=1, n_head=1)
        ),
        says=["found:", "./model"],
    ),
    Case(
        name="an adapter",
        make=classifier(setting("adapter_config.json", base_model_name_or_path="/etc")),
        says=["is an adapter"],
    ),
]
