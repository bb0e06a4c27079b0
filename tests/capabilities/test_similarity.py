import math

import pytest

from capabilities.similarity import Similarity
from scope.errors import DataError, SpecError

TABLE = """split,sentence1,sentence2,score
train,The lamp is lit.,A lamp is burning.,4.5
dev,The lamp is lit.,A goat eats grass.,0
test,Run!,Walk!,2
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "pairs.csv").write_text(TABLE)
    return str(tmp_path / "pairs.csv")


@pytest.mark.parametrize(("part", "score"), [("train", 4.5), ("development", 0), ("test", 2)])
def test_each_part_of_a_table_is_read_by_itself(path, part, score):
    data = Similarity().load_pairs(path, part=part, n=None, seed=0)
    assert [pair.score for pair in data.pairs] == [score]
    assert (data.card.capability, data.card.rows) == ("similarity", 1)


def test_without_a_part_all_rows_are_read(path):
    assert len(Similarity().load_pairs(path, part=None, n=None, seed=0).pairs) == 3


def test_the_range_is_five_unless_told_otherwise(path):
    assert Similarity().settings() == {"low": 0.0, "high": 5.0}
    with pytest.raises(DataError, match=r"line 2 of pairs\.csv: the score 4\.5, .* range 0 to 4"):
        Similarity(high=4).load_pairs(path, part=None, n=None, seed=0)


def test_whole_numbers_and_fractions_are_one_setting():
    assert repr(Similarity(low=0, high=1).settings()) == "{'low': 0.0, 'high': 1.0}"


@pytest.mark.parametrize(("low", "high"), [(5, 0), (1, 1), (0, math.inf), (math.nan, 5)])
def test_a_range_that_is_none_is_refused(low, high):
    with pytest.raises(SpecError) as raised:
        Similarity(low=low, high=high)
    assert raised.value.found == f"scores from {low} to {high}"
    assert raised.value.expected == "two finite numbers, the first below the second"
    assert raised.value.fix == "write for example --low 0 --high 5"
