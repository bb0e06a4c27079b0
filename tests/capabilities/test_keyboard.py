import random
from collections import Counter

import pytest
from swapping import together

from capabilities.keyboard import Keyboard, doubled
from perturbations.search import admissible_changes
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

TEXT = "@nobody said the harbour of Portsmouth99 had 4000 wonderful visitors #harbour"
CHANGEABLE = {"harbour", "wonderful", "visitors"}


def candidates(capability, text, seed=0):
    generator = random.Random(seed)
    attack = capability.attack(
        lambda texts: [[0.5, 0.5]] * len(texts), generator=generator, options=SearchOptions()
    )
    return [one.text for one in admissible_changes(attack, text)]


def kind_of(before, after):
    """Which of the four errors leads from one word to the other."""
    if len(after) < len(before):
        return "omission"
    if len(after) > len(before):
        return "doubling"
    return "transposition" if sorted(before) == sorted(after) else "neighbour"


def test_only_words_without_marks_and_digits_are_mistyped_one_error_each():
    for text in candidates(Keyboard(max_words=3), TEXT):
        pairs = zip(TEXT.split(), text.split(), strict=True)
        changed = [(before, after) for before, after in pairs if before != after]
        assert 1 <= len(changed) <= 3
        assert {before for before, _ in changed} <= CHANGEABLE
        assert all(abs(len(before) - len(after)) <= 1 for before, after in changed)
        assert all(before[0] == after[0] for before, after in changed)


def test_errors_are_as_common_as_among_misspellings():
    counts = Counter()
    for seed in range(60):
        for text in candidates(Keyboard(max_words=1), "wonderful", seed):
            counts[kind_of("wonderful", text)] += 1
    # Different texts are counted: the rare kinds have more of them left in each draw.
    assert counts["omission"] > counts["transposition"] > counts["doubling"]
    assert set(counts) == {"omission", "transposition", "doubling", "neighbour"}


def test_a_letter_is_doubled_where_it_stands():
    assert doubled("abc") == ["abbc", "abcc"]
    assert doubled("a") == []


@pytest.mark.parametrize(
    "options", [{"max_words": 0}, {"min_letters": 1}, {"candidates": 0}, {"candidates": 10**6}]
)
def test_numbers_beyond_their_limits_are_refused(options):
    ((name, value),) = options.items()
    with pytest.raises(SpecError) as caught:
        Keyboard(**options)
    assert str(caught.value).startswith(f"found:    the setting {name}={value}\nexpected: a whole")


def test_a_text_in_another_script_is_not_applicable():
    example = Example(id="e", text="Замечательный фильм о море")
    found = together(Keyboard(), HashedWords(), [example], SearchOptions())["e"]
    assert {(one.failure, one.applicable) for one in found} == {("not in Latin letters", False)}
