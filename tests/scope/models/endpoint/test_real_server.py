"""A real OpenAI-compatible server, llama.cpp's, with a real model of language on loopback."""

import math
import subprocess
import sys

import pytest

from scope import audit
from scope.jobs.pages import html_of
from scope.models.options import ModelOptions
from scope.models.scheme import load_model
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
def served(smollm2_file):
    pytest.importorskip("xllamacpp")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, smollm2_file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        address = server.stdout.readline().strip()
        yield f"openai:{address}/v1#smollm2"
        server.stdin.close()
        assert server.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def model(served):
    options = ModelOptions(requests=2, max_answer_tokens=16, next_tokens=10)
    return load_model(served, "answerer", options)


def test_it_answers_fills_chooses_and_predicts(model):
    question = Question(
        id="0",
        text="In which city is the Eiffel Tower?",
        context=PASSAGE,
        options=("Rome", "Berlin", "Paris"),
    )
    ((_, answer),) = model.answer([question])
    assert "Paris" in answer.text
    ((_, filled),) = model.fill([Question(id="0", text="The cat drank a bowl of ____.")])
    assert filled.text
    assert " " not in filled.text
    ((_, chosen),) = model.choose([question])
    assert math.fsum(chosen.probabilities) == pytest.approx(1, abs=1e-5)
    assert chosen.choice == chosen.probabilities.index(max(chosen.probabilities))
    assert 0 < max(chosen.probabilities) < 1
    # The next token is that of the bare text.
    capital, counting = model.predict_next(["The capital of France is", "one, two, three,"])
    assert capital.tokens[0] == " Paris"
    assert counting.tokens[0] == " four"
    assert len(capital.tokens) <= 10
    assert 0.5 < sum(capital.probabilities) <= 1 + 1e-5


def test_it_answers_plain_prompts_and_scores_no_given_answer(served):
    """Neither its chats nor its completions show the probabilities of a prompt."""
    plain = load_model(served, "answerer", ModelOptions(chat="no", max_answer_tokens=16))
    ((_, answer),) = plain.answer([Question(id="0", text="Where is it?", context=PASSAGE)])
    assert "Paris" in answer.text
    assert not plain.can_score()
    assert not load_model(served, "answerer", ModelOptions()).can_score()


FILMS = ("the plot", "this comedy", "her new film", "the long second part", "a tale of two cooks")
VIEWS = {
    "positive": ("is warm and funny .", "made me smile .", "deserves every prize ."),
    "negative": ("is a dull mess .", "put me to sleep .", "wastes a fine cast ."),
}


def test_a_file_and_the_server_of_it_are_asked_alike(served, smollm2_file, tmp_path):
    """Asked for words here and for letters there, they agreed on half of the texts."""
    data = [
        (f"{film} {view}", label)
        for film in FILMS
        for label, views in VIEWS.items()
        for view in views
    ]
    words = {"negative": "weak", "positive": "strong"}
    prompts = {"classify": "{text}\n\nWhich of these describes the text above: {labels}?"}
    result = audit(
        reference=f"hf:{smollm2_file}",
        targets=[served],
        data=data,
        capabilities=["typo"],
        n_search=6,
        trials=1,
        candidates=2,
        runs=tmp_path,
        model_options=ModelOptions(label_words=words, prompts=prompts, requests=2),
    )
    values = {row.metric: row.estimate.value for row in result.measurements[::-1]}
    assert result.verdicts[0].decision in ("may replace", "not shown")
    # The kernels of llama.cpp shift the log-odds by about 0.1.
    assert values["iid_agreement"] >= 0.8
    for shares in result.answer_shares:
        assert max(shares.counts.values()) <= 0.8 * shares.n
        assert 0 < shares.accuracy.value < 1
    assert "All models choose by writing the letter" in html_of(result)


def test_a_passage_or_a_text_beyond_its_context_is_no_answer(model):
    ((_, answer),) = model.answer([Question(id="0", text="Where?", context=PASSAGE * 40)])
    assert (answer.truncated, answer.given) == (True, False)
    assert model.predict_next([PASSAGE * 40])[0].missing == "cut off"
