"""Checkpoints and GGUF files that are damaged, lie about themselves, or would fill memory."""

import json
import os

from hostile.cases import REFUSED, WORKS, Case
from hostile.checkpoints import copy_of, cut, in_place, setting, text
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


def more_words(folder):
    """A tokenizer whose last word the table of the model does not hold."""
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["model"]["vocab"]["film"] = 5000
    path.write_text(json.dumps(tokenizer))


def pickle(path):
    path.with_name("pytorch_model.bin").write_bytes(b"cos\nsystem\n.")


HOSTILE = {
    "an empty configuration": (text(CONFIG, ""), "config.json: JSONDecodeError"),
    "a configuration nested deeply": (text(CONFIG, DEEP), "config.json: RecursionError"),
    "a type that is a list": (text(CONFIG, '{"model_type": ["bert"]}'), "cannot be loaded"),
    "an activation of its own": (setting(CONFIG, hidden_act="evil.Evil"), "model"),
    "weights elsewhere": (setting(CONFIG, transformers_weights="../far.safetensors"), "model"),
    "labels that are lists": (setting(CONFIG, id2label={"0": ["bad"], "1": ["good"]}), "model"),
    "a length below zero": (setting(TOKENS, model_max_length=-5), "model"),
    "a tokenizer elsewhere": (setting(TOKENS, tokenizer_file="/etc/passwd"), "model"),
    "weights cut at their end": (cut(WEIGHTS, -100), WEIGHTS),
    "weights with a header of 2**64 bytes": (text(WEIGHTS, b"\xff" * 8 + b"{}"), WEIGHTS),
    "weights that are a pickle": (in_place(WEIGHTS, pickle), "./model"),
    "words beyond the table": (more_words, "model"),
}
"""What a classifier's folder holds, and the error."""

TEMPLATES = {
    "of loops in loops": ("{% for a in range(99999) %}" * 5 + "{% endfor %}" * 5, "5 seconds"),
    "that reaches for the system": ("{{ ''.__class__.__mro__ }}", "chat template"),
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


GGUF = {"spec": "hf:./model/model.gguf"}
CASES = [
    case("an ordinary classifier", "classifier", unchanged, exits=WORKS),
    case("an ordinary language model", "llama", unchanged, exits=WORKS),
    *(
        case(title, "classifier", change, "found:", says)
        for title, (change, says) in HOSTILE.items()
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
            "that is a pipe": in_place("model.gguf", os.mkfifo),
        }.items()
    ),
]
