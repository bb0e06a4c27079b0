"""What SemScore is measured by, and what is said of it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scope.errors import SpecError
from scope.jobs import encoders as job
from scope.jobs.encoders import ByEncoder, folder_and_model, load_semscore
from scope.models.options import SENTENCE_ENCODER, ModelOptions
from scope.progress import Silent

OPTIONS = ModelOptions(device="cpu")
CLOZE = SimpleNamespace(name="cloze", role="mask_filler")
READING = SimpleNamespace(name="extractive_qa", role="answerer")
CHOICE = SimpleNamespace(name="choice", role="choice_scorer")


class Lengths:
    """Encodes a text as its length alone."""

    spec, fingerprint = "hf:lengths", "f1"

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.append(list(texts))
        rows = np.array([[len(text), 1.0] for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Tabled(Lengths):
    spec = SENTENCE_ENCODER

    def encode_words(self, texts):
        return np.array([[1.0, 0.0] for _ in texts])


def test_an_encoder_compares_by_the_cosine_and_is_asked_once_a_text_in_portions(monkeypatch):
    monkeypatch.setattr(job, "ENCODED_AT_ONCE", 2)
    encoder = Lengths()
    likeness = ByEncoder(encoder=encoder).likeness(["aaa", "b", "cc"], READING, Silent())
    assert encoder.asked == [["b", "cc"], ["aaa"]]
    assert likeness.by_meaning(["b", "aaa"], ["aaa", ""]) == pytest.approx([4 / np.sqrt(20), 0])
    assert (likeness.cosines, likeness.by_words, likeness.truncated) == (True, None, 0)


def test_words_are_compared_where_a_blank_is_filled_and_there_is_a_table_of_them():
    def by_words(encoder, task):
        return ByEncoder(encoder=encoder).likeness(["a", "b"], task, Silent()).by_words

    assert by_words(Tabled(), CLOZE)(["a"], ["b"]).tolist() == [1]
    assert by_words(Tabled(), READING) is None
    assert by_words(Lengths(), CLOZE) is None


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("probe:mine", (Path("mine"), None)),
        ("probe:no#1", (Path("no#1"), None)),
        ("probe:no#1#hf:a", (Path("no#1"), "hf:a")),
    ],
)
def test_a_folder_may_have_the_mark_in_its_name(tmp_path, monkeypatch, spec, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no#1").mkdir()
    assert folder_and_model(spec) == expected


def test_a_probe_for_choices_alone_is_refused_as_it_would_do_nothing(tmp_path):
    with pytest.raises(SpecError) as caught:
        load_semscore(f"probe:{tmp_path}", [CHOICE], OPTIONS)
    assert "for choice, which is multiple choice" in caught.value.found
    assert "leave --semscore out" in caught.value.fix
