"""A language model as a classifier: asked once, with the words as options."""

import pytest
from tiny_language import LIMIT, write_tiny_llama

from scope.errors import ModelError
from scope.models import ModelOptions, load_classifier
from scope.models.causal import load
from scope.models.label_words import LabelWordClassifier
from scope.protocols import Classifier, StreamingClassifier
from scope.records import Answer, Question

WORDS = {"positive": "good", "negative": "dull"}
PROMPTS = {"classify": "{text}\none of {labels}:", "choice": "never: {text}"}
OPTIONS = ModelOptions(device="cpu", label_words=WORDS, prompts=PROMPTS)
TEXTS = ["the film was good", "ann saw bob", "a dull film", "zoé {labels}", "the film was good"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("llama")
    write_tiny_llama(made, chat=True)
    return made


@pytest.fixture(scope="module")
def classifier(folder):
    return load_classifier(f"hf:{folder}", OPTIONS)


class PlainScorer:
    """A scorer without a prompt of its own, which notes what it is asked."""

    spec = "python:toys:scorer"
    fingerprint = "scorer"

    def __init__(self, answers):
        self._answers = answers
        self.asked = []

    def choose(self, questions):
        self.asked += questions
        # Backwards: answers come in any order.
        for index in reversed(range(min(len(questions), len(self._answers)))):
            yield index, self._answers[index]


def test_a_language_model_with_label_words_is_a_streaming_classifier(classifier, folder):
    assert isinstance(classifier, LabelWordClassifier)
    assert isinstance(classifier, Classifier)
    assert isinstance(classifier, StreamingClassifier)
    assert classifier.labels == ("positive", "negative")
    assert classifier.spec == f"hf:{folder}"


def test_the_prompt_and_the_words_are_told(classifier):
    assert classifier.prompts == {"classify": PROMPTS["classify"]}
    assert classifier.words == WORDS
    without = LabelWordClassifier(PlainScorer([]), OPTIONS)
    assert without.prompts == {"classify": PROMPTS["classify"]}


def test_a_text_is_put_with_the_prompt_once_and_the_words_are_scored_after_it(classifier, folder):
    bare = ModelOptions(device="cpu", prompts={"choice": "{text}"})
    asked = [
        Question(id=text, text=f"{text}\none of good, dull:", options=("good", "dull"))
        for text in TEXTS
    ]
    wanted = dict(load(str(folder), bare).choose(asked))
    predictions = classifier.classify(TEXTS)
    assert [p.probabilities for p in predictions] == [
        wanted[index].probabilities for index in range(len(TEXTS))
    ]
    assert predictions[0] == predictions[-1]
    assert len({p.probabilities for p in predictions}) == len(set(TEXTS))
    assert dict(classifier.stream(TEXTS)) == dict(enumerate(predictions))


def test_of_a_text_too_long_the_end_is_cut_and_the_question_about_it_stays(classifier):
    texts = ["the film was good " * LIMIT + end for end in ("ann", "bob")]
    first, second = classifier.classify(texts)
    assert first == second
    assert first.truncated
    (other,) = classifier.classify(["a dull " * LIMIT])
    assert other.probabilities != first.probabilities


def test_a_scorer_of_another_kind_is_asked_the_whole_prompt():
    answers = [Answer(choice=0, probabilities=(0.75, 0.25)), Answer(choice=1, probabilities=(0, 1))]
    scorer = PlainScorer(answers)
    predictions = LabelWordClassifier(scorer, OPTIONS).classify(["a film", "dull"])
    assert [p.probabilities for p in predictions] == [(0.75, 0.25), (0, 1)]
    assert [(one.text, one.options) for one in scorer.asked] == [
        ("a film\none of good, dull:", ("good", "dull")),
        ("dull\none of good, dull:", ("good", "dull")),
    ]


def test_words_and_texts_that_look_like_fields_stay_as_they_are():
    scorer = PlainScorer([Answer(choice=0, probabilities=(1, 0))])
    words = ModelOptions(label_words={"a": "{text}", "b": "{labels}"}, prompts=PROMPTS)
    LabelWordClassifier(scorer, words).classify(["of {labels}"])
    assert scorer.asked[0].text == "of {labels}\none of {text}, {labels}:"


def test_choices_without_probabilities_are_refused():
    scorer = PlainScorer([Answer(choice=0)])
    with pytest.raises(ModelError) as raised:
        LabelWordClassifier(scorer, OPTIONS).classify(["a film"])
    assert raised.value.found == (
        "`python:toys:scorer` gives no probabilities for the words good, dull to the text 'a film'"
    )
    assert "an endpoint with log-probabilities" in raised.value.fix


def test_a_text_left_out_is_refused():
    scorer = PlainScorer([Answer(choice=0, probabilities=(1, 0))])
    with pytest.raises(ModelError, match="answers 1 of 2 texts"):
        LabelWordClassifier(scorer, OPTIONS).classify(["a film", "dull"])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ({}, "with 0 label words"),
        ({"good": "good"}, "with 1 label word"),
        ({"good": "good", "bad": " "}, "one of them empty"),
        ({"good": "fine", "bad": "fine"}, "the word `fine` for more than one label"),
    ],
)
def test_without_a_word_of_its_own_for_each_label_there_is_no_classifier(folder, words, found):
    with pytest.raises(ModelError) as raised:
        load_classifier(f"hf:{folder}", ModelOptions(device="cpu", label_words=words))
    assert found in raised.value.found
    assert "--label-word LABEL=WORD" in raised.value.fix


def test_what_could_change_a_prediction_changes_the_fingerprint():
    def fingerprint(words=WORDS, prompts=PROMPTS, model="scorer"):
        scorer = PlainScorer([])
        scorer.fingerprint = model
        return LabelWordClassifier(
            scorer, ModelOptions(label_words=words, prompts=prompts)
        ).fingerprint

    prints = [
        fingerprint(),
        fingerprint(words={"positive": "good", "negative": "bad"}),
        fingerprint(words={"yes": "good", "negative": "dull"}),
        fingerprint(words={"negative": "dull", "positive": "good"}),
        fingerprint(prompts={"classify": "{text} {labels}"}),
        fingerprint(model="other"),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint() == prints[0]


def test_no_text_has_no_prediction(classifier):
    assert classifier.classify([]) == []
