import numpy as np
import pytest
from swapping import WordSwaps, together

from perturbations.constraints import MeaningKept
from perturbations.search import BestCandidate
from perturbations.transformations import WordSynonyms
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

ANGLES = {"film": 0, "movie": 30, "picture": 60, "dog": 90, "fly": 180}


class AngleEncoder:
    """Puts each one-word text on the circle at a known angle."""

    spec = "test:angles"
    fingerprint = "angles"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts):
        self.asked.append(list(texts))
        angles = np.radians([ANGLES[text] for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def admitted(min_similarity):
    from textattack.shared import AttackedText

    film = AttackedText("film")
    candidates = WordSynonyms(lambda word: list(ANGLES))(film)
    constraint = MeaningKept(AngleEncoder().encode, min_similarity)
    many = [one.text for one in constraint.call_many(candidates, film)]
    assert many == [one.text for one in candidates if constraint(one, film)]
    return many


def test_texts_below_the_bound_are_refused_and_those_at_the_bound_admitted():
    # Cosines 0.866025, 0.5, 0 and -1 at six decimals.
    assert admitted(0.9) == []
    assert admitted(0.866025) == ["movie"]
    assert admitted(0.5) == ["movie", "picture"]
    assert admitted(0.0) == ["movie", "picture", "dog"]
    assert admitted(-1.0) == ["movie", "picture", "dog", "fly"]


def test_without_candidates_the_encoder_is_not_asked():
    from textattack.shared import AttackedText

    encoder = AngleEncoder()
    assert MeaningKept(encoder.encode, 0.5).call_many([], AttackedText("film")) == []
    assert encoder.asked == []


@pytest.fixture
def capability() -> WordSwaps:
    return WordSwaps(method=BestCandidate, table={"film": ("dog", "fly", "movie", "picture")})


def search(capability, **options):
    example = Example(id="e", text="film")
    nothing_matters = HashedWords(strength=0.0)
    return together(capability, nothing_matters, [example], SearchOptions(**options))["e"]


def test_a_search_with_a_least_similarity_finds_only_similar_texts(capability):
    found = search(capability, encoder=AngleEncoder(), min_similarity=0.4, trials=3)
    assert [one.text for one in found] == ["movie", "picture", None]
    assert "earlier trial" in found[2].failure


def test_where_no_text_is_similar_enough_the_failure_says_so(capability):
    found = search(capability, encoder=AngleEncoder(), min_similarity=0.99, trials=1)
    assert found[0].failure == "no candidate: no change of the text meets the constraints"


def test_an_encoder_without_a_bound_is_not_asked(capability):
    encoder = AngleEncoder()
    assert [one.text for one in search(capability, encoder=encoder, trials=1)] == ["dog"]
    assert encoder.asked == []


def test_a_bound_without_an_encoder_is_refused(capability):
    with pytest.raises(SpecError) as caught:
        search(capability, min_similarity=0.5)
    assert str(caught.value) == (
        "found:    a minimum similarity of 0.5 without an encoder\n"
        "expected: an encoder that measures the similarity\n"
        "fix:      choose an encoder, or omit the minimum similarity"
    )
