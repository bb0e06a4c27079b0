"""Labels of two models are aligned; a language model is a classifier by words or next tokens."""

import pytest
from hypothesis import given, strategies as st

from scope.answers import CachedClassifier, Memory
from scope.errors import ModelError, SpecError
from scope.models.huggingface import load
from scope.models.labels import (
    AlignedClassifier,
    LabelWordClassifier,
    NextTokenClassifier,
    align_examples,
    parse_label_map,
)
from scope.models.options import ModelOptions
from scope.models.scheme import load_classifier
from scope.records import Answer, Example, Prediction, Question


class Fixed:
    """Gives every text the same probabilities, cut texts being those that start with `long`."""

    spec = "python:fixed:Fixed"
    fingerprint = "f"

    def __init__(self, labels, probabilities):
        self.labels = labels
        self.probabilities = probabilities

    def classify(self, texts):
        return [
            Prediction(probabilities=self.probabilities, truncated=text.startswith("long"))
            for text in texts
        ]


class Streaming(Fixed):
    def stream(self, texts):
        return reversed(list(enumerate(self.classify(texts))))


@pytest.mark.parametrize("kind", [Fixed, Streaming])
@given(pairs=st.permutations([("negative", 0.1), ("Neutral", 0.2), ("POSITIVE", 0.7)]))
def test_permuted_labels_give_permuted_probabilities(kind, pairs):
    target = AlignedClassifier(
        kind(*zip(*pairs, strict=True)), ("Negative", "neutral", "positive"), {}
    )
    wanted = [
        Prediction(probabilities=(0.1, 0.2, 0.7)),
        Prediction(probabilities=(0.1, 0.2, 0.7), truncated=True),
    ]
    assert target.labels == ("Negative", "neutral", "positive")
    assert target.classify(["short", "long"]) == wanted
    if kind is Streaming:
        assert list(target.stream(["short", "long"])) == [(1, wanted[1]), (0, wanted[0])]


@pytest.mark.parametrize("given", [(0.9,), (0.5, 0.5, 0.0)])
def test_too_few_or_too_many_probabilities_are_refused_by_name(given):
    target = AlignedClassifier(Fixed(("b", "a"), given), ("a", "b"), {})
    with pytest.raises(ModelError, match="expected: 2 probabilities that sum to 1"):
        CachedClassifier(target, Memory()).classify(["short"])


def test_a_label_map_names_either_models_labels_whatever_their_case():
    target = AlignedClassifier(
        Fixed(("LABEL_0", "LABEL_1"), (0.2, 0.8)),
        ("pos", "negative"),
        parse_label_map(["label_0 = NEGATIVE", "Label_1=positive", "pos=Positive", "pos=Positive"]),
    )
    assert target.classify(["a"])[0].probabilities == (0.8, 0.2)


def test_labels_that_do_not_align_are_shown_side_by_side():
    with pytest.raises(ModelError) as raised:
        AlignedClassifier(
            Fixed(("entailment", "neutral"), (0.5, 0.5)), ("negative", "neutral", "positive"), {}
        )
    assert "\n  negative  |  entailment\n  neutral   |  neutral\n" in raised.value.found
    assert "--label-map entailment=NAME" in raised.value.fix


@pytest.mark.parametrize("entry", ["a", "=b", "a=", " = ", "a=c"])
def test_an_entry_of_a_label_map_is_old_and_new_each_old_once(entry):
    with pytest.raises(SpecError, match=f"the label map `{entry}`"):
        parse_label_map(["A=b", entry])


def test_gold_labels_are_spelled_as_the_reference_spells_them():
    examples = [
        Example(id="0", text="a", label="POSITIVE"),
        Example(id="1", text="b", label="0"),
        Example(id="2", text="c"),
    ]
    aligned = align_examples(examples, ("Negative", "Positive"), {"0": "negative"})
    assert [example.label for example in aligned] == ["Positive", "Negative", None]
    assert [example.text for example in aligned] == ["a", "b", "c"]


def test_gold_labels_that_do_not_align_are_shown_side_by_side():
    examples = [Example(id=label, text="a", label=label) for label in "21"]
    with pytest.raises(ModelError, match="--label-map 2=negative; or omit gold labels") as raised:
        align_examples(examples, ("negative", "1"), {})
    assert "\n  negative  |  1\n  1         |  2\n" in raised.value.found


@pytest.mark.parametrize("theirs", [("a", "b", "c"), ("a",), ("a", "A"), ("b", "b")])
def test_labels_too_many_too_few_or_alike_are_refused(theirs):
    with pytest.raises(ModelError, match="labels that do not align"):
        AlignedClassifier(Fixed(theirs, (1.0,) * len(theirs)), ("a", "b"), {})


WORDS = {"positive": "good", "negative": "dull"}
PROMPTS = {"classify": "{text}\none of {labels}:", "choice": "never: {text}"}
OPTIONS = ModelOptions(device="cpu", label_words=WORDS, prompts=PROMPTS)
TEXTS = ["the film was good", "ann saw bob", "a dull film", "zoé {labels}", "the film was good"]


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


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_a_text_is_put_with_the_prompt_once_and_the_words_are_scored_after_it(
    heads, llama_folders, name
):
    folder = llama_folders[True] if name == "llama" else heads[name]
    classifier = load_classifier(f"hf:{folder}", OPTIONS)
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


def test_a_scorer_of_another_kind_is_asked_the_whole_prompt():
    answers = [Answer(choice=0, probabilities=(0.75, 0.25)), Answer(missing="refused")]
    scorer = PlainScorer(answers)
    predictions = LabelWordClassifier(scorer, OPTIONS).classify(["a film", "dull"])
    assert predictions[0].probabilities == (0.75, 0.25)
    assert predictions[1].missing == "refused"
    assert [(one.text, one.options) for one in scorer.asked] == [
        ("a film\none of good, dull:", ("good", "dull")),
        ("dull\none of good, dull:", ("good", "dull")),
    ]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Answer(choice=0), "gives no probabilities for the words good, dull"),
        (Answer(choice=0, probabilities=(1, 0)), "leaves 1 of 2 texts without"),
    ],
)
def test_choices_without_probabilities_and_texts_left_out_are_refused(answer, found):
    with pytest.raises(ModelError, match=f"`python:toys:scorer` {found}"):
        LabelWordClassifier(PlainScorer([answer]), OPTIONS).classify(["a film", "dull"])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ({"good": "good", "bad": " "}, "one of them empty"),
        ({"good": "fine", "bad": "fine"}, "the word `fine` for more than one label"),
    ],
)
def test_without_a_word_for_each_label_there_is_no_classifier(llama_folders, words, found):
    options = ModelOptions(device="cpu", label_words=words)
    with pytest.raises(ModelError, match=found):
        load_classifier(f"hf:{llama_folders[True]}", options)


def test_what_could_change_a_prediction_changes_the_fingerprint():
    def fingerprint(words=WORDS, prompts=PROMPTS):
        options = ModelOptions(label_words=words, prompts=prompts)
        return LabelWordClassifier(PlainScorer([]), options).fingerprint

    prints = [
        fingerprint(),
        fingerprint(words={"positive": "good", "negative": "bad"}),
        fingerprint(words={"yes": "good", "negative": "dull"}),
        fingerprint(words={"negative": "dull", "positive": "good"}),
        fingerprint(prompts={"classify": "{text} {labels}"}),
    ]
    assert len(set(prints)) == len(prints)


class NextToken:
    spec = "python:fixed:Fixed"
    fingerprint = "f"

    def __init__(self, prediction):
        self.prediction = prediction

    def predict_next(self, texts):
        return [self.prediction for _ in texts]


class StreamingTokens(NextToken):
    """Answers one by one, the last text first."""

    def stream_next(self, texts):
        for place in reversed(range(len(texts))):
            yield place, self.prediction


@pytest.mark.parametrize("kind", [NextToken, StreamingTokens])
def test_the_likeliest_next_token_is_the_label_and_of_equals_the_first_by_text(kind):
    shares = {" sea": 0.2, " war": 0.3, " end": 0.3, " sky": 0.1}
    told = Prediction(tokens=tuple(shares), probabilities=tuple(shares.values()), truncated=True)
    model = NextTokenClassifier(kind(told), 3)
    wanted = Prediction(
        tokens=(" end", " war", " sea"), probabilities=(0.3, 0.3, 0.2), truncated=True
    )
    assert (model.spec, model.labels) == ("python:fixed:Fixed", ())
    assert model.fingerprint not in ("f", NextTokenClassifier(kind(told), 2).fingerprint)
    assert model.classify(["a text"]) == [wanted]
    assert wanted.choice == " end"
    if kind is StreamingTokens:
        assert list(model.stream(["x", "y"])) == [(1, wanted), (0, wanted)]
