"""The one door through which TextAttack comes in, without its effects on the rest of the process.

Importing TextAttack downloads NLTK data into the user's home, leaves a marker there so as not to
do it again, changes environment variables, reconfigures logging (which disables every logger
that exists), makes flair log to standard output, and fails where NLTK has no stopwords. Behind
this door it does none of that. It also imports packages of which SCoPE uses nothing, and of which
flair requires ``transformers<5``: where they are missing, stand-ins take their place during the
import. A module that needs TextAttack's classes begins with::

    from perturbations.textattack_gate import load_textattack

    load_textattack()
    from textattack.transformations import WordSwap  # noqa: E402
"""

from __future__ import annotations

import logging
import logging.config
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from perturbations.lexicon import stopwords
from scope.errors import ResourceError
from scope.paths import cache_folder, expanded

# These settle, when imported, where Hugging Face keeps its files. They come before TextAttack,
# which moves that place for as long as its own cache is set elsewhere.
_SETTLED_BEFORE = (
    "huggingface_hub.constants",
    "datasets.config",
    "transformers.utils.hub",
    "accelerate.commands.config.config_args",
)

TEXTATTACK = "textattack==0.3.11"
"""The release that the searches are tested with, as pip names it."""

_INSTALL = "textattack.shared.utils.install"
"""TextAttack's module that downloads; also the name of its only logger."""

_MARKER = "post_install_check_3"
"""The file by which TextAttack knows that its downloads were done."""

# fmt: off
_UNUSED = (
    "bert_score", "flair", "flair.data", "flair.models", "langdetect", "language_tool_python",
    "Levenshtein", "more_itertools", "OpenHowNet", "pinyin", "terminaltables", "word2number",
)
# fmt: on
"""Modules that TextAttack imports when it is imported itself, and that no search of ours uses."""

_LOCK = threading.Lock()


def require_textattack() -> None:
    """Nothing, if TextAttack is installed; it is not imported.

    Raises
    ------
    ResourceError
        Where it is not; the error gives the command that installs it.
    """
    if "textattack" not in sys.modules and find_spec("textattack") is None:
        raise ResourceError(
            "TextAttack, which changes the texts, is not installed",
            expected="the package textattack, without its requirements: one of them does not "
            "accept transformers 5",
            fix=f"{sys.executable} -m pip install --no-deps {TEXTATTACK}",
        )


def load_textattack() -> ModuleType:
    """TextAttack, imported once; the first call takes about ten seconds.

    Afterwards NLTK finds English stopwords, the user's own before ours; the environment, the
    warning filters and the loggers are as they were; TextAttack's own log begins at warnings.
    ``TA_CACHE_DIR`` still names the folder of TextAttack's own downloads, but no longer moves
    the caches of other libraries.

    Returns
    -------
    The module ``textattack``, also where somebody else has imported it already.

    Raises
    ------
    ResourceError
        Where TextAttack is not installed, no stopwords are found, or the cache folder cannot be
        written.

    Examples
    --------
    >>> load_textattack().__name__
    'textattack'
    """
    with _LOCK:
        if "textattack" not in sys.modules:
            require_textattack()
            with _environment_restored(), _logging_unchanged(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with _stand_ins():
                    _import()
    return sys.modules["textattack"]


def _import() -> None:
    words = stopwords()
    try:
        _offer_stopwords(words, cache_folder() / "nltk_data")
        # A cache for TextAttack in which all its downloads seem to be done.
        cache = cache_folder() / "textattack"
        cache.mkdir(parents=True, exist_ok=True)
        (cache / _MARKER).touch()
    except OSError as error:
        raise ResourceError(
            f"{cache_folder()} cannot be written: {error}",
            expected="a writable folder for SCoPE's cache",
            fix="set the environment variable SCOPE_CACHE to a folder of your own",
        ) from error
    for name in _SETTLED_BEFORE:
        if find_spec(name.partition(".")[0]) is not None:
            import_module(name)
    downloads = os.environ.get("TA_CACHE_DIR") or str(expanded("~/.cache/textattack"))
    os.environ["TA_CACHE_DIR"] = str(cache)
    import_module("textattack")
    # TextAttack splits Chinese with jieba, whose dictionary would lie in the folder of temporary
    # files, under a name that every user shares, and which tells every run that it reads it.
    jieba = sys.modules["jieba"]
    jieba.dt.tmp_dir = str(cache_folder())
    jieba.setLogLevel(logging.WARNING)
    for name in (_INSTALL, _INSTALL.rpartition(".")[0]):  # the package holds a copy
        vars(sys.modules[name])["TEXTATTACK_CACHE_DIR"] = downloads


@contextmanager
def _stand_ins() -> Iterator[None]:
    """Let the unused modules that are not installed be imported; nobody else sees them."""
    missing = [name for name in _UNUSED if not _is_installed(name.partition(".")[0])]
    sys.modules.update({name: _StandInModule(name) for name in missing})
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


def _is_installed(name: str) -> bool:
    """Whether it is a module or a package; a mere folder of that name is none."""
    if name in sys.modules:
        return True
    spec = find_spec(name)
    return spec is not None and spec.origin is not None


class _StandInModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandInClass(name, (), {"__module__": self.__name__})


class _StandInClass(type):
    """A class that can be named and inherited from; every use of it is an error."""

    def __call__(cls, *_: object, **__: object) -> Any:
        raise cls._error()

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name[0].isupper():  # a class in a module that nobody has imported
            return _StandInClass(name, (), {"__module__": cls.__module__})
        raise cls._error()

    def _error(cls) -> ResourceError:
        bases = [base for base in cls.__mro__ if base.__module__.partition(".")[0] in _UNUSED]
        package = bases[0].__module__.partition(".")[0]
        return ResourceError(
            f"TextAttack needs the package {package} for this",
            expected=f"{package} to be installed before TextAttack is loaded",
            fix=f"pip install {package}"
            if package != "flair"
            else "install SCoPE in another environment by: pip install 'transformers<5' flair "
            "'PATH_TO_SCOPE[demo]', as flair does not accept transformers 5",
        )


def _offer_stopwords(words: Iterable[str], folder: Path) -> None:
    """Put the words where NLTK looks last."""
    import nltk.data

    corpus = folder / "corpora" / "stopwords"
    for level in (folder, folder / "corpora", corpus):
        # NLTK refuses folders and files that others could write to.
        level.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = "\n".join(sorted(words)) + "\n"
    english = corpus / "english"
    # NLTK refuses a file with a second name, as some backups give it.
    if (
        not english.exists()
        or english.stat().st_nlink > 1
        or english.read_text(encoding="utf-8") != text
    ):
        # Another process may read the file now: it sees the old text or the new one, no half.
        with tempfile.NamedTemporaryFile(
            "w", dir=corpus, prefix=".", encoding="utf-8", delete=False
        ) as new:
            new.write(text)
        Path(new.name).replace(english)
    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))


@contextmanager
def _environment_restored() -> Iterator[None]:
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _logging_unchanged() -> Iterator[None]:
    """Keep TextAttack and flair from configuring logging for the whole process.

    Undoing it would be too late: `dictConfig` also closes the handlers that it finds, and a log
    file that was opened for writing stays closed.
    """
    configure = logging.config.dictConfig

    def ignore(config: Mapping[str, Any]) -> None:
        """Configure nothing."""

    logging.config.dictConfig = ignore
    try:
        yield
    finally:
        logging.config.dictConfig = configure
        logger = logging.getLogger(_INSTALL)
        logger.handlers.clear()  # it writes to what was standard error at this moment
        logger.propagate = True
        logger.setLevel(logging.WARNING)
