"""Data of a Python session; `tests/docs/test_python.py` gives it to jobs in every form."""

import copy
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest

from scope.data.items import WantedPairs, gather_pairs
from scope.data.sampling import load_data
from scope.data.sources import data_spec
from scope.data.specs import open_source
from scope.errors import DataError

PAIRS = [("a fine day", "good"), ("a dull day", "bad")]
TEXTS = [text for text, _ in PAIRS]


def as_path(folder):
    path = Path(folder, "texts.csv")
    pd.DataFrame(PAIRS, columns=["text", "label"]).to_csv(path, index=False)
    return path


def as_dataset(folder):
    import datasets

    classes = datasets.ClassLabel(names=["bad", "good"])
    features = datasets.Features({"text": datasets.Value("string"), "label": classes})
    rows = {"text": TEXTS, "label": [label for _, label in PAIRS]}
    return datasets.Dataset.from_dict(rows, features=features)


class Frame(pd.DataFrame):
    """As geopandas and others have them."""


WAYS = {
    "a subclass of a DataFrame": lambda _: Frame(PAIRS, columns=["text", "label"]),
    "a list of lists": lambda _: [list(pair) for pair in PAIRS],
    "a list with a header": lambda _: [("text", "label"), *PAIRS],
    "a generator of pairs": lambda _: iter(PAIRS),
    "a data set with class names": as_dataset,
}


@pytest.mark.parametrize("way", WAYS)
def test_labelled_texts_are_the_same_in_every_form(way, tmp_path):
    loaded = load_data(data_spec(WAYS[way](tmp_path)))
    assert [(one.text, one.label) for one in loaded.examples] == PAIRS
    # The identity of a run holds the content, wherever it came from.
    assert loaded.card.fingerprint == load_data(str(as_path(tmp_path))).card.fingerprint


def test_a_triple_is_a_scored_pair():
    spec = data_spec([("a", "b", 1), ("a", "c", 2.5)])
    found = gather_pairs(spec, WantedPairs(task="similarity", low=0, high=5), n=None, seed=0)
    assert [(one.first, one.second, one.score) for one in found.pairs] == [
        ("a", "b", 1.0),
        ("a", "c", 2.5),
    ]


def test_missing_values_of_every_library_are_missing():
    frame = pd.DataFrame({"text": ["a", pd.NA, "c"], "label": [1.0, np.nan, 0.0]})
    rows = open_source(data_spec(frame)).read(["text", "label"])
    assert [row.values for row in rows] == [("a", 1.0), (None, None), ("c", 0.0)]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (None, "a NoneType as the data"),
        (b"text", "a bytes as the data"),
        (np.array("text"), "a ndarray as the data"),
        (io.StringIO("text"), "a StringIO as the data"),
        (pyarrow.table({"text": TEXTS, "label": TEXTS}), "a Table as the data"),
        ([], "a list without a row"),
        (pd.DataFrame({"text": []}), "a DataFrame without a row"),
        ({"text": TEXTS}, "a dict with the keys text"),
        (["a", ("b", 1)], "['b', 1] as row 1 of a list (the first is 0)"),
    ],
)
def test_what_is_no_data_is_refused(data, found):
    with pytest.raises(DataError) as caught:
        data_spec(data)
    assert caught.value.found == found


def test_a_name_without_its_rows_asks_for_them():
    with pytest.raises(DataError, match="pass the same data again"):
        open_source(copy.deepcopy(data_spec(TEXTS)))
