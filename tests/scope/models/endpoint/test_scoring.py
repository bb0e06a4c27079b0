"""Given answers: servers in the forms of vLLM and of llama-cpp-python, with known probabilities."""

import copy
import itertools
import math
from dataclasses import dataclass, field

import pytest
from causal_cases import ASKED, PROMPTS, chat_or_not, log_probabilities, rendered
from stub_server import Say, Stub, refuse, stub_server
from tiny_language import LIMIT

from scope.errors import ModelError
from scope.models.checkpoint import Head
from scope.models.endpoint import load, scoring
from scope.models.endpoint.protocol import EndpointError
from scope.models.language_models import CausalModel
from scope.models.options import ModelOptions
from scope.models.questions import ask
from scope.models.torch_setup import load_torch
from scope.models.written import WrittenClassifier
from scope.records import GivenAnswer, Question
from scope.records.text_parts import joined

SHARES = {
    ("when", "in"): 0.8,
    ("when", "<end>"): 0.1,
    ("in", "May"): 0.6,
    ("May", "<end>"): 0.9,
    ("in", "June"): 0.25,
    ("June", "<end>"): 1.0,
    ("four", "seven"): 0.95,
    ("seven", "four"): 0.95,
    ("when", "unanswerable"): 0.05,
    ("unanswerable", "<end>"): 0.5,
}
"""The probability of a word after another one; after the marks of a reply that of the last word."""


def likeliest(before):
    """The words that may follow, the likeliest first, with their log-probabilities."""
    known = {word: math.log(share) for (first, word), share in SHARES.items() if first == before}
    return sorted(({"other": -4.0} | known).items(), key=lambda pair: -pair[1])


@dataclass
class Reader(Stub):
    """A server of words that shows how likely each word of a prompt is.

    ``frame`` is what the template puts before a reply when it asks for one, and when the reply is
    there; ``shift`` gives each echoed word the probability of the word behind it.
    """

    frame: tuple[str, str] = ("<reply>", "<reply>")
    shift: int = 0
    odd: dict = field(default_factory=dict)

    def rows(self, words):
        """A word, its log-probability, and the two likeliest in its place."""
        yield words[0], None, []
        last = words[0]
        for before, word in itertools.pairwise(words):
            last = last if before == "<reply>" else before
            table = likeliest(last)
            yield word, dict(table).get(word, -9.0), table[:2]

    def reply(self, path, body):
        with self.lock:
            self.asked.append(body)
            scripted = self.script.popleft() if self.script else None
        if (step := scripted or self.check(body)) is not None:
            return step
        if "messages" in body:
            return self._chatted(body)
        words = body["prompt"].split()
        texts = [words[0], *(f" {word}" for word in words[1:])]
        if not body.get("echo"):
            return Say(body={"choices": [{"text": " in May", "finish_reason": "stop"}]})
        rows = list(self.rows(words))
        values = [value for _, value, _ in rows][self.shift :] + [-9.0] * self.shift
        tables = [{f" {name}": value for name, value in table} for *_, table in rows]
        over = likeliest(words[-1])[0][0] == "<end>"
        written = [] if over else [" more"]
        logprobs = {
            "tokens": texts + written,
            "token_logprobs": [None, *values[1:], *(-0.1 for _ in written)],
            "top_logprobs": [None, *tables[1:], *({} for _ in written)],
        }
        choice = {"text": "".join([body["prompt"], *written]), "logprobs": logprobs}
        choice["finish_reason"] = "stop" if over else "length"
        usage = {"completion_tokens": len(written)}
        return Say(body={"choices": [choice], "usage": usage} | self.odd)

    def _chatted(self, body):
        *asked, last = [message["content"] for message in body["messages"]]
        words = [
            "<user>",
            *" ".join([*asked, *([last] * body.get("add_generation_prompt", 1))]).split(),
        ]
        if body.get("add_generation_prompt", True):
            words += [self.frame[0]]
        else:
            words += [self.frame[1], *last.split(), "<end>", "<line>"]
        places = [
            {name: {"logprob": value, "decoded_token": name} for name, value in table}
            for table in self.tables(words)
        ]
        message = {"message": {"content": "in May"}, "finish_reason": "length"}
        if "prompt_logprobs" not in body:
            message["finish_reason"] = "stop"
            return Say(body={"choices": [message]})
        return Say(body={"choices": [message], "prompt_logprobs": [None, *places[1:]]} | self.odd)

    def tables(self, words):
        """The word itself comes first."""
        for word, value, table in self.rows(words):
            yield [(word, value), *(pair for pair in table if pair[0] != word)]


@pytest.fixture
def reader():
    with stub_server(Reader) as stub:
        yield stub


@pytest.fixture
def opened(reader, clock):
    def opened(**options):
        options = {"prompts": {"answer": "{text}"}, "retries": 0, **options}
        return load(f"{reader.url}#stub-model", ModelOptions(**options), clock)

    return opened


def given(answer, text="so when"):
    return GivenAnswer(question=Question(id=text, text=text), answer=answer)


def scores(model, *items):
    return [score for _, score in sorted(ask(model, "answer_scorer", items))]


@pytest.mark.parametrize(
    ("answer", "share", "tokens", "same"),
    [
        ("in May", 0.8 * 0.6 * 0.9, 3, True),
        ("in June", 0.8 * 0.25 * 1.0, 3, False),
        # What says that there is no answer.
        ("", 0.05 * 0.5, 2, False),
    ],
)
def test_a_chat_ends_with_the_answer_and_its_end_is_scored(opened, answer, share, tokens, same):
    (score,) = scores(opened(), given(answer))
    assert score.log_probability == pytest.approx(math.log(share))
    assert (score.tokens, score.same, score.missing) == (tokens, same, "")


@pytest.mark.parametrize(
    ("answer", "share", "tokens", "same"),
    [("in May", 0.8 * 0.6, 2, True), ("in", 0.8, 1, None), ("in June", 0.2, 2, False)],
)
def test_a_completion_echoes_the_answer(opened, answer, share, tokens, same):
    (score,) = scores(opened(chat="no"), given(answer))
    assert score.log_probability == pytest.approx(math.log(share))
    assert (score.tokens, score.same, score.missing) == (tokens, same, "")


def test_plain_prompts_are_completions_and_other_models(opened, reader, questions):
    plain, chatting = opened(chat="no", prompts={"answer": "{text}\nAnswer:"}), opened()
    ((_, answer),) = plain.answer(questions("when?"))
    assert answer.text == "in May"
    assert reader.asked[-1]["prompt"] == "when?\nAnswer:"
    assert plain.fingerprint != chatting.fingerprint
    assert opened(chat="yes").fingerprint == chatting.fingerprint


def test_one_trial_shows_what_a_server_can_and_an_answer_is_counted_once(opened, reader):
    model = opened()
    assert [model.can_score(), model.can_score()] == [True, True]
    assert len(reader.asked) == 2
    texts = ["so when", "and when", "or when"]
    together = scores(model, *(given("in May", text) for text in texts))
    # The trial, the answer after its prompt, and three questions.
    assert len(reader.asked) == 2 + 1 + 3
    alone = [scores(opened(), given("in May", text))[0] for text in reversed(texts)]
    assert alone[::-1] == together


@pytest.mark.parametrize("chat", ["yes", "no"])
@pytest.mark.parametrize(
    "refusal",
    [
        refuse(400, "echo with logprobs is not supported"),
        refuse(422, "prompt_logprobs: Extra inputs are not permitted"),
        refuse(404, "no such path"),
        refuse(500, "KeyError: 425"),
        # A server that ignores what it does not know.
        Say(body={"choices": [{"message": {"content": "B"}, "text": " more"}]}),
        Say(body={"choices": [{"text": "x", "message": {}, "logprobs": None}]}),
        Say(body={"choices": [{"text": "x", "message": {}}], "prompt_logprobs": [None, 3]}),
        Say(body={"choices": [{"text": "x", "message": {}}], "prompt_logprobs": [{"1": {}}]}),
        Say(body={"choices": [{"text": "x", "logprobs": {"tokens": [1], "token_logprobs": "x"}}]}),
        Say(body={"choices": [{"text": "x", "logprobs": {"tokens": ["a"], "token_logprobs": []}}]}),
    ],
    ids=str,
)
def test_a_server_that_cannot_is_told_apart(opened, reader, refusal, chat):
    reader.check = lambda body: refusal
    model = opened(chat=chat)
    assert not model.can_score()
    with pytest.raises(ModelError, match="does not score given answers"):
        scores(model, given("in May"))


@pytest.mark.parametrize(
    ("chat", "odd"),
    [
        # Templates that begin a thought, or write a reply that is over in another way.
        ("yes", {"frame": ("<reply>", "<past>")}),
        ("yes", {"frame": ("<reply> <think>", "<reply>")}),
        ("yes", {"frame": ("<reply>", "<reply> <final>")}),
        ("no", {"shift": 1}),
        ("no", {"odd": {"usage": {"completion_tokens": "many"}}}),
        ("yes", {"odd": {"prompt_logprobs": [{"1": {"decoded_token": "a", "logprob": 2.0}}]}}),
    ],
)
def test_numbers_that_are_not_those_of_the_answer_are_not_used(opened, reader, chat, odd):
    for name, value in odd.items():
        setattr(reader, name, value)
    assert not opened(chat=chat).can_score()


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_server_that_fails_is_not_one_that_cannot(opened, reader, status):
    model = opened()
    list(model.answer([Question(id="0", text="when")]))
    reader.check = lambda body: refuse(status, "later") if "prompt_logprobs" in body else None
    with pytest.raises(EndpointError):
        model.can_score()
    reader.check = lambda body: None
    assert model.can_score()


def test_what_fails_later_costs_its_item_alone(opened, reader):
    model = opened()
    assert model.can_score()

    def check(body):
        first = body["messages"][0]["content"]
        if first == "long when":
            return refuse(400, "too much", code="context_length_exceeded")
        if first == "odd when":
            return Say(body={"choices": [{}], "prompt_logprobs": [None, *[{"7": None}] * 9]})
        if first == "bad when":
            row = {"in": {"logprob": -9999.0, "decoded_token": "in"}}
            return Say(body={"choices": [{"message": {}}], "prompt_logprobs": [None, *[row] * 9]})
        return None

    reader.check = check
    texts = ("long when", "odd when", "bad when", "so when")
    long, odd, bad, well = scores(model, *(given("in May", text) for text in texts))
    assert (long.missing, long.truncated, long.tokens) == ("cut off", True, 3)
    assert (odd.missing, bad.missing, well.missing) == ("server", "no number", "")


def test_two_words_that_are_too_near_are_not_told_apart(opened, monkeypatch):
    monkeypatch.setitem(SHARES, ("in", "June"), 0.4)
    assert [score.same for score in scores(opened(), given("in May"))] == [None]


@pytest.mark.parametrize("refused", [True, False])
def test_a_model_that_thinks_is_scored_without_a_thought(opened, reader, refused):
    said = "Unrecognized request argument supplied: chat_template_kwargs"
    reader.check = lambda body: (
        refuse(400, said) if refused and "chat_template_kwargs" in body else None
    )
    (score,) = scores(opened(thinking="on"), given("in May"))
    assert score.log_probability == pytest.approx(math.log(0.8 * 0.6 * 0.9))
    assert score.same is None
    last = reader.asked[-1]
    switches = {"enable_thinking": False, "thinking": False}
    assert last.get("chat_template_kwargs") == (None if refused else switches)


def test_audits_score_where_they_can(opened, reader):
    text = joined(["so when", "in June"])
    (prediction,) = WrittenClassifier(opened(), ["question"]).classify([text])
    assert prediction.support == pytest.approx(math.log(0.2))
    assert prediction.reply == "in May"
    reader.check = lambda body: refuse(400, "no") if "prompt_logprobs" in body else None
    writer = WrittenClassifier(opened(), ["question"])
    assert [one.support for one in writer.classify([text, text])] == [None, None]
    # A text without an answer needs no trial.
    asked = len(reader.asked)
    WrittenClassifier(opened(), ["question"]).classify(["so when"])
    assert len(reader.asked) == asked + 1


TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|user|>' if message['role'] == 'user' else '<|reply|>' }}"
    "{{ message['content'] | trim }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|reply|>{% endif %}"
)


@dataclass
class Served(Stub):
    """A checkpoint as vLLM serves it, with the numbers of plain transformers."""

    head: object = None

    def reply(self, path, body):
        tokenizer, model = self.head.tokenizer, self.head.model
        if path.endswith("/chat/completions"):
            ends = body["add_generation_prompt"]
            numbers = tokenizer.apply_chat_template(
                body["messages"], add_generation_prompt=ends, return_dict=False
            )
        else:
            numbers = tokenizer(body["prompt"])["input_ids"]
        torch = load_torch()
        with torch.inference_mode(), self.lock:
            logs = model(input_ids=torch.tensor([numbers])).logits[0].double().log_softmax(dim=-1)
        rows = []
        for place, number in enumerate(numbers[1:]):
            best = dict.fromkeys([number, *logs[place].topk(2).indices.tolist()])
            rows.append(
                [(each, tokenizer.decode([each]), float(logs[place, each])) for each in best]
            )
        if path.endswith("/chat/completions"):
            named = ("decoded_token", "logprob")
            places = [
                {str(n): dict(zip(named, rest, strict=True)) for n, *rest in row} for row in rows
            ]
            return Say(body={"choices": [{"message": {}}], "prompt_logprobs": [None, *places]})
        logprobs = {
            "tokens": [tokenizer.decode([numbers[0]]), *(row[0][1] for row in rows), "x"],
            "token_logprobs": [None, *(row[0][2] for row in rows), -1.0],
            "top_logprobs": [None, *({text: at for _, text, at in row} for row in rows), {}],
        }
        choice = {"text": body["prompt"] + "x", "logprobs": logprobs, "finish_reason": "length"}
        return Say(body={"choices": [choice], "usage": {"completion_tokens": 1}})


@chat_or_not
def test_an_endpoint_scores_as_the_checkpoint_does(
    as_transformers, llama_folders, chat, clock, monkeypatch
):
    monkeypatch.setattr(scoring, "LEAST_EXPECTED", -math.inf)
    tokenizer, plain = as_transformers(llama_folders[chat], "CausalLM")
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.chat_template = TEMPLATE if chat else None
    head = Head(model=plain, tokenizer=tokenizer, limit=LIMIT, fingerprint="served")
    words = {"chat": "yes" if chat else "no", "prompts": {"answer": PROMPTS["answer"]}}
    ours = CausalModel(head, "hf:served", ModelOptions(device="cpu", **words))
    written = dict(ours.answer(ASKED))
    items = [
        GivenAnswer(question=question, answer=answer)
        for index, question in enumerate(ASKED)
        for answer in ("ann in paris", "zoé?", written[index].text)
        if answer
    ]
    with stub_server(Served) as stub:
        stub.head = head
        served = scores(load(f"{stub.url}#stub-model", ModelOptions(**words), clock), *items)
    for item, ours_to_it, score in zip(items, scores(ours, *items), served, strict=True):
        expected = ours_to_it.log_probability
        prompt = tokenizer(rendered("answer", item.question))["input_ids"]
        answer = tokenizer(f" {item.answer}", add_special_tokens=False)["input_ids"]
        # A completion has no end, and no answer has one after the most tokens.
        ended = not chat and len(answer) < 32
        if ended:
            logs = log_probabilities(plain, [*prompt, *answer])
            expected -= float(logs[-1, 1])
        assert score.log_probability == pytest.approx(expected, abs=1e-4)
        assert score.tokens == ours_to_it.tokens - ended
        assert None in (score.same, ours_to_it.same) or score.same == ours_to_it.same
