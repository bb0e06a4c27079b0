"""Do models answer better with SCoPE's prompts, or with those of lm-evaluation-harness?

The same questions, drawn at random, are put to one model with each; SCoPE reads the replies.

    part     questions                               task of the harness (commit 4e7e0d47)
    squad    XQuAD, passages below 700 characters    squadv2
    sst2     sentences of SST, two label words       sst2
    csqa     CommonsenseQA, by letters               commonsense_qa
    arc      ARC-Challenge, each option is scored    arc_challenge, whose prompt is SCoPE's, too

    python benchmarks/prompts.py --model SPEC [--questions N] [--seed N] [--data FOLDER] [--json]
                                 [PART]...

Keys of --json, for each PART and PROMPT (`ours` and `harness`, in the chat template if there is
one; `harness_plain`, without it, as the harness asks by default): `PART_PROMPT`, the share right,
of squad exact matches, and `squad_PROMPT_f1`, word F1; `PART_PROMPT_more` and
`squad_PROMPT_more_f1`, these less those of `ours`, paired by question, of squad clustered by
passage; all with `_low` and `_high`; `PART_PROMPT_unread`, the share of replies without a readable
answer; `PART_PROMPT_tokens`, mean tokens of a prompt. Then `model`, `questions`, `python`, `torch`,
`transformers`, `processor`, `cores`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from surroundings import bounded, command_of_parts, parsed, show, surroundings
from written_answers import LONGEST, rows_of

from scope.metrics.agreement import exact_match_values, word_f1_values
from scope.models.options import Chat, Form, ModelOptions
from scope.models.prompts import prompt_of
from scope.models.questions import ask, in_order
from scope.models.scheme import load_model
from scope.records import Answer, Question
from scope.statistics.intervals import mean_estimate
from scope.statistics.paired import paired_difference

MOST_CHARACTERS = 700
"""Longest passage; 298 questions have a shorter one."""

LABELS = ("negative", "positive")
CHATS: Mapping[str, Chat] = {"ours": "auto", "harness": "auto", "harness_plain": "no"}


class Item(NamedTuple):
    """A question, the same under the passage's title, as the harness asks, and what is right."""

    question: Question
    titled: Question
    right: Any


class Task(NamedTuple):
    """The file of the questions, and the templates; ours where it is no default."""

    file: str
    prompt: str
    harness: str
    ours: str | None = None
    form: Form = "words"


_SST2 = "{text}\nQuestion: Is this sentence positive or negative?\nAnswer:"
_CLASSIFY = prompt_of("classify", ModelOptions()).template.replace("{labels}", ", ".join(LABELS))
_SQUAD = "Title: {context}\n\nQuestion: {text}\n\nAnswer:"
_CSQA = "Question: {text}\n{options}\nAnswer:"
TASKS: Mapping[str, Task] = {
    "squad": Task("squad/xquad_en", "answer", _SQUAD),
    "sst2": Task("sst/sst", "choice", _SST2, _CLASSIFY),
    "csqa": Task("mcq/commonsenseqa_dev", "choice_letters", _CSQA, form="letters"),
    "arc": Task("mcq/arc_challenge_test", "choice", "Question: {text}\nAnswer:"),
}


def items_of(data: Path, file: str) -> Iterator[Item]:
    """Questions with an answer in a short passage, or with options; sentences with a label."""
    passages = {row["context_id"]: row for row in rows_of(data / "squad" / "contexts.jsonl.gz")}
    for number, row in enumerate(rows_of(data / f"{file}.jsonl.gz")):
        question = Question(id=str(number), text=row.get("question") or row["sentence"])
        if "context_id" in row:
            passage = passages[row["context_id"]]
            context, title = passage["context"], passage["title"].replace("_", " ")
            if len(context) < MOST_CHARACTERS:
                titled = replace(question, context=f"{title}\n\nBackground: {context}")
                right = [answer["text"] for answer in row["answers"]]
                yield Item(replace(question, context=context), titled, right)
        elif "choices" in row or (row["split"] != "train" and row["label"] is not None):
            asked = replace(question, options=tuple(row.get("choices", LABELS)))
            yield Item(asked, asked, row.get("answer", row.get("label")))


def measured(spec: str, name: str, items: Sequence[Item]) -> Iterator[tuple[str, Any]]:
    """The figures of a task with each prompt; equal prompts are asked once."""
    task, units = TASKS[name], [item.question.context or item.question.id for item in items]
    known: dict[str, Sequence[Answer]] = {}
    ours: dict[str, Sequence[float]] = {}
    for prompt, chat in CHATS.items():
        template, key = task.ours if prompt == "ours" else task.harness, f"{name}_{prompt}"
        own = {task.prompt: template} if template else {}
        options = ModelOptions(prompts=own, ask=task.form, chat=chat)
        role: Any = "answerer" if task.prompt == "answer" else "choice_scorer"
        model = load_model(spec, role, options)
        asked = [item.question if prompt == "ours" else item.titled for item in items]
        tokens = [model._fitted(task.prompt, question, LONGEST).tokens for question in asked]
        if (read := str(tokens)) not in known:
            known[read] = in_order(model, asked, ask(model, role, asked))
        for end, values in scores(known[read], items).items():
            yield from bounded(key + end, mean_estimate(values, units)).items()
            more = paired_difference(values, ours.setdefault(end, values), units)
            yield from bounded(f"{key}_more{end}", more).items() if prompt != "ours" else ()
        yield f"{key}_unread", sum(not answer.given for answer in known[read]) / len(items)
        yield f"{key}_tokens", round(sum(map(len, tokens)) / len(items), 1)


def scores(answers: Sequence[Answer], items: Sequence[Item]) -> dict[str, Sequence[float]]:
    """Of each answer whether it is right; of one in words also the F1 with the best right one."""
    both = list(zip(answers, items, strict=True))
    if items[0].question.options:
        return {"": [float(answer.choice == item.right) for answer, item in both]}
    return {
        end: [
            max(values([answer.text or ""] * len(item.right), item.right, normalize=True))
            for answer, item in both
        ]
        for end, values in {"": exact_match_values, "_f1": word_f1_values}.items()
    }


def main() -> None:
    """Ask one model, and print a table, or JSON."""
    parser = command_of_parts(__doc__, tuple(TASKS))
    parser.add_argument("--model", required=True, help="such as hf:FOLDER")
    parser.add_argument("--questions", type=int, default=200, help="a part (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    arguments, figures = parsed(parser, tuple(TASKS)), dict[str, Any]()
    for name in arguments.parts:
        items = list(items_of(arguments.data, TASKS[name].file))
        drawn = random.Random(arguments.seed).sample(items, min(arguments.questions, len(items)))
        figures |= measured(arguments.model, name, drawn)
    figures |= {"model": arguments.model, "questions": arguments.questions}
    show(figures | surroundings("torch", "transformers"), as_json=arguments.json)


if __name__ == "__main__":
    main()
