"""Models whose bytes cannot be hashed are recognised by an answer that is asked for again."""

import contextlib
import json
from types import SimpleNamespace

import pytest

import scope
from scope.answers import CachedClassifier, Run
from scope.answers.asking import (
    ASKINGS,
    REPEATED,
    may_change,
    recognise_answerer,
    recognise_classifier,
)
from scope.errors import RunError
from scope.models.model import Model
from scope.progress import Silent
from scope.records import Answer, Prediction, Question
from scope.records.result import TEXT_BY_TEXT

TEXTS = [f"text number {place}" for place in range(30)]
QUESTIONS = [Question(id=str(place), text=text) for place, text in enumerate(TEXTS)]
TASK = SimpleNamespace(name="extractive_qa", role="answerer")


class Classifier:
    """Says what ``positive`` gives of a text, and remembers what it was asked."""

    spec, fingerprint, labels = "python:mine:Model", "same", ("no", "yes")

    def __init__(self, positive=0.75):
        self.positive = positive if callable(positive) else lambda text: positive
        self.asked = []

    def classify(self, texts):
        self.asked += texts
        shares = map(self.positive, texts)
        return [Prediction(probabilities=(1 - share, share)) for share in shares]


class Answerer:
    spec, fingerprint = "openai:http://here/v1#m", "same"

    def __init__(self, *words, served=""):
        self.words, self.served, self.asked = list(words), served, []

    def answer(self, questions):
        self.asked += [one.text for one in questions]
        word = self.words.pop(0) if len(self.words) > 1 else self.words[0]
        yield from ((place, Answer(text=word)) for place in range(len(questions)))


@pytest.fixture
def run(tmp_path):
    with Run.open(tmp_path / "mine", {"job": "audit"}) as opened:
        yield opened


def known(run, model, texts=TEXTS):
    run.keep(model.fingerprint, dict(zip(texts, model.classify(texts), strict=True)))


def recognise(run, model, texts=TEXTS):
    recognise_classifier(Model(name="mine", role="target", adapter=model), texts, run, Silent())


def recognise_words(run, model):
    recognise_answerer(Model(name="mine", adapter=model), TASK, QUESTIONS, run, Silent())


def test_only_schemes_whose_bytes_are_hashed_are_believed():
    specs = ("hf:a", "a/b", "gguf:a.gguf", "predictions:a.jsonl", "mine", "")
    assert not any(may_change(SimpleNamespace(spec=spec)) for spec in specs)
    for spec in ("python:a:b", "openai:http://a/v1#b", "ofaplugin:x"):
        assert may_change(SimpleNamespace(spec=spec))


def test_a_new_run_asks_eight_texts_alone_and_together(run):
    model = Classifier()
    recognise(run, model)
    assert model.asked == TEXTS[:REPEATED] * 2
    assert set(run.known("same", TEXTS)) == set(TEXTS[:REPEATED])
    assert (hasattr(model, "asked_alone"), run.asked_again, run.drifts) == (False, 0, [])


def test_a_model_that_is_equal_in_any_batch_is_not_asked_before(run):
    for model in (Classifier(), Classifier()):
        model.reproducible = "to the byte, 8 rows at a time"
        recognise(run, model)
        assert model.asked == []


class Crowd(Classifier):
    """Is the surer the more texts it is asked at once."""

    def classify(self, texts):
        self.asked.append(len(texts))
        share = 0.5 + min(len(texts), 40) / 100
        return [Prediction(probabilities=(1 - share, share)) for _ in texts]


def test_a_model_whose_answers_depend_on_the_batch_is_asked_text_by_text(run):
    model = Crowd()
    recognise(run, model)
    assert model.asked == [REPEATED] + REPEATED * [1]
    assert Model(name="mine", adapter=model).card().reproducible == TEXT_BY_TEXT
    answers = CachedClassifier(model, run).classify(TEXTS[:20])
    assert {one.probabilities for one in answers} == {(0.49, 0.51)}


def test_a_later_session_asks_it_text_by_text_and_recognises_it(run):
    recognise(run, Crowd())
    again = Crowd()
    recognise(run, again)
    assert (again.asked, again.asked_alone) == ([1] * REPEATED, True)
    assert (run.asked_again, run.drifts) == (REPEATED, [])


def test_the_same_model_is_asked_eight_texts_and_has_no_drift(run):
    known(run, Classifier())
    model = Classifier()
    recognise(run, model)
    assert model.asked == TEXTS[:REPEATED]
    assert (run.asked_again, run.drifts) == (REPEATED, [])


def test_drift_is_told_and_leaves_the_stored_answers(run):
    known(run, Classifier(0.75))
    recognise(run, Classifier(0.7505))
    (told,) = run.drifts
    assert "differ by up to 0.0005" in told
    assert run.known("same", TEXTS[:1])[TEXTS[0]].probabilities == (0.25, 0.75)


def test_an_answer_beyond_drift_is_another_model(run):
    known(run, Classifier(0.75))
    model = Classifier(0.7521)
    with pytest.raises(RunError) as caught:
        recognise(run, model)
    assert "'text number 0' with probabilities that differ by 0.0021" in caught.value.found
    assert "--run" in caught.value.fix
    assert len(model.asked) == ASKINGS * REPEATED


def test_a_change_of_one_answer_among_eight_is_another_model(run):
    known(run, Classifier(0.75))
    with pytest.raises(RunError, match="'text number 5' with probabilities that differ by"):
        recognise(run, Classifier(lambda text: 0.25 if text == TEXTS[5] else 0.75))


class Server(Classifier):
    """An endpoint whose probabilities depend on how many requests it gets at once."""

    spec, served = "openai:http://here/v1#m", "m"

    def __init__(self, positive=0.5, spread=0.0):
        super().__init__(positive)
        self.spread = spread

    def classify(self, texts):
        self.asked.append(len(texts))
        share = self.positive(texts[0]) + self.spread * (len(texts) > 1)
        return [Prediction(probabilities=(1 - share, share)) for _ in texts]

    def answer(self, questions):
        """In words, of which a share, the ``spread``, depends on it."""
        self.asked.append(len(questions))
        for place, question in enumerate(questions):
            other = len(questions) == 1 and int(question.id) < REPEATED * self.spread
            yield place, Answer(text=f"{self.positive(question.text)}{'?' * other}")


SERVERS = [
    # asked for labels or words, at first and later; the spread; then asked again, and the drift
    (recognise, Server(), Server(), "", 1, ""),
    (recognise, Server(), Server(0.5005), "", 1, "by up to 0.0005 (at most 0.001 is"),
    (recognise, Server(), Server(0.51), "", None, ""),
    (recognise, Server(0.49, 0.02), Server(0.49, 0.02), "by up to 0.02, and 0 of 8", REPEATED, ""),
    (recognise, Server(0.49, 0.02), Server(0.49), "", REPEATED, "by up to 0.02 (at most 0.02 is"),
    (recognise, Server(0.49, 0.02), Server(0.8, 0.02), "by up to 0.02, and 0 of 8", None, ""),
    (recognise_words, Server("a"), Server("a"), "", 1, ""),
    (recognise_words, Server("a"), Server("b"), "", None, ""),
    (recognise_words, Server("a", 0.5), Server("a", 0.5), "4 of 8 answers", REPEATED, ""),
    (recognise_words, Server("a", 0.5), Server("b"), "4 of 8 answers", None, ""),
]


@pytest.mark.parametrize(("again", "first", "later", "described", "asked", "drift"), SERVERS)
def test_an_endpoint_is_recognised_within_the_spread_of_its_first_answers(
    run, again, first, later, described, asked, drift
):
    again(run, first)
    assert first.asked == [REPEATED] + [1] * REPEATED
    assert described in Model(name="mine", adapter=first).card().reproducible
    with contextlib.nullcontext() if asked else pytest.raises(RunError, match="is not the model"):
        again(run, later)
        assert (later.asked, run.asked_again) == ([asked], asked)
    assert len(run.drifts) == bool(drift)
    assert drift in "".join(run.drifts)


def test_the_id_that_an_endpoint_gives_is_kept(run):
    recognise_words(run, Answerer("a wall", served="may"))
    recognise_words(run, Answerer("a wall", served="may"))
    with pytest.raises(RunError, match=r"with the model `june`.*are from `may`"):
        recognise_words(run, Answerer("a wall", served="june"))


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
