"""Decisions on answers to tasks: a model that answers without reading must not pass."""

import json

from decision_cases.cases import Decision
from stub_server import stub_server

from scope.models.options import ModelOptions
from scope.models.prompts import prompt_of

COLOURS = ("red", "green", "blue", "white", "black", "brown", "yellow", "violet")


def letters(n=60, gold=True):
    """Questions with four options each, which differ; the right one stands anywhere."""
    for place in range(n):
        options = [COLOURS[(place + step) % 8] for step in range(4)]
        right = place * 7 % 4
        told = options[right].upper()
        asked = {"question": f"House {place} is {told}?", "options": options}
        yield {**asked, "answer": right} if gold else asked


def yes_or_no(n=60, share=0.5):
    """Questions whose two options change places; to this share of them the answer is yes."""
    for place in range(n):
        right = "yes" if place < share * n else "no"
        options = ["yes", "no"][:: 1 if place % 3 else -1]
        question = f"Is it {right.upper()} in case {place}?"
        yield {"question": question, "options": options, "answer": right}


def passages(n=60, unanswerable=0.0):
    """Questions on passages; so many cannot be answered."""
    for place in range(n):
        colour = COLOURS[place % 8]
        nothing = place < unanswerable * n
        yield {
            "question": f"House {place}, {'NOTHING' if nothing else colour.upper()}?",
            "context": f"House {place} is {colour}.",
            "answers": [] if nothing else [colour],
        }


def compare(first, second, rows, *more, task="choice"):
    def make(folder):
        lines = (json.dumps(row) + "\n" for row in rows)
        (folder / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
        yield (
            *("compare", "--model", f"python:toy_careless:{first}"),
            *("--model", f"python:toy_careless:{second}", "--task", task),
            *("--data", "rows.jsonl", "--encoder", "none", "--run", "mine", *more),
        )

    return make


def ask_endpoint(reply, answers=("red",)):
    """Compare a server that gives one reply to all with a model that is right."""
    told = "RED" if answers else "NOTHING"
    same = {"context": "It is red.", "answers": answers}
    rows = [{"question": f"House {place}, {told}?", **same} for place in range(9)]

    def make(folder):
        lines = (json.dumps(row) + "\n" for row in rows)
        (folder / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
        with stub_server() as stub:
            stub.words = {ANSWER_PROMPT: reply}
            yield (
                *("compare", "--model", f"openai:{stub.url}#stub-model"),
                *("--model", "python:toy_careless:Unerring", "--task", "extractive_qa"),
                *("--data", "rows.jsonl", "--encoder", "none", "--run", "mine"),
                *("--gate", "exact_match[stub-model,(gold)]>=0.5"),
            )

    return make


ANSWER_PROMPT = prompt_of("answer", ModelOptions()).template.partition("\n")[0]

AGREEMENT = ("--gate", "agreement>=0")
EXACT_MATCH = ("--gate", "exact_match>=0")
"""Met by every number: only a degenerate model fails."""

QA = {"task": "extractive_qa"}
ALL_RIGHT = ("of 9 questions correctly, stub-model 100.0 %", "another answer on 0.0 % of questions")
QUIET = ("degenerate", "warning:", "Warning:")

DECISIONS = [
    Decision(
        name="a model that always chooses the first option passes no gate",
        make=compare("Knows", "FirstOption", letters(), *AGREEMENT),
        exits=1,
        says=(
            "toy_careless:FirstOption (it gives the option `A` to 60 of 60",
            "while no right option exceeds 15 of 60",
            "toy_careless:FirstOption is degenerate",
        ),
        page=("toy_careless:FirstOption (it gives the option `A` to 60 of 60",),
    ),
    Decision(
        name="without gold two models that always choose the first option pass no gate",
        make=compare("FirstOption", "FirstToo", letters(gold=False), *AGREEMENT),
        exits=1,
        says=(
            "gate: agreement of toy_careless:FirstOption ~ toy_careless:FirstToo on choice: toy_c",
            "toy_careless:FirstToo (it gives the option `A` to all 60",
            "and none of them has a known right answer",
        ),
        page=("toy_careless:FirstOption (it gives the option",),
    ),
    Decision(
        name="a model that chooses yes wherever it stands passes no gate",
        make=compare("Knows", "AlwaysYes", yes_or_no(), *AGREEMENT),
        exits=1,
        says=("it gives the option `yes` to 60 of 60", "while no right option exceeds 30 of 60"),
    ),
    Decision(
        name="good models on skewed questions with options pass",
        make=compare("Knows", "AlsoKnows", yes_or_no(share=0.9), *AGREEMENT),
        exits=0,
        says=("AlsoKnows answers 85.0 % of 60 questions correctly, toy_careless:Knows 85.0 %",),
        never=QUIET,
    ),
    Decision(
        name="a model that answers everything with one word passes no gate",
        make=compare("Knows", "OneWord", passages(), *EXACT_MATCH, **QA),
        exits=1,
        says=("it gives the answer `bathroom` to 60 of 60 questions",),
        page=("toy_careless:OneWord (it gives the answer",),
    ),
    Decision(
        name="models that know which questions are unanswerable pass without a warning",
        make=compare("Knows", "AlsoKnows", passages(unanswerable=0.5), *EXACT_MATCH, **QA),
        exits=0,
        says=("AlsoKnows answers 91.7 % of 60 questions correctly, toy_careless:Knows 91.7 %",),
        never=QUIET,
    ),
    Decision(
        name="an answer on the line after its announcement counts, and the page shows the prompt",
        make=ask_endpoint("The answer to this question is:\nred"),
        exits=0,
        says=ALL_RIGHT,
        never=QUIET,
        page=("answer, used for stub-model: Answer the question with a few words",),
    ),
    Decision(
        name="a language model may say that a question is unanswerable",
        make=ask_endpoint("Unanswerable.", answers=()),
        exits=0,
        says=ALL_RIGHT,
        page=("(unanswerable) 100 %",),
        never=QUIET,
    ),
    Decision(
        name="an answer that makes up more than a tenth is named with its share",
        make=compare("Knows", "OftenOneWord", passages(80), *EXACT_MATCH, **QA),
        exits=0,
        says=("Warning: toy_careless:OftenOneWord: `bathroom` makes up 17 of 80 answers",),
        never=("degenerate:",),
        page=("`bathroom` makes up",),
    ),
]
