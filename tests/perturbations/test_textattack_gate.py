import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nltk.data
import pytest

from perturbations.lexicon import stopwords
from perturbations.textattack_gate import TEXTATTACK, _offer_stopwords, load_textattack
from scope.errors import ResourceError
from scope.paths import cache_folder

SCRIPT = """
import json, logging, logging.config, os, socket, sys, warnings
from pathlib import Path

def refuse(*args, **kwargs):
    raise OSError("the test has no network")

socket.socket.connect = refuse
socket.getaddrinfo = refuse
os.environ["HF_HOME"] = "/the/users/own"

import nltk, nltk.data
log = logging.getLogger("mine")
handler = logging.FileHandler("mine.log", mode="w")
log.addHandler(handler)
paths = list(nltk.data.path)

def state():
    return [dict(os.environ), list(warnings.filters), nltk.download, logging.config.dictConfig]

before = state()
from perturbations.textattack_gate import load_textattack
load_textattack()
unchanged = state() == before

from textattack.constraints.pre_transformation import StopwordModification
from huggingface_hub.constants import HF_HOME
from textattack.constraints.grammaticality import PartOfSpeech
from textattack.shared import AttackedText, utils
from textattack.shared.utils import install

def error_of(code):
    try:
        code()
    except Exception as error:
        return str(error)

log.error("still heard")
install.logger.info("too much detail")
report = {
    "unchanged": unchanged,
    "stopwords": sorted(StopwordModification().stopwords),
    "paths kept first": nltk.data.path[: len(paths)] == paths,
    "huggingface": HF_HOME,
    "downloads": [install.TEXTATTACK_CACHE_DIR, utils.TEXTATTACK_CACHE_DIR],
    "heard": Path("mine.log").read_text(),
    "unused": sorted({"flair", "bert_score", "langdetect"} & set(sys.modules)),
    "chinese": AttackedText("这部电影非常好看").words,
    "errors": [
        error_of(lambda: AttackedText("a b").pos_of_word_index(0)),
        error_of(lambda: PartOfSpeech(tagger_type="flair")),
    ],
}
Path(sys.argv[1]).write_text(json.dumps(report))
handler.close()
"""


def files_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> dict[str, Any]:
    """What a first import does in a fresh home without NLTK data, offline, warnings as errors."""
    folder = tmp_path_factory.mktemp("gate")
    for name in ("home", "work", "cache"):
        (folder / name).mkdir()
    hidden = ("NLTK_DATA", "TA_CACHE_DIR", "HF_", "XDG_", "MPL", "PYTHONWARNINGS", "TOKENIZERS")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(hidden)
    } | {"HOME": str(folder / "home"), "SCOPE_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(folder / "report.json")],
        cwd=folder / "work",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((folder / "report.json").read_text())
    return result | {
        "stdout": done.stdout,
        "stderr": done.stderr,
        "home": str(folder / "home"),
        "in home": files_under(folder / "home"),
        "in work": files_under(folder / "work"),
        "in cache": files_under(folder / "cache"),
    }


@pytest.mark.slow
def test_classes_can_be_imported_and_all_else_is_as_before(report):
    assert (report["stdout"], report["stderr"]) == ("", "")
    assert report["in home"] == set()
    assert report["in work"] == {"mine.log"}
    assert "nltk_data/corpora/stopwords/english" in report["in cache"]
    assert report["unchanged"] is True
    assert report["huggingface"] == "/the/users/own"
    assert report["downloads"] == [f"{report['home']}/.cache/textattack"] * 2
    assert report["heard"] == "still heard\n"
    # Its dictionary is read in silence.
    assert "电影" in report["chinese"]


@pytest.mark.slow
def test_what_would_use_flair_ends_with_one_clear_error(report):
    if find_spec("flair"):
        pytest.skip("flair is installed")
    assert report["unused"] == []
    for message in report["errors"]:
        assert "found:    TextAttack needs the package flair for this" in message
        assert "in another environment by: pip install 'transformers<5' flair" in message


def test_a_missing_textattack_is_installed_by_the_line_of_the_error(monkeypatch):
    monkeypatch.delitem(sys.modules, "textattack", raising=False)
    monkeypatch.setattr("perturbations.textattack_gate.find_spec", lambda name: None)
    with pytest.raises(ResourceError, match=f"-m pip install --no-deps {TEXTATTACK}"):
        load_textattack()


@pytest.mark.slow
def test_textattack_finds_stopwords_that_nltk_lacks(report):
    assert report["stopwords"] == sorted(stopwords())
    assert report["paths kept first"] is True


def words_nltk_finds() -> bytes:
    with nltk.data.find("corpora/stopwords/english").open() as stream:
        return stream.read()


def test_the_users_own_stopwords_come_before_ours(tmp_path, monkeypatch):
    own = tmp_path / "own/corpora/stopwords"
    own.mkdir(parents=True)
    (own / "english").write_text("mine\n")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "own")])
    _offer_stopwords(["ours"], tmp_path / "cache")
    assert words_nltk_finds() == b"mine\n"
    (own / "english").unlink()
    assert words_nltk_finds() == b"ours\n"


def test_a_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "file"))
    monkeypatch.delitem(sys.modules, "textattack", raising=False)
    with pytest.raises(ResourceError, match="cannot be written") as caught:
        load_textattack()
    assert "SCOPE_CACHE" in caught.value.fix


def test_a_list_with_a_second_name_as_backups_give_it_is_written_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [])
    _offer_stopwords(["ours"], tmp_path / "cache")
    file = tmp_path / "cache/corpora/stopwords/english"
    (tmp_path / "backup").hardlink_to(file)
    _offer_stopwords(["ours"], tmp_path / "cache")
    assert words_nltk_finds() == b"ours\n"


def test_the_dictionary_of_jieba_is_not_kept_among_temporary_files():
    load_textattack()
    assert sys.modules["jieba"].dt.tmp_dir == str(cache_folder())


def test_another_list_replaces_the_one_of_an_earlier_run(tmp_path, monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [])
    for words in (["old"], ["the", "new"]):
        _offer_stopwords(words, tmp_path)
    assert (tmp_path / "corpora/stopwords/english").read_text() == "new\nthe\n"
    assert nltk.data.path == [str(tmp_path)]
    assert files_under(tmp_path) == {"corpora/stopwords/english"}
