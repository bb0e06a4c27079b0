"""Ten ways to give a model from Python answer alike, and what is no model says what it lacks."""

import contextlib
import dataclasses
import functools
import gc

import numpy as np
import pandas as pd
import pytest
import toy_models
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import scope
from scope.answers import Memory
from scope.errors import ModelError, RunError, SpecError
from scope.models.options import ModelOptions
from scope.models.python import adapted
from scope.models.scheme import load_model
from scope.records import Question

TEXTS = ["a fine day", "the dull film", "good"]
OPTIONS = ModelOptions()
TASK = "text-classification"
SPEC = "python:toy_models:Reference"


def rows(texts):
    return toy_models.Reference().classify(texts)


def a_function(answer):
    def model(texts):
        return answer(rows(texts))

    model.labels = toy_models.Reference.labels
    return model


def frame(values):
    return pd.DataFrame(values, columns=["negative", "positive"])


WAYS = {
    "a spec": SPEC,
    "a class": toy_models.Reference,
    "a function to a list": a_function(list),
    "a function to a data frame": a_function(frame),
    "a data frame in another order": a_function(
        lambda given: frame(given)[["positive", "negative"]]
    ),
    "labels from the columns": lambda texts: frame(rows(texts)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_classifier_answers_alike_in_every_form(way):
    expected = load_model(SPEC, "classifier").classify(TEXTS)
    model = load_model(SPEC, "classifier") if way == "a spec" else adapted(WAYS[way], OPTIONS)
    assert model.labels == ("negative", "positive")
    assert model.classify(TEXTS) == expected


@pytest.mark.parametrize("method", [None, "predict_proba"])
def test_an_estimator_of_scikit_learn_names_its_labels(method):
    pipeline = fitted()
    model = adapted(getattr(pipeline, method) if method else pipeline, OPTIONS)
    assert model.labels == ("0", "1")
    given = [one.probabilities for one in model.classify(TEXTS)]
    assert np.allclose(given, pipeline.predict_proba(TEXTS), atol=1e-6)
    assert model.fingerprint == adapted(pipeline, OPTIONS).fingerprint


@pytest.fixture
def checkpoint(heads):
    return heads["classifier"]


def pair(folder, kind):
    import transformers

    model = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(folder)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def test_a_model_with_its_tokenizer_and_their_pipeline_answer_as_their_checkpoint(checkpoint):
    from transformers import pipeline

    model, tokenizer = pair(checkpoint, "SequenceClassification")
    both = adapted((model, tokenizer), OPTIONS)
    piped = pipeline(TASK, model=model, tokenizer=tokenizer, device="cpu")
    same = adapted(piped, OPTIONS)
    expected = load_model(str(checkpoint), "classifier").classify(TEXTS)
    assert both.classify(TEXTS) == same.classify(TEXTS) == expected
    assert both.fingerprint == same.fingerprint
    assert both.spec.startswith("object:classifier#")
    model.fingerprint = "weights of May"
    assert adapted(piped, OPTIONS).fingerprint == model.fingerprint


@pytest.mark.parametrize(
    ("name", "kind", "task", "method", "role"),
    [
        ("bert", "MaskedLM", "fill-mask", "fill", "mask_filler"),
        ("bert_qa", "QuestionAnswering", "question-answering", "answer", "answerer"),
        ("bart", "Seq2SeqLM", "text2text-generation", "answer", "answerer"),
    ],
)
def test_pipelines_have_the_roles_of_their_heads(heads, name, kind, task, method, role):
    from transformers import pipeline

    model, tokenizer = pair(heads[name], kind)
    try:
        given = adapted(pipeline(task, model=model, tokenizer=tokenizer, device="cpu"), OPTIONS)
    except KeyError as error:
        pytest.skip(f"this release of transformers has no such pipeline: {error}")
    text = "the film was ____" if method == "fill" else "who saw the film"
    asked = [Question(id="0", text=text, context="ann saw the film in paris")]
    expected = load_model(str(heads[name]), role)
    assert list(getattr(given, method)(asked)) == list(getattr(expected, method)(asked))


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (3, "a int that cannot be called"),
        (rows, "a function without `labels`"),
        (lambda texts: 1 / 0, "failed in `classify`: ZeroDivisionError"),
        (LogisticRegression(), "that is not fitted"),
        (a_function(lambda given: pd.DataFrame(given, columns=["n", "y"])), "the columns n, y"),
    ],
)
def test_what_is_no_model_is_refused(model, found):
    with pytest.raises(ModelError, match=found):
        adapted(model, OPTIONS).classify(TEXTS)


@pytest.mark.parametrize("place", ["name", "__name__", "columns"])
def test_a_name_that_cannot_be_written_is_refused(place):
    names = pd.Index(["no", "\ud800"], dtype=object)
    model = a_function(lambda given: pd.DataFrame(given, columns=names))
    setattr(model, place, "\ud800")
    if place == "columns":
        del model.labels
    with pytest.raises(ModelError, match="which cannot be written as UTF-8"):
        adapted(model, OPTIONS)


def test_a_model_without_its_tokenizer_says_how_to_pass_both(checkpoint):
    model, _ = pair(checkpoint, "SequenceClassification")
    with pytest.raises(ModelError, match=r"in a list of models as \[\(model, tokenizer\)\]"):
        adapted(model, OPTIONS)


class Answers:
    """A model of the user's own, which gives one answer and may carry a fingerprint."""

    labels = ("no", "yes")

    def __init__(self, answer=1, **attributes):
        self.answer = answer
        self.__dict__.update(attributes)

    def choose(self, questions):
        return [self.answer for _ in questions]

    def classify(self, texts):
        return pd.DataFrame([(1 - self.answer, self.answer)] * len(texts), columns=self.labels)


MEMBERS = {"labels": Answers.labels, "classify": Answers.classify}
Slotted = dataclasses.make_dataclass("Slotted", ["answer"], slots=True, namespace=MEMBERS)


def a_partial(answer):
    return functools.partial(Answers.classify, Answers(answer))


def fitted(answer=1):
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression(C=9))
    return pipeline.fit(TEXTS, [answer, 1 - answer, answer])


OBJECTS = {
    "of a class": (Answers, "object:Answers#", 0),
    "of one name": (lambda answer: Answers(answer, name="mine"), "object:mine#", 0),
    "with slots": (Slotted, "object:Slotted#", 0),
    "bound methods": (lambda answer: Answers(answer).classify, "object:classify#", 0),
    "partial functions": (a_partial, "object:partial#", 0),
    "fitted pipelines": (fitted, "object:Pipeline#", 0),
    "a fingerprint each": (lambda n: Answers(n, fingerprint=f"f {n}"), "memory:Answers#", 0),
    "one fingerprint": (lambda answer: Answers(answer, fingerprint="f"), "memory:Answers#", 1),
    "no text as such": (lambda answer: Answers(answer, fingerprint=3), "object:Answers#", 0),
}
"""Two objects with opposite answers, the spec of the first, and the share of equal answers."""


@pytest.mark.parametrize("kind", OBJECTS)
def test_an_object_is_answered_from_no_other_object_unless_both_carry_one_fingerprint(kind):
    make, spec, agreement = OBJECTS[kind]
    passed, store = (make(0), make(1)), Memory()
    first, second, again = (adapted(model, OPTIONS) for model in (*passed, passed[0]))
    assert (again.spec, again.fingerprint) == (first.spec, first.fingerprint)
    assert first.spec.startswith(spec)
    assert (first.spec == second.spec) == agreement
    answers = [store.get(model, "classifier", TEXTS) for model in (first, second)]
    same = [one.choice == other.choice for one, other in zip(*answers, strict=True)]
    assert np.mean(same) == agreement


def test_an_object_that_takes_the_place_of_one_that_is_gone_is_another_model():
    gone = adapted(Answers(), OPTIONS).fingerprint
    gc.collect()
    assert adapted(Answers(), OPTIONS).fingerprint != gone


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"truncation": True, "top_k": None}, None),
        ({"truncation": True, "max_length": 8}, "with max_length, which SCoPE would leave out"),
        ({"function_to_apply": "none"}, "with function_to_apply, which"),
    ],
)
def test_a_pipeline_adds_nothing_to_its_model(checkpoint, settings, found):
    from transformers import pipeline

    model, tokenizer = pair(checkpoint, "SequenceClassification")
    piped = pipeline(TASK, model=model, tokenizer=tokenizer, device="cpu", **settings)
    with pytest.raises(ModelError, match=found) if found else contextlib.nullcontext():
        adapted(piped, OPTIONS)


DATA = [{"question": f"n {n}", "options": ["no", "yes"], "answer": n % 4 and 1} for n in range(12)]


def accuracies(run, *models):
    result = scope.compare(models=models, tasks="choice", data=DATA, run=run)
    rows = [row for row in result.measurements if row.metric == "accuracy"]
    return [row.estimate.value for row in rows], result.clock.drifts


def test_a_finished_run_asks_an_object_anew_and_one_with_a_fingerprint_for_eight_answers(tmp_path):
    other = Answers(0, name="other")
    assert accuracies(tmp_path / "anew", Answers(name="mine"), other)[0] == [0.75, 0.25]
    assert accuracies(tmp_path / "anew", Answers(0, name="mine"), other)[0] == [0.25, 0.25]
    accuracies(tmp_path / "known", Answers(name="mine", fingerprint="of May"), other)
    with pytest.raises(RunError, match="`memory:mine` is not the model whose answers"):
        accuracies(tmp_path / "known", Answers(0, name="mine", fingerprint="of May"), other)


def test_an_object_that_changes_while_it_lives_is_asked_anew(tmp_path):
    models = [Answers(name="changing"), Answers(0, name="staying")]
    assert accuracies(tmp_path / "mine", *models) == ([0.75, 0.25], ())
    models[0].answer = 0
    said = "changing answers differently than before: it is asked anew"
    assert accuracies(tmp_path / "mine", *models) == ([0.25, 0.25], (said,))


def test_one_object_named_twice_is_refused(tmp_path):
    model = Answers()
    with pytest.raises(SpecError, match=r"`object:Answers#\d+` is listed twice"):
        accuracies(tmp_path / "mine", model, model)
