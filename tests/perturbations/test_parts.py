"""The search of texts of several parts, such as a premise and a hypothesis: one part changes."""

import pytest
from swapping import EXAMPLES, WordSwaps, alone, together

from capabilities.contraction import Contraction
from capabilities.synonym import Synonym
from capabilities.typo import Typo
from perturbations.search import BestCandidate, GreedyInvariantSwap
from scope.protocols import SearchOptions
from scope.records import Example
from scope.records.text_parts import joined, parts_of, with_part
from scope.testing import AlikeWords, HashedWords

PAIRS = [
    Example(id=f"{example.id} {place}", text=joined(["A very old boat isn't good.", example.text]))
    if place
    else Example(id=f"{example.id} {place}", text=joined([example.text, "It's an old film."]))
    for example in EXAMPLES
    for place in (0, 1)
]
CAPABILITIES = [
    WordSwaps(method=BestCandidate),
    WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=True)),
    Synonym(),
    Typo(),
    Contraction(),
]


class Whole:
    """A classifier of one part, which a model of the whole text answers."""

    spec, fingerprint, labels = "whole", "whole", HashedWords.labels

    def __init__(self, text, change):
        self.text, self.change, self.model = text, change, HashedWords(strength=0.3)

    def classify(self, texts):
        return self.model.classify([with_part(self.text, self.change, text) for text in texts])


@pytest.mark.parametrize("change", [0, -1])
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_search_changes_one_part_as_if_it_were_the_text_and_the_model_reads_all(
    capability, change
):
    options = SearchOptions(trials=2, encoder=AlikeWords(), change=change, parallel_texts=5)
    found = together(capability, HashedWords(strength=0.3), PAIRS, options)
    for example in PAIRS:
        part = Example(id=example.id, text=parts_of(example.text)[change])
        oracle = together(capability, Whole(example.text, change), [part], options)[example.id]
        assert [trial.text for trial in found[example.id]] == [
            trial.text and with_part(example.text, change, trial.text) for trial in oracle
        ]
        assert [trial.score for trial in found[example.id]] == [trial.score for trial in oracle]
    assert sum(trial.text is not None for trials in found.values() for trial in trials) > 5


@pytest.mark.parametrize("change", [0, -1])
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_random_candidates_change_one_part_too(capability, change):
    options = SearchOptions(candidates=4, encoder=AlikeWords(), change=change)
    texts = {example.id: example.text for example in PAIRS}
    drawn = [trial for trials in capability.draw_random(PAIRS, options) for trial in trials]
    changed = [trial for trial in drawn if trial.text is not None]
    assert len(changed) > 5
    for trial in changed:
        text = texts[trial.example_id]
        assert trial.text != text
        assert with_part(trial.text, change, "") == with_part(text, change, "")


def test_a_least_similarity_compares_the_part_that_changes():
    class Compared(AlikeWords):
        texts = ()

        def encode(self, texts):
            self.texts = (*self.texts, *texts)
            return super().encode(texts)

    encoder = Compared()
    options = SearchOptions(trials=1, encoder=encoder, min_similarity=0.0)
    together(WordSwaps(method=BestCandidate), HashedWords(), PAIRS, options)
    assert encoder.texts
    assert not any("\x1e" in text for text in encoder.texts)


def test_of_a_text_of_one_part_that_part_changes():
    capability, options = WordSwaps(method=BestCandidate), SearchOptions(trials=2)
    assert together(capability, HashedWords(), EXAMPLES, options) == alone(
        capability, HashedWords(), EXAMPLES, options
    )
