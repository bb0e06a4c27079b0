"""How near in meaning pairs are is measured where an encoder is named, and marked in the report."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_comparison import build_comparison

from scope.jobs.audit.examples import MOST_FAR
from scope.jobs.audit.similarities import with_similarities
from scope.jobs.pages import markdown_of
from scope.progress import Silent
from scope.records import Example, Perturbation, ScoredPerturbation
from scope.serialization import from_json, to_json


class Directions:
    """Vectors on the unit circle: the angle is a text's length in tenths."""

    spec = fingerprint = "directions"

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.append(list(texts))
        angles = np.array([len(text) / 10 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


EXAMPLES = [Example(id="a", text="four"), Example(id="b", text="eleven char")]


def scored(example, text=None):
    found = Perturbation(
        example_id=example, trial=1, text=text, failure=None if text else "nothing"
    )
    return ScoredPerturbation(capability="typo", perturbation=found)


def test_it_is_the_cosine_of_both_vectors():
    found = [scored("a", "four more"), scored("b"), scored("b", "eleven char")]
    first, nothing, same = with_similarities(found, EXAMPLES, Directions(), Silent())
    assert first.similarity == pytest.approx(np.cos(0.5), abs=1e-6)
    assert nothing.similarity is None
    assert same.similarity == 1.0


def test_each_text_is_encoded_once_a_portion_and_the_order_does_not_matter():
    found = [scored("a", "x" * size) for size in range(1, 300)]
    encoder = Directions()
    measured = with_similarities(found, EXAMPLES, encoder, Silent())
    assert with_similarities(found[::-1], EXAMPLES, Directions(), Silent()) == measured[::-1]
    assert [len(some) for some in encoder.asked] == [256 + 1, 43 + 1]


def test_without_an_encoder_nothing_changes():
    found = (scored("a", "four more"),)
    assert with_similarities(found, EXAMPLES, None, Silent()) == found


def section(similarities):
    result = build_comparison()
    known = iter(similarities)
    perturbations = tuple(
        one if one.perturbation.text is None else replace(one, similarity=next(known))
        for one in result.perturbations
    )
    return markdown_of(replace(result, perturbations=perturbations))


def test_the_report_marks_the_pairs_that_are_farthest_apart():
    text = section([0.9, 0.25, 0.5, 0.75, 0.8])
    assert "The 5 kept pairs that are farthest apart" in text
    assert text.count("**farthest apart in meaning**") == MOST_FAR
    assert "sentence similarity 0.250" in text
    assert "farthest apart in meaning" not in section([None] * 5)


def test_the_report_shows_by_which_similarity_a_text_was_admitted():
    result = build_comparison()
    first, *others = result.perturbations
    assert "Similarity" not in markdown_of(result)
    shown = replace(first, perturbation=replace(first.perturbation, similarity=0.71))
    text = markdown_of(replace(result, perturbations=(shown, *others)))
    assert text.count("· similarity 0.710") == 1
    assert text.count("“Similarity” is the cosine") == 1


class Letters(Directions):
    """The angle depends on the order of the letters."""

    def encode(self, texts):
        places = [sum(place * ord(letter) for place, letter in enumerate(one)) for one in texts]
        return super().encode(["x" * (place % 31) for place in places])


def test_the_more_similar_half_stands_below_the_main_numbers(toy_audit):
    options = {"capabilities": ["typo"], "encoder": Letters(), "min_similarity": -1, "n": 12}
    result = toy_audit("Stranger", **options)
    pairs = result.to_frame("examples").query("pair == 'kept' and model == 'toy_models:Stranger'")
    more = pairs[pairs.similarity >= pairs.similarity.median()]
    assert 1 < more.example.nunique() < len(more) < len(pairs)
    rows = result.to_frame().query("subset == 'more similar half'").set_index("metric")
    assert rows.value["hard_scope"] == pytest.approx(more.kept.mean(), abs=1e-6)
    assert rows.n["hard_scope"] == more.example.nunique()
    assert str(result).count("hard_scope, more similar half") == 1
    page = markdown_of(result)
    assert r"Hard\-SCoPE, more similar half" in page
    assert "The more similar half of a capability’s kept pairs" in page
    assert from_json(to_json(result)).perturbations == result.perturbations
    assert toy_audit("Stranger", **options).perturbations == result.perturbations


def test_an_audit_measures_what_it_finds(toy_audit):
    options = {"capabilities": ["typo"], "cache": False, "trials": 1}
    plain = toy_audit("Student", run="plain", **options)
    measured = toy_audit("Student", run="measured", encoder=Directions(), **options)
    assert [one.perturbation for one in measured.perturbations] == [
        one.perturbation for one in plain.perturbations
    ]
    found = [one for one in measured.perturbations if one.perturbation.text]
    # Swapped letters leave the length as it is.
    assert {one.similarity for one in found} == {1.0}
    assert set(measured.to_frame("examples")["sentence_similarity"]) == {1.0}
