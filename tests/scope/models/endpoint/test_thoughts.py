"""A server whose model thinks, in seven styles, beside one whose model does not."""

import json
import math
import re
from dataclasses import dataclass

import pytest
from stub_server import MODEL, Say, Stub, refuse, stub_server

import scope
from scope.models.endpoint import load
from scope.models.options import THOUGHT_TOKENS, ModelOptions
from scope.records import BLANK, Answer, Question

STYLES = ("tags", "end alone", "beside", "parts", "channel", "counted", "misplaced")
ENDS = {
    "tags": ("<think>\n", "\n</think>\n\n"),
    "end alone": ("", "\n</think>\n\n"),
    "channel": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
}
THOUGHT = 'The answer is A.\n\n"Wrong", says Ann. Then B? ' + "hm " * 40
COLOURS = ("red", "green", "blue", "white")


def right(prompt):
    """The answer that stands in capitals in the question: a letter if it has options."""
    word = re.findall(r"\b[A-Z]{3,}\b", prompt)[0]
    letter = re.search(rf"^([A-D])\. {word.lower()}$", prompt, re.MULTILINE)
    return letter[1] if letter else word.lower()


@dataclass
class Thinking(Stub):
    """Thinks before it answers, without end where the question says so."""

    style: str = ""
    obeys: bool = False
    most: int = 9999

    def reply(self, path, body):
        self.asked.append(body)
        prompt = body["messages"][-1]["content"]
        content = "14" if "two weeks" in prompt else right(prompt)
        if body["max_tokens"] > self.most:
            return refuse(400, "beyond the maximum context length")
        obeys = self.obeys or self.style == "misplaced"
        if not self.style or (obeys and "'thinking': False" in str(body)):
            return self.say(body, [content], 0)
        before, after = ENDS.get(self.style, ("", "\n"))
        thought = THOUGHT * (100 if "endless" in prompt else 1)
        thinks = [*re.findall(r"\s*\S+", f"{before}{thought}{after}"), "\n"]
        return self.say(body, [*thinks, content], len(thinks))

    def say(self, body, tokens, thinks):
        kept = tokens[: body["max_tokens"]]
        whole, content = "".join(kept), "".join(kept[thinks:])
        message, parts = {"content": content or None}, [{"type": "text", "text": content}]
        if self.style == "misplaced" and not thinks:
            message = {"content": None, "reasoning_content": content}
        elif self.style in ("beside", "misplaced") and thinks:
            message["reasoning_content"] = "".join(kept[:thinks])
        elif self.style == "parts" and thinks:
            message = {"content": [{"type": "thinking", "thinking": []}, *parts]}
        elif self.style in ENDS:
            message = {"content": whole}
        choice = {"message": message, "finish_reason": "stop" if kept == tokens else "length"}
        if body.get("logprobs") and self.logprobs:
            choice["logprobs"] = {"content": [self.token(token) for token in kept]}
        hidden = thinks if self.style == "counted" else 0
        usage = {"completion_tokens_details": {"reasoning_tokens": hidden}}
        return Say(body={"choices": [choice], "usage": usage})

    @staticmethod
    def token(text):
        both = ((text, 0.75), (" A" if text != "A" else " B", 0.25))
        return {
            "token": text,
            "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in both],
        }


@pytest.fixture
def server():
    with stub_server(Thinking) as stub:
        yield stub


def question(number, more=""):
    word = COLOURS[number % 4].upper()
    text = f"House {number} is {word}{more}: {BLANK}?"
    return Question(id=str(number), text=text, context="It is there.", options=COLOURS)


def answers(server, clock, questions, **options):
    """What a model without a memory answers in each role."""
    model = load(f"{server.url}#{MODEL}", ModelOptions(**options), clock)
    roles = (model.choose, model.answer, model.fill)
    return [[answer for _, answer in sorted(ask(questions))] for ask in roles]


QUESTIONS = [question(number) for number in range(6)]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("logprobs", [True, False])
def test_a_thought_changes_no_answer(server, clock, style, logprobs):
    server.logprobs = logprobs
    plain = answers(server, clock, QUESTIONS)
    assert [answer.choice for answer in plain[0]] == [0, 1, 2, 3, 0, 1]
    assert len(server.asked) == 3 * len(QUESTIONS)
    server.style = style
    assert answers(server, clock, QUESTIONS) == plain
    assert answers(server, clock, QUESTIONS[::-1], requests=1) == [each[::-1] for each in plain]
    assert answers(server, clock, QUESTIONS, thinking="on") == plain


@pytest.mark.parametrize("style", STYLES)
def test_a_thought_that_does_not_end_is_no_answer_and_says_so(server, clock, style):
    server.style = style
    asked = [QUESTIONS[0], question(1, " without endless thought")]
    missing = Answer(missing="thought not finished")
    for each in answers(server, clock, asked):
        assert (each[0].given, each[1]) == (True, missing)
    if style != "misplaced":
        for each in answers(server, clock, QUESTIONS, thinking="off"):
            assert set(each) == {missing}


def test_a_question_counts_where_the_room_does_not_fit_into_the_context(server, clock):
    server.style, server.most = "beside", THOUGHT_TOKENS
    for thinking in ("auto", "on"):
        for each in answers(server, clock, QUESTIONS[:2], thinking=thinking):
            assert each == [Answer(missing="thought not finished")] * 2


def test_where_the_server_has_a_switch_no_room_is_needed(server, clock):
    server.style, server.obeys = "tags", True
    for options, most in (({}, 32), ({"thinking": "on"}, 32 + THOUGHT_TOKENS)):
        server.asked.clear()
        answers(server, clock, QUESTIONS, **options)
        assert max(body["max_tokens"] for body in server.asked) == most


def test_a_comparison_finds_the_same_whether_a_model_thinks_or_not(server, tmp_path, without_pages):
    rows = [
        {"id": q.id, "question": q.text, "options": list(COLOURS), "answer": int(q.id) % 4}
        for q in map(question, range(12))
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    verdicts = []
    for style in ("", "tags", "end alone"):
        server.style = style
        result = scope.compare(
            models=[f"openai:{server.url}#stub-model", f"openai:{server.url}#other-model"],
            tasks="choice",
            data=str(tmp_path / "rows.jsonl"),
            runs=tmp_path / f"runs {style}",
        )
        verdicts.append((result.verdicts, result.tasks[0].answers, result.measurements))
    assert verdicts[1:] == verdicts[:1] * 2
