import pytest
from hypothesis import given, strategies as st

from scope.answers import CachedClassifier, Memory
from scope.errors import ModelError, SpecError
from scope.models.labels import (
    AlignedClassifier,
    align,
    align_examples,
    canonical,
    parse_label_map,
)
from scope.protocols import StreamingClassifier
from scope.records import Example, Prediction


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


@given(st.permutations([("negative", 0.1), ("Neutral", 0.2), ("POSITIVE", 0.7)]))
def test_permuted_labels_give_permuted_probabilities(pairs):
    labels, probabilities = zip(*pairs, strict=True)
    target = AlignedClassifier(
        Fixed(labels, probabilities), ("Negative", "neutral", "positive"), {}
    )
    assert target.labels == ("Negative", "neutral", "positive")
    assert target.classify(["short", "long"]) == [
        Prediction(probabilities=(0.1, 0.2, 0.7)),
        Prediction(probabilities=(0.1, 0.2, 0.7), truncated=True),
    ]


class Streaming(Fixed):
    def stream(self, texts):
        return reversed(list(enumerate(self.classify(texts))))


def test_a_target_whose_answers_come_one_by_one_still_gives_them_so():
    plain = align(Fixed(("b", "a"), (0.2, 0.8)), ("a", "b"), {})
    target = align(Streaming(("b", "a"), (0.2, 0.8)), ("a", "b"), {})
    assert not isinstance(plain, StreamingClassifier)
    assert isinstance(target, StreamingClassifier)
    assert list(target.stream(["short", "long"])) == [
        (1, Prediction(probabilities=(0.8, 0.2), truncated=True)),
        (0, Prediction(probabilities=(0.8, 0.2))),
    ]
    assert target.fingerprint == plain.fingerprint


@pytest.mark.parametrize("given", [(0.9,), (0.5, 0.5, 0.0), ()])
def test_too_few_or_too_many_probabilities_are_refused_by_name(given):
    target = align(Fixed(("b", "a"), given), ("a", "b"), {})
    with pytest.raises(ModelError, match="expected: 2 probabilities that sum to 1"):
        CachedClassifier(target, Memory()).classify(["short"])


def test_a_label_map_names_either_models_labels_whatever_their_case():
    target = AlignedClassifier(
        Fixed(("LABEL_0", "LABEL_1"), (0.2, 0.8)),
        ("pos", "negative"),
        parse_label_map(["label_0=NEGATIVE", "Label_1=positive", "pos=Positive"]),
    )
    assert target.classify(["a"])[0].probabilities == (0.8, 0.2)


def test_labels_that_do_not_align_are_shown_side_by_side():
    with pytest.raises(ModelError) as raised:
        AlignedClassifier(
            Fixed(("entailment", "neutral"), (0.5, 0.5)), ("negative", "neutral", "positive"), {}
        )
    assert str(raised.value) == (
        "found:    labels that do not align:\n"
        "  negative  |  entailment\n"
        "  neutral   |  neutral\n"
        "  positive  |  \n"
        "  (left the reference, right `python:fixed:Fixed`)\n"
        "expected: the same label names in both models, upper and lower case alike\n"
        "fix:      map each label that differs: --label-map entailment=NAME, where NAME is one of "
        "negative, positive"
    )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (("a", "b", "c"), ("a", "b")),
        (("a", "b"), ("a", "b", "c")),
        (("a", "A"), ("a", "b")),
        (("a", "A"), ("a", "A")),
    ],
)
def test_labels_too_many_too_few_or_alike_are_refused(theirs, ours):
    with pytest.raises(ModelError, match="labels that do not align"):
        AlignedClassifier(Fixed(theirs, (1.0,) * len(theirs)), ours, {})


@pytest.mark.parametrize("entry", ["a", "=b", "a=", " = ", "a=c"])
def test_an_entry_of_a_label_map_is_old_and_new_each_old_once(entry):
    with pytest.raises(SpecError) as raised:
        parse_label_map(["A=b", entry])
    assert raised.value.found == f"the label map `{entry}`"


def test_a_label_map_may_repeat_itself_and_hold_equals_signs():
    assert parse_label_map(["A = b", "a=b", "c=d=e"]) == {"a": "b", "c": "d=e"}


def test_a_canonical_name_is_mapped_then_lower_case():
    assert canonical("LABEL_0", {"label_0": "Negative"}) == "negative"
    assert canonical("STRASSE", {}) == canonical("Straße", {})


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
    examples = [
        Example(id=str(number), text="a", label=label)
        for number, label in enumerate(("2", "1", "2"))
    ]
    with pytest.raises(ModelError) as raised:
        align_examples(examples, ("negative", "1"), {})
    assert str(raised.value) == (
        "found:    gold labels that do not align:\n"
        "  negative  |  1\n"
        "  1         |  2\n"
        "  (left the reference, right the data)\n"
        "expected: gold labels by the names of the reference's labels\n"
        "fix:      map each label that differs: --label-map 2=negative; or omit gold "
        "labels: --label-column none"
    )


def test_of_many_labels_the_first_are_shown():
    labels = tuple(f"label {number}" for number in range(30))
    with pytest.raises(ModelError) as raised:
        align(Fixed(labels, (1.0,) * 30), ("a", "b"), {})
    assert raised.value.found.count("\n") == 12
    assert "\n  … and 20 more\n" in raised.value.found
