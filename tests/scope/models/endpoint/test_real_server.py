"""A real OpenAI-compatible server, llama.cpp's, with a real model of language on loopback."""

import math
import subprocess
import sys

import pytest

from scope.errors import ModelError
from scope.models import ModelOptions, load_model
from scope.records import Question

pytestmark = pytest.mark.slow


# It ends when its standard input does, and so never outlives the tests.
SERVER = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"smollm2"}
params.n_ctx, params.n_parallel = 1024, 2
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""

PASSAGE = (
    "The Eiffel Tower is a tower in Paris. It was built by the company of Gustave Eiffel in 1889 "
    "and is 330 metres high."
)


@pytest.fixture(scope="module")
def base_url(smollm2_file):
    pytest.importorskip("xllamacpp")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, smollm2_file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        yield f"{address}/v1"
        server.stdin.close()
        assert server.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def model(base_url):
    options = ModelOptions(requests=2, max_answer_tokens=16, next_tokens=10)
    return load_model(f"openai:{base_url}#smollm2", "answerer", options)


def test_it_answers_from_a_passage(model):
    asked = [
        Question(id="0", text="In which city is the Eiffel Tower?", context=PASSAGE),
        Question(id="1", text="In which year was it built?", context=PASSAGE),
    ]
    answers = dict(model.answer(asked))
    assert "Paris" in answers[0].text
    # So small a model may name a wrong year, but it names one.
    assert any(character.isdigit() for character in answers[1].text)
    assert dict(model.answer(asked)) == answers


def test_it_fills_a_blank_with_one_word(model):
    ((_, answer),) = model.fill([Question(id="0", text="The cat drank a bowl of ____.")])
    assert answer.text
    assert " " not in answer.text


def test_it_chooses_with_probabilities(model):
    asked = [
        Question(
            id=str(place),
            text="In which city is the Eiffel Tower?",
            context=PASSAGE,
            options=options,
        )
        for place, options in enumerate((("Paris", "Rome"), ("Rome", "Berlin", "Paris")))
    ]
    answers = [answer for _, answer in sorted(model.choose(asked))]
    for question, answer in zip(asked, answers, strict=True):
        assert len(answer.probabilities) == len(question.options)
        assert math.fsum(answer.probabilities) == pytest.approx(1, abs=1e-5)
        assert answer.choice == answer.probabilities.index(max(answer.probabilities))
        assert 0 < max(answer.probabilities) < 1


def test_it_predicts_the_next_token_of_the_bare_text(model):
    capital, counting = model.predict_next(["The capital of France is", "one, two, three,"])
    assert capital.tokens[0] == " Paris"
    assert counting.tokens[0] == " four"
    assert len(capital.tokens) <= 10
    assert 0.5 < sum(capital.probabilities) <= 1 + 1e-5


def test_a_passage_beyond_its_context_is_counted_and_a_text_refused(model):
    ((_, answer),) = model.answer([Question(id="0", text="Where?", context=PASSAGE * 40)])
    assert answer.truncated
    assert not answer.given
    with pytest.raises(ModelError, match="too long"):
        model.predict_next([PASSAGE * 40])


def test_a_model_that_it_does_not_have_is_refused_by_name(base_url):
    with pytest.raises(ModelError, match="smollm2"):
        load_model(f"openai:{base_url}#gpt-4o", "answerer")
