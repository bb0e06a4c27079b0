"""An endpoint as a classifier: the words are told with their letters, in one prompt."""

import pytest
from stub_server import MODEL, Say

from scope.models import ModelOptions, load_classifier
from scope.models.labels import AlignedClassifier
from scope.protocols import StreamingClassifier

WORDS = {"positive": "good", "negative": "dull"}
LETTERS = "A. good\nB. dull\nAnswer with the letter of the right option alone.\nAnswer:"


def test_the_id_of_the_model_is_known_through_what_makes_it_a_classifier(classifier, stub):
    model = AlignedClassifier(classifier(), ["negative", "positive"], {})
    assert model.served == ""
    top = {"token": "A", "top_logprobs": [{"token": "A", "logprob": -0.1}]}
    choice = {"message": {"content": "A"}, "logprobs": {"content": [top]}}
    stub.script.append(Say(body={"model": "weights-of-may", "choices": [choice]}))
    model.classify(["a film"])
    assert model.served == "weights-of-may"


@pytest.fixture
def classifier(stub):
    def open_classifier(**prompts):
        options = ModelOptions(label_words=WORDS, prompts=prompts, retries=0)
        return load_classifier(f"openai:{stub.url}#{MODEL}", options)

    return open_classifier


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{text} Is it {labels}?", f"{{}} Is it good, dull?\n{LETTERS}"),
        ("{text} Is it {labels}?\nAnswer:\n", f"{{}} Is it good, dull?\n{LETTERS}"),
        ("{text}\n{options}\n{labels}: which?", "{}\nA. good\nB. dull\ngood, dull: which?"),
    ],
)
def test_the_prompt_ends_in_the_letters_unless_it_tells_them(classifier, stub, template, shown):
    wanted = shown.format("A film. Answer: A")
    stub.words[wanted.partition("\n")[0]] = "A"
    classifier(classify=template).classify(["A film. Answer: A"])
    (asked,) = stub.asked
    assert asked["messages"][0]["content"] == wanted


def test_its_predictions_are_the_probabilities_of_the_letters(classifier, stub):
    stub.likeliest |= {"a good film": {"A": 0.6, "B": 0.2}, "a dull film": {"B": 0.9}}
    model = classifier(classify="{text}\n{labels}")
    assert isinstance(model, StreamingClassifier)
    assert model.labels == ("positive", "negative")
    predictions = model.classify(["a good film", "a dull film"])
    assert [one.probabilities for one in predictions] == [(0.75, 0.25), (0.0, 1.0)]
