from scope.models.next_token import NextTokenClassifier, next_token_classifier
from scope.protocols import Classifier, StreamingClassifier
from scope.records import Prediction


class Fixed:
    spec = "python:fixed:Fixed"
    fingerprint = "f"

    def __init__(self, prediction):
        self.prediction = prediction

    def predict_next(self, texts):
        return [self.prediction for _ in texts]


def predicted(*pairs, most=20, truncated=False):
    prediction = Prediction(
        tokens=tuple(token for token, _ in pairs),
        probabilities=tuple(share for _, share in pairs),
        truncated=truncated,
    )
    [found] = NextTokenClassifier(Fixed(prediction), most).classify(["a text"])
    return found


def test_it_is_a_classifier_without_labels_of_its_own():
    model = NextTokenClassifier(Fixed(Prediction(probabilities=(1.0,), tokens=("a",))), 5)
    assert isinstance(model, Classifier)
    assert (model.spec, model.labels) == ("python:fixed:Fixed", ())


def test_the_likeliest_token_is_predicted_and_of_equals_the_first_by_text():
    found = predicted((" sea", 0.2), (" war", 0.3), (" end", 0.3), truncated=True)
    assert found == Prediction(
        tokens=(" end", " war", " sea"), probabilities=(0.3, 0.3, 0.2), truncated=True
    )
    assert found.choice == " end"


def test_tokens_beyond_the_number_asked_for_are_left_to_the_rest():
    found = predicted(("a", 0.1), ("b", 0.5), ("c", 0.2), most=2)
    assert (found.tokens, found.probabilities) == (("b", "c"), (0.5, 0.2))


def test_its_answers_are_kept_apart_from_those_of_other_roles_and_numbers_of_tokens():
    model = Fixed(Prediction(probabilities=(1.0,), tokens=("a",)))
    prints = {NextTokenClassifier(model, most).fingerprint for most in (1, 2)}
    assert len(prints | {model.fingerprint}) == 3


class Streaming(Fixed):
    """Answers one by one, the last text first."""

    def stream_next(self, texts):
        for place in reversed(range(len(texts))):
            yield place, self.predict_next([texts[place]])[0]


def test_a_model_that_streams_is_a_classifier_that_streams():
    unordered = Prediction(probabilities=(0.25, 0.75), tokens=("a", "b"))
    model = next_token_classifier(Streaming(unordered), 5)
    assert isinstance(model, StreamingClassifier)
    answers = list(model.stream(["x", "y"]))
    assert [place for place, _ in answers] == [1, 0]
    assert answers[0][1] == Prediction(probabilities=(0.75, 0.25), tokens=("b", "a"))
    assert not isinstance(next_token_classifier(Fixed(unordered), 5), StreamingClassifier)
