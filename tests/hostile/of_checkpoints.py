"""Checkpoints and GGUF files that are damaged, lie about themselves, or would fill memory."""

import json
import os
from pathlib import Path

from hostile.cases import REFUSED, WORKS, Case
from hostile.checkpoints import copy_of, cut, header, in_place, large, setting, tensors, text
from hostile.encoders import EVIL, ROWS, change_json, nothing_ran

CONFIG, TOKENS, WEIGHTS = "config.json", "tokenizer_config.json", "model.safetensors"
DEEP = "[" * 200_000 + "]" * 200_000
AUDIT = (
    *("audit", "--capability", "typo", "--data", "rows.csv", "--n", "3"),
    *("--label-column", "none", "--run", "mine"),
)
MAPPED = ("--label-map", "bad=negative", "--label-map", "good=positive")


def case(name, kind, change, *says, spec="./model", **fields):
    """An audit of a tiny checkpoint with its files changed."""

    def make(folder, _):
        change(copy_of(kind, folder / "model"))
        (folder / "rows.csv").write_text(ROWS)
        if kind == "classifier":
            reference = ("--reference", "python:toy_models:Stranger", *MAPPED)
        else:
            reference = ("--reference", spec, "--role", "next_token")
        return (*AUDIT, *reference, "--target", spec)

    return Case(name=name, make=make, says=says, **{"megabytes": 700, **fields})


def unchanged(_):
    """Nothing is hostile."""


def itself(path):
    path.symlink_to(path.name)


LINKS = {
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a link to itself": itself,
    "a pipe": os.mkfifo,
    "a device that never ends": lambda path: path.symlink_to("/dev/zero"),
    "a link to a folder": lambda path: path.symlink_to("/etc"),
}
CONFIGS = {
    "empty": ("", "config.json: JSONDecodeError"),
    "no UTF-8": (b"\xff\xfe{}", "config.json: UnicodeDecodeError"),
    "nested deeply": (DEEP, "config.json: RecursionError"),
    "a number of 100,000 digits": ('{"hidden_size": ' + "9" * 100_000 + "}", "ValueError"),
    "of an unknown type": ('{"model_type": "unheard"}', "unheard"),
    "of a type that is a list": ('{"model_type": ["bert"]}', "cannot be loaded"),
}
SETTINGS = [
    (CONFIG, {"num_hidden_layers": 10**9}, "config.json says num_hidden_layers 1000000000"),
    (CONFIG, {"num_hidden_layers": 2**20}, "model"),
    (CONFIG, {"num_hidden_layers": "two"}, "model"),
    (CONFIG, {"hidden_size": 30_000, "num_attention_heads": 2}, "model"),
    (CONFIG, {"max_position_embeddings": 9_000_000}, "model"),
    (CONFIG, {"hidden_act": "evil.Evil"}, "model"),
    (CONFIG, {"attn_implementation": "someone/code"}, "model"),
    (CONFIG, {"transformers_weights": "pytorch_model.bin"}, "model"),
    (CONFIG, {"transformers_weights": "../far.safetensors"}, "model"),
    (CONFIG, {"quantization_config": {"quant_method": "evil"}}, "quantized by the method 'evil'"),
    (CONFIG, {"id2label": {"0": "bad", "1": "bad"}}, "model"),
    (CONFIG, {"id2label": {"0": ["bad"], "1": ["good"]}}, "model"),
    (CONFIG, {"id2label": "bad"}, "model"),
    (
        # An architecture that fills a table of positions for each other.
        CONFIG,
        {"model_type": "gpt2", "n_positions": 200_000, "n_embd": 2, "n_layer": 1, "n_head": 1},
        "./model",
    ),
    (TOKENS, {"model_max_length": -5}, "model"),
    (TOKENS, {"model_max_length": 2}, "model"),
    (TOKENS, {"model_max_length": "many"}, "model"),
    (TOKENS, {"tokenizer_class": "BertModel"}, "model"),
    (TOKENS, {"vocab_file": "/dev/zero"}, "model"),
    (TOKENS, {"tokenizer_file": "/etc/passwd"}, "model"),
    ("model.safetensors.index.json", {"weight_map": {"a": "../x.safetensors"}}, "../x.safetensors"),
    ("adapter_config.json", {"base_model_name_or_path": "/etc"}, "is an adapter"),
]


def more_words(folder):
    """A tokenizer whose last word the table of the model does not hold."""
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["model"]["vocab"]["film"] = 5000
    path.write_text(json.dumps(tokenizer))


def moved(entries):
    return {
        name: entry | {"data_offsets": [0, 8]} if name.endswith("bias") else entry
        for name, entry in entries.items()
    }


def pickle(path):
    path.with_name("pytorch_model.bin").write_bytes(b"cos\nsystem\n.")


CHANGES = {
    "weights cut at their end": (cut(WEIGHTS, -100), WEIGHTS),
    "weights with zeros behind": (large(WEIGHTS, 10**6), WEIGHTS),
    "weights with a header of 2**64 bytes": (text(WEIGHTS, b"\xff" * 8 + b"{}"), WEIGHTS),
    "weights with a deep header": (
        text(WEIGHTS, len(DEEP).to_bytes(8, "little") + DEEP.encode()),
        WEIGHTS,
    ),
    "weights with a header that is a list": (header(lambda entries: [entries]), WEIGHTS),
    "tensors in each other's place": (header(moved), "./model"),
    "weights without a head": (tensors(lambda held: held.pop("classifier.weight")), "./model"),
    "weights with NaN": (
        tensors(lambda held: held["classifier.bias"].fill_(float("nan"))),
        "./model",
    ),
    "weights that are a pickle": (in_place(WEIGHTS, pickle), "./model"),
    "a pipe that no file names": (
        in_place("pytorch_model.bin", os.mkfifo),
        "pytorch_model.bin is not a regular file",
    ),
    "a folder for config.json": (in_place(CONFIG, Path.mkdir), "cannot be loaded"),
    "a tokenizer that is half there": (cut("tokenizer.json", 300), "model"),
    "a tokenizer that is deep": (text("tokenizer.json", DEEP), "model"),
    "a tokenizer's settings that are a list": (text(TOKENS, "[]"), "model"),
    "words beyond the table": (more_words, "model"),
    **{
        f"an enormous {file}": (large(file, size), f"{file} has ")
        for file, size in {CONFIG: 10**9, "tokenizer.json": 10**10, "merges.txt": 10**9}.items()
    },
}

DOUBLING = (
    "{% set n = namespace(x='aaaaaaaa') %}"
    "{% for a in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}"
)
TEMPLATES = {
    "of loops in loops": ("{% for a in range(99999) %}" * 5 + "{% endfor %}" * 5, "5 seconds"),
    "that doubles": (DOUBLING, "256 MiB of memory"),
    "of a long line": ("{{ 'a' * 9999999999 }}", "256 MiB of memory"),
    "of a wide field": ("{{ '%9999999999d' % 1 }}", "chat template"),
    "that reaches for the system": ("{{ ''.__class__.__mro__ }}", "chat template"),
    "that does not end": ("{% for a in b", "chat template"),
    "that leaves the message out": ("hello", "chat template"),
    "that is a number": (7, "found:"),
}


def template(written):
    def change(folder):
        for path in folder.glob("chat_template*"):
            path.unlink()
        change_json(folder / TOKENS, chat_template=written)

    return change


def foreign_generate(folder):
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text(EVIL)


GGUF = {"spec": "gguf:./model/model.gguf"}
CASES = [
    case("an ordinary classifier", "classifier", unchanged, exits=WORKS),
    case("an ordinary language model", "llama", unchanged, exits=WORKS),
    *(
        case(
            f"{title} for {file}",
            "classifier",
            in_place(file, make),
            f"{file} is not a regular file",
        )
        for title, make in LINKS.items()
        for file in (CONFIG, TOKENS, WEIGHTS, "tokenizer.json", "vocab.txt")
        if file == CONFIG or title == "a pipe"
    ),
    *(
        case(
            f"a configuration that is {title}", "classifier", text(CONFIG, content), "found:", says
        )
        for title, (content, says) in CONFIGS.items()
    ),
    *(
        case(
            f"{file} with {str(changes)[:60]}",
            "classifier",
            setting(file, **changes),
            "found:",
            says,
        )
        for file, changes, says in SETTINGS
    ),
    *(
        case(title, "classifier", change, "found:", says)
        for title, (change, says) in CHANGES.items()
    ),
    # One generation of the library does not read these.
    *(
        case(title, "classifier", setting(file, **changes), exits=REFUSED | WORKS)
        for title, file, changes in (
            ("a million labels", CONFIG, {"num_labels": 2**20}),
            ("an unknown tokenizer", TOKENS, {"tokenizer_class": "evil.Evil"}),
        )
    ),
    *(
        case(f"a chat template {title}", "chat", template(written), says)
        for title, (written, says) in TEMPLATES.items()
    ),
    case(
        "code for generating text",
        "llama",
        foreign_generate,
        "is code for generating text",
        after=nothing_ran,
    ),
    case(
        "code for generating text beside a GGUF file",
        "gguf",
        foreign_generate,
        exits=WORKS,
        after=nothing_ran,
        **GGUF,
    ),
    *(
        case(f"a GGUF file {title}", "gguf", change, "model.gguf", **GGUF)
        for title, change in {
            "cut at its end": cut("model.gguf", -1000),
            "cut in its header": cut("model.gguf", 200),
            "of no byte": cut("model.gguf", 0),
            "that is a pipe": in_place("model.gguf", os.mkfifo),
        }.items()
    ),
]
