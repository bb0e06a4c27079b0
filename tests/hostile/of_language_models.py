"""Language models whose chat templates, code or GGUF files are hostile."""

import os

from hostile.cases import WORKS, Case
from hostile.checkpoints import copy_of, cut, in_place, without
from hostile.encoders import EVIL, ROWS, change_json, nothing_ran

TOKENS = "tokenizer_config.json"
PIPE = os.mkfifo
NEXT = (
    *(
        "audit",
        "--role",
        "next_token",
        "--reference",
        "./model",
        "--target",
        "./model",
        "--capability",
    ),
    *("typo", "--data", "rows.csv", "--n", "3", "--label-column", "none", "--run", "mine"),
)

DOUBLING = (
    "{% set n = namespace(x='aaaaaaaa') %}"
    "{% for a in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}"
)


def language(kind, *changes, spec="./model"):
    """An audit of the next tokens of a tiny language model."""

    def make(folder, _):
        model = copy_of(kind, folder / "model")
        for change in changes:
            change(model)
        (folder / "rows.csv").write_text(ROWS)
        return tuple(spec if part == "./model" else part for part in NEXT)

    return make


def foreign(folder):
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text(EVIL)


def template(written):
    def change(folder):
        for path in folder.glob("chat_template*"):
            path.unlink()
        change_json(folder / TOKENS, chat_template=written)

    return change


CASES = [
    Case(name="an ordinary language model", make=language("llama"), exits=WORKS),
    *(
        Case(name=f"a chat template {title}", make=language("chat", template(written)), says=[part])
        for title, written, part in (
            (
                "of loops in loops",
                "{% for a in range(99999) %}" * 5 + "{% endfor %}" * 5,
                "5 seconds",
            ),
            ("that doubles", DOUBLING, "256 MiB of memory"),
            ("of a long line", "{{ 'a' * 9999999999 }}", "256 MiB of memory"),
            ("of a wide field", "{{ '%9999999999d' % 1 }}", "chat template"),
            ("that reaches for the system", "{{ ''.__class__.__mro__ }}", "chat template"),
            ("that does not end", "{% for a in b", "chat template"),
            ("that leaves the message out", "hello", "chat template"),
            (
                "that repeats it",
                "{{ messages[0].content }}{{ messages[0].content }}",
                "chat template",
            ),
            ("that refuses", "{{ raise_exception('no') }}", "chat template"),
            ("that is a number", 7, "found:"),
        )
    ),
    Case(
        name="an own generate",
        make=language("llama", foreign),
        says=["is code for generating text"],
        after=nothing_ran,
    ),
    Case(
        name="an own generate beside a GGUF file",
        make=language("gguf", foreign, spec="gguf:./model/model.gguf"),
        exits=WORKS,
        after=nothing_ran,
    ),
    *(
        Case(
            name=f"a GGUF file {title}",
            make=language("gguf", change, spec="gguf:./model/model.gguf"),
            says=["model.gguf"],
        )
        for title, change in {
            "cut at its end": cut("model.gguf", -1000),
            "cut in its header": cut("model.gguf", 200),
            "of its first word": cut("model.gguf", 4),
            "of no byte": cut("model.gguf", 0),
            "that is a pipe": in_place("model.gguf", PIPE),
            "that is not there": without("model.gguf"),
        }.items()
    ),
]
