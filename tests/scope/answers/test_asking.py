"""Models whose bytes cannot be hashed are recognised by an answer that is asked for again."""

import json
from types import SimpleNamespace

import pytest

import scope
from scope.answers import Run, asking
from scope.answers.asking import ASKINGS, REPEATED, may_change
from scope.errors import ModelError, RunError
from scope.models.scheme import Model
from scope.progress import Silent
from scope.records import Answer, Prediction, Question
from scope.records.result import TEXT_BY_TEXT

TEXTS = [f"text number {place}" for place in range(30)]
QUESTIONS = [Question(id=str(place), text=text) for place, text in enumerate(TEXTS)]


class Classifier:
    """Says what ``positive`` gives of a text, more if asked several; remembers how many it got."""

    spec, fingerprint, labels = "python:mine:Model", "same", ("no", "yes")

    def __init__(self, positive=0.75, spread=0.0):
        self.positive = positive if callable(positive) else lambda text: positive
        self.spread, self.asked = spread, []

    def classify(self, texts):
        self.asked.append(len(texts))
        shares = [self.positive(text) + self.spread * (len(texts) > 1) for text in texts]
        return [Prediction(probabilities=(1 - share, share)) for share in shares]


class Server(Classifier):
    """An endpoint, which may also answer in words, and a share of them otherwise alone."""

    spec, served = "openai:http://here/v1#m", "may"

    def answer(self, questions):
        self.asked.append(len(questions))
        for place, question in enumerate(questions):
            if self.positive(question.text) is None:
                yield place, Answer(missing="server")
                continue
            other = len(questions) == 1 and int(question.id) < REPEATED * self.spread
            yield place, Answer(text=f"{self.positive(question.text)}{'?' * other}")


@pytest.fixture
def run(tmp_path):
    with Run.open(tmp_path / "mine", {"job": "audit"}) as opened:
        yield opened


def recognise(run, model, texts=TEXTS):
    asking.recognise(Model(name="mine", adapter=model), "classifier", texts, run, Silent())


def recognise_words(run, model):
    asking.recognise(Model(name="mine", adapter=model), "answerer", QUESTIONS, run, Silent())


def test_only_schemes_whose_bytes_are_hashed_are_believed():
    specs = ("hf:a", "a/b", "gguf:a.gguf", "predictions:a.jsonl", "mine", "")
    assert not any(may_change(SimpleNamespace(spec=spec)) for spec in specs)
    for spec in ("python:a:b", "openai:http://a/v1#b", "ofaplugin:x"):
        assert may_change(SimpleNamespace(spec=spec))


def test_a_model_that_is_equal_in_any_batch_is_not_asked_before(run):
    model = Classifier()
    model.reproducible = "to the byte, 8 rows at a time"
    recognise(run, model)
    assert model.asked == []


def one_other(text):
    return 0.25 if text == TEXTS[5] else 0.75


ALONE = [1] * REPEATED
SESSIONS = [
    # recognised by, the model at first and later, how it is described, what is asked again, drift
    (recognise, Classifier(), Classifier(), "", [REPEATED], ""),
    (recognise, Classifier(), Classifier(0.7505), "", [REPEATED], "differ by up to 0.0005 (at"),
    (recognise, Classifier(), Classifier(0.7521), "", None, "text number 0' with probabilities"),
    (recognise, Classifier(), Classifier(one_other), "", None, "text number 5' with probabilities"),
    (recognise, Classifier(0.5, 0.1), Classifier(0.5, 0.1), TEXT_BY_TEXT, ALONE, ""),
    (recognise, Server(0.5), Server(0.5), "", [1], ""),
    (recognise, Server(0.5), Server(0.51), "", None, "that differ by 0.01"),
    (recognise, Server(0.49, 0.02), Server(0.49, 0.02), "up to 0.02, and 0 of", [REPEATED], ""),
    (recognise, Server(0.49, 0.02), Server(0.49), "", [REPEATED], "up to 0.02 (at most 0.021 is"),
    (recognise, Server(0.49, 0.02), Server(0.8, 0.02), "up to 0.02", None, "that differ by 0.31"),
    (recognise_words, Server("a"), Server("a"), "", [1], ""),
    (recognise_words, Server("a"), Server("b"), "", None, "another choice"),
    (recognise_words, Server("a", 0.5), Server("a", 0.5), "4 of 8 answers", [REPEATED], ""),
    (recognise_words, Server("a", 0.5), Server("b"), "4 of 8 answers", None, "another choice"),
]


@pytest.mark.parametrize(("again", "first", "later", "described", "asked", "noted"), SESSIONS)
def test_a_model_is_recognised_within_the_spread_of_its_first_answers(
    run, again, first, later, described, asked, noted
):
    again(run, first)
    assert first.asked == [REPEATED, *ALONE]
    assert described in Model(name="mine", adapter=first).card().reproducible
    stored = run.known("same", TEXTS)
    assert set(stored) == set(TEXTS[:REPEATED] if again is recognise else ())
    if asked is None:
        with pytest.raises(RunError, match=noted) as refused:
            again(run, later)
        assert "--run" in refused.value.fix
        assert len(later.asked) == ASKINGS
    else:
        again(run, later)
        assert (later.asked, run.asked_again) == (asked, sum(asked))
        assert noted in "".join(run.drifts)
    assert len(run.drifts) == bool(asked and noted)
    assert run.known("same", TEXTS) == stored


def test_a_question_that_a_server_fails_at_says_nothing_of_the_model(run):
    model = Server(lambda text: None if text == TEXTS[3] else "a")
    recognise_words(run, model)
    assert not hasattr(model, "varies")
    with pytest.raises(ModelError, match=r"fails at 'text number 0', by whose answer"):
        recognise_words(run, Server(lambda text: None))


def test_the_id_that_an_endpoint_gives_is_kept(run):
    recognise_words(run, Server("a wall"))
    other = Server("a wall")
    other.served = "june"
    with pytest.raises(RunError, match=r"with the model `june`.*are from `may`"):
        recognise_words(run, other)


def test_a_refused_run_keeps_all_it_holds(tmp_path, monkeypatch):
    import toy_answerers

    path = tmp_path / "questions.jsonl"
    rows = [
        {"question": f"Number {place}?", "options": ["a", "b", "c"], "answer": 0}
        for place in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def compare():
        return scope.compare(
            models=["python:toy_answerers:Reader", "python:toy_answerers:Skimmer"],
            tasks="choice",
            data=str(path),
            run=tmp_path / "mine",
        )

    first = compare()
    with monkeypatch.context() as patch:
        patch.setattr(toy_answerers.Skimmer, "salt", "retrained")
        before = (tmp_path / "mine/result.json").read_bytes()
        with pytest.raises(RunError, match="`python:toy_answerers:Skimmer` is not the model"):
            compare()
        assert (tmp_path / "mine/result.json").read_bytes() == before
    again = compare()
    assert again.tasks == first.tasks
    assert again.clock.asked_again == 16
