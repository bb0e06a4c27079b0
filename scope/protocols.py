"""What models, capabilities and tasks must have, and the boundary to code that is not SCoPE's.

There is a protocol for each role of a model, and one of capabilities and of tasks: capabilities
search for perturbations, tasks ask questions. The backbone uses only these; plugins implement them.

A user's model, a plugin or a library may fail in any way, even by ``sys.exit(0)``, which would end
the command without an error. There are two ways to call it:

- `converting`: its failure becomes an error of SCoPE's. `loading` and `during_inference` do so for
  the libraries that read and run a checkpoint. `UntrustedCode` does for the code of users and
  plugins: `UntrustedCode.call` calls a piece of it and checks the result.
- `attempt`: its failure is a value, to be recorded or replaced by a default.

Changes by users' code to the working folder, ``sys.path`` and the standard streams are undone, so
that SCoPE's own paths and imports mean the same as before.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from scope.errors import ModelError, ScopeError, first_line
from scope.records import (
    Answer,
    DataCard,
    Example,
    GivenAnswer,
    Item,
    Perturbation,
    Prediction,
    Question,
    ScoredAnswer,
    ScoredPair,
    Setting,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Role = Literal[
    "classifier",
    "mask_filler",
    "answerer",
    "answer_scorer",
    "choice_scorer",
    "next_token",
    "text_scorer",
    "encoder",
    "latent_reader",
]
"""The roles of models; each role has its own protocol."""

Precision = Literal["float32", "bfloat16"]
"""How exact latents are."""

Answers = Iterator[tuple[int, Answer]]
"""The index of a question and its answer, yielded as they come, in any order: none is lost."""

ScoredAnswers = Iterator[tuple[int, ScoredAnswer]]
"""The same for given answers and their scores."""


class Identified(Protocol):
    """The attributes of every model, in any role."""

    @property
    def spec(self) -> str:
        """The string that loads this model again, such as ``hf:distilbert-base-uncased``."""

    @property
    def fingerprint(self) -> str:
        """A hash that changes whenever the answers, vectors or latents could, prompts included."""


@runtime_checkable
class Classifier(Identified, Protocol):
    """A model in the role of classifier: text in, probabilities over named labels out.

    One that answers slowly may also have ``stream``, which yields the place of each text and its
    prediction as they come, in any order, so that each is stored at once.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names, in the order of the probabilities."""

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, in order; the answers never depend on the other texts."""


@runtime_checkable
class MaskFiller(Identified, Protocol):
    """A model in the role of mask filler: a sentence with one blank in, a word for it out."""

    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill the one ``BLANK`` in each question's text.

        An answer's ``text`` is the likeliest filler, without space around it; ``others`` follow.
        """


@runtime_checkable
class Answerer(Identified, Protocol):
    """A model in the role of answerer: a question, maybe with its passage, in, a text out.

    One whose attribute ``samples`` is true draws the answer to a question with a seed by that seed,
    from all that it may write.
    """

    def answer(self, questions: Sequence[Question]) -> Answers:
        """Answer each question; an empty ``text`` means that it cannot be answered."""


@runtime_checkable
class AnswerScorer(Identified, Protocol):
    """A model in the role of answer scorer: an answer in, its probability out.

    One that may be unable to may also have ``can_score``, which says without arguments whether it
    is able.
    """

    def score_answers(self, items: Sequence[GivenAnswer]) -> ScoredAnswers:
        """How likely each answer is to be written after its question, with its place, as it comes.

        The question is put as to an `Answerer`. Nothing need be written; a model may write on where
        the question's draft is the answer.
        """


@runtime_checkable
class ChoiceScorer(Identified, Protocol):
    """A model in the role of choice scorer: a question with options in, their probabilities out."""

    def choose(self, questions: Sequence[Question]) -> Answers:
        """Choose one of each question's options, with a probability for each where available."""


@runtime_checkable
class NextToken(Identified, Protocol):
    """A model in the role of language model: a text in, the likeliest next tokens out.

    One that answers slowly may also have ``stream_next``, as a `Classifier` has ``stream``.
    """

    def predict_next(self, texts: Sequence[str]) -> list[Prediction]:
        """The likeliest next tokens of every text, in order, each prediction with its ``tokens``.

        A token is its text as it would follow, space included; tokens with equal texts are merged.
        """


@runtime_checkable
class TextScorer(Identified, Protocol):
    """A language model that says how likely a text is: a text in, its perplexity out."""

    def perplexities(self, texts: Sequence[str]) -> list[float]:
        """The perplexity of every text, in order, at least 1: the lower, the likelier the text.

        It is *e* to the mean of the negative log-probabilities of its tokens, each given those
        before it; NaN where a text has none that could be scored. If a text is too long for the
        model, its beginning is read.
        """


@runtime_checkable
class Encoder(Identified, Protocol):
    """A model in the role of encoder: text in, one unit vector out."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row per text, of length 1; a row never depends on the other texts."""


class Swap(NamedTuple):
    """A word of a text, from ``start`` to before ``end``, and a word that may replace it."""

    text: str
    start: int
    end: int
    word: str


@runtime_checkable
class WordEncoder(Encoder, Protocol):
    """An encoder that also gives the vectors of words in their texts."""

    def compare_words(self, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        """The cosine of each new word's vector in the text with that of the old word, -1 to 1."""


@runtime_checkable
class LatentReader(Identified, Protocol):
    """A model in the role of latent reader: text in, one vector per layer out.

    A layer's vector is the residual stream after its block, before the final norm. The numbers are
    stored under the fingerprint and never computed again, so they must be exact: the same to the
    bit in any batch, order and portion. ``spec``, ``fingerprint`` and ``precision`` are read even
    where all latents are stored: a reader should load its model later.
    """

    @property
    def precision(self) -> Precision:
        """The precision of the numbers: in ``bfloat16`` the lower 16 bits are zero."""

    def latents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Of shape (texts, layers, width), finite; a text's latents never depend on the others.

        ``texts`` is never empty.
        """

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads, so that its end is left out."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How perturbations are searched for, in every capability.

    ``candidates`` is the number of random candidates per text, if any are drawn. ``parallel_texts``
    is the number of examples searched at once: it changes the speed, never the result. ``goal``
    selects the score of a kept pair: by the paper's formula, or as in its published code, with a
    second softmax on the perturbed side. ``encoder`` with ``min_similarity`` admits only texts
    whose cosine with the original reaches that bound; a `WordEncoder` compares synonyms in context.
    ``change`` is the place of the one part of a text that changes, where a text has several (see
    `scope.records.text_parts`): the encoder sees that part alone, the classifier the whole text.
    """

    trials: int = 3
    candidates: int = 8
    seed: int = 0
    distance: Literal["l1", "kl"] = "l1"
    goal: Literal["formula", "released"] = "formula"
    parallel_texts: int = 64
    encoder: Encoder | None = None
    min_similarity: float | None = None
    change: int = -1


AskedRole = Literal["mask_filler", "answerer", "choice_scorer"]
"""The roles in which a task queries models."""

PairRole = Literal["latent_reader"]
"""The role in which a task of pairs reads them."""

Part = Literal["train", "development", "test"]
"""What pairs are for: to learn from, to choose and stop by, and to be judged on."""


class Described(Protocol):
    """The attributes of every capability and task."""

    @property
    def name(self) -> str:
        """One lower-case word, unique among capabilities or among tasks."""

    @property
    def question(self) -> str:
        """What is asked, in plain words, for the report."""

    def settings(self) -> Mapping[str, Setting]:
        """Everything, besides data and seed, that decides the perturbations or questions."""


@runtime_checkable
class Capability(Described, Protocol):
    """A linguistic change under which a model may or may not be invariant."""

    def search(
        self, classifier: Classifier, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Perturb each example so that the classifier stays invariant.

        Yields, as they are found and in any order, all trials of one example at a time.
        """


@runtime_checkable
class DrawsRandom(Protocol):
    """A capability that also draws random candidates; not all do."""

    def draw_random(
        self, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Up to ``options.candidates`` changed texts of each example, independent of all models.

        Yields, in any order, all candidates of one example at a time, numbered as trials from 1,
        with a reason in place of each missing one. Texts 1 and 2, 3 and 4, ... form pairs.
        """


@runtime_checkable
class EstimatesQueries(Protocol):
    """A capability that can estimate the number of queries of a search; not all can."""

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """About how many distinct texts a search queries, in all trials; runs no model."""


@runtime_checkable
class LeavesWords(Protocol):
    """A capability that leaves words unchanged because of its own bounds; not all do."""

    def left_alone(self, text: str) -> int:
        """How many words of a text are beyond the bounds."""


@runtime_checkable
class ComparesWords(Protocol):
    """A capability that may compare words in context with an encoder; not all do."""

    @property
    def compares_words(self) -> bool:
        """Whether it compares words in context; the encoder must be a `WordEncoder`."""

    @property
    def caution(self) -> str:
        """The note in a result where no encoder is used; empty where one is used."""

    def for_encoder(self, spec: str | None) -> Capability:
        """The capability as it is with this encoder; None for none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskData:
    """The items of a task, in the order of their source, and what they are part of."""

    items: tuple[Item, ...]
    card: DataCard


@runtime_checkable
class Task(Described, Protocol):
    """The same questions for every model, and how their answers are compared."""

    @property
    def role(self) -> AskedRole:
        """The role in which models answer."""

    def load(self, data: str, *, n: int | None, seed: int) -> TaskData:
        """Read a data spec and make at most ``n`` items of it, drawn with the seed.

        Raises
        ------
        DataError
            When the data cannot be read, or no item can be made of it.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class PairData:
    """Pairs of texts that people scored, in the order of their source."""

    pairs: tuple[ScoredPair, ...]
    card: DataCard


@runtime_checkable
class PairTask(Described, Protocol):
    """Pairs of texts with people's scores, which a probe of a model's layers learns to predict."""

    @property
    def role(self) -> PairRole:
        """The role in which a model is read."""

    @property
    def low(self) -> float:
        """The score of texts that have nothing in common."""

    @property
    def high(self) -> float:
        """The score of texts that mean the same."""

    def load_pairs(self, data: str, *, part: Part | None, n: int | None, seed: int) -> PairData:
        """Read a data spec, and keep at most ``n`` pairs of it, drawn with the seed.

        Parameters
        ----------
        part
            Of data with a column ``split``: the rows to be read; None reads all rows.

        Raises
        ------
        DataError
            When the data cannot be read, holds a score out of the range, or has no pair.
        """


class Advance(Protocol):
    """Reports that some units of the current task are done."""

    def __call__(self, units: int = 1, /) -> None:
        """Count ``units`` more as done."""


@runtime_checkable
class Progress(Protocol):
    """Shows the progress of long work to the user."""

    def task(
        self, description: str, total: int | None, done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Show a task of ``total`` units, some done before; None if their number is unknown."""


_OURS = tuple(
    str(Path(__file__).parents[1] / name) + os.sep
    for name in ("scope", "perturbations", "capabilities", "reports")
)

# Not the attribute: a class of errors may have one of its own.
_TRACE = vars(BaseException)["__traceback__"].__get__

Value = TypeVar("Value")
Method = TypeVar("Method", bound=Callable[..., Any])
Errors = tuple[type[BaseException], ...]

NOT_THEIRS: Errors = (ScopeError, KeyboardInterrupt)
"""The errors that pass unchanged: messages for the user, and Ctrl-C."""

# A generator of ours that is closed.
_ENDINGS = (*NOT_THEIRS, GeneratorExit)


class Failed(NamedTuple):
    """An exception raised by foreign code."""

    error: BaseException


def attempt(code: Callable[[], Value], *, passing: Errors = (KeyboardInterrupt,)) -> Value | Failed:
    """The result of the code, or its failure of any kind.

    Examples
    --------
    >>> attempt(lambda: 2)
    2
    >>> attempt(sys.exit)
    Failed(error=SystemExit())
    """
    try:
        return code()
    except passing:
        raise
    # Foreign code may raise anything.
    except BaseException as error:  # noqa: BLE001
        return Failed(error)


@contextmanager
def converting(
    into: Callable[[BaseException], BaseException | None], *, passing: Errors = NOT_THEIRS
) -> Iterator[None]:
    """Convert every exception that is raised inside with ``into``.

    Parameters
    ----------
    into
        Returns None for an error that passes unchanged.
    passing
        Errors that pass unchanged.
    """
    try:
        yield
    except passing:
        raise
    # Foreign code may raise anything.
    except BaseException as error:
        ours = into(error)
        if ours is None:
            raise
        raise ours from error


class UntrustedCode:
    """Code of a user or a plugin; every call into it passes `call` or `entered`.

    Parameters
    ----------
    name
        The spec of the model, or another name of the code in messages.
    folders
        Folders that are searched first for its modules while it runs.

    Examples
    --------
    >>> UntrustedCode("python:mine:model").call("classify", len, [1, 2])
    2
    >>> UntrustedCode("python:mine:model").call("classify", sys.exit, 0)
    Traceback (most recent call last):
    ...
    scope.errors.ModelError: found:    `python:mine:model` failed in `classify`: SystemExit: 0
    expected: code that runs without an error
    fix:      fix the code there
    """

    def __init__(self, name: str, *, folders: Iterable[str] = ()) -> None:
        self.name = name
        self._path = list(folders)

    def call(
        self,
        what: str,
        code: Callable[..., Any],
        *arguments: Any,
        check: Callable[..., Any] | None = None,
        **options: Any,
    ) -> Any:
        """The result of the code; what an iterator yields is fetched inside the boundary, too.

        Parameters
        ----------
        what
            Names the method in messages.
        check
            Gets the result and the arguments, inside the boundary; returns plain values, or refuses
            the result.

        Raises
        ------
        ModelError
            When the code fails in any way.
        """
        with self.entered(what):
            result = code(*arguments, **options)
            if check is not None:
                result = check(result, *arguments)
        return self.each(what, result) if isinstance(result, Iterator) else result

    def each(self, what: str | None, values: Iterable[Any]) -> Iterator[Any]:
        """The values of an iterable of such code, each fetched inside the boundary."""
        with self.entered(what):
            iterator = iter(values)
        nothing_left = object()
        while True:
            with self.entered(what):
                value = next(iterator, nothing_left)
            if value is nothing_left:
                return
            yield value

    @contextmanager
    def entered(self, what: str | None) -> Iterator[None]:
        """Foreign code runs inside; ``sys.path`` is its own, and everything is restored after it.

        Raises
        ------
        ModelError
            When it fails in any way; where ``what`` is None, its errors pass unchanged.
        """
        folder = _working_folder()
        streams = sys.stdin, sys.stdout, sys.stderr
        path, entries = sys.path, list(sys.path)
        path[:0] = [entry for entry in self._path if entry not in entries]
        try:
            with converting(partial(self._failure, what)) if what else nullcontext():
                yield
        finally:
            known = set(entries) - set(self._path)
            self._path = [
                entry for entry in sys.path if isinstance(entry, str) and entry not in known
            ]
            sys.path = path
            path[:] = entries
            sys.stdin, sys.stdout, sys.stderr = streams
            if folder is not None and _working_folder() != folder:
                with suppress(OSError):
                    os.chdir(folder)

    def _failure(self, what: str, error: BaseException) -> ModelError | None:
        # Imported here, so that the command line starts sooner.
        from greenlet import GreenletExit, getcurrent

        # A greenlet is ended by whoever switches between them; the first has no parent.
        if isinstance(error, GreenletExit) and getcurrent().parent is not None:
            return None
        return ModelError(
            f"`{self.name}` failed in `{what}`: {first_line(error)}{_place(_TRACE(error))}",
            expected="code that runs without an error",
            fix="fix the code there",
        )


def _place(trace: TracebackType | None) -> str:
    """The last line outside of SCoPE that was running, in brackets; empty if there is none."""
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_OURS):
            place = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - sys.path and messages hold strings
    except OSError:
        return None


def loading(name: str) -> AbstractContextManager[None]:
    """Every exception raised inside becomes a ModelError that names the model, and any known file.

    Damaged files raise any error of the library that reads them, even a panic of tokenizers, which
    is no Exception.

    Raises
    ------
    ModelError
        In place of every error that is not a ScopeError.

    Examples
    --------
    >>> with loading("mine"):
    ...     raise OSError("no weights")
    Traceback (most recent call last):
    ...
    scope.errors.ModelError: found:    `mine` cannot be loaded (OSError: no weights)
    expected: a folder with config.json, a tokenizer and *.safetensors
    fix:      check that the checkpoint is complete and that this transformers release knows it; \
if it brings code of its own and you trust its author, add --trust-remote-code; a model that needs \
another machine can be served there and named openai:URL#MODEL
    """
    return converting(lambda error: unreadable(name, first_line(error)), passing=_ENDINGS)


def unreadable(name: str, reason: str) -> ModelError:
    """The error of a checkpoint that its library cannot read."""
    return ModelError(
        f"`{name}` cannot be loaded ({reason})",
        expected="a folder with config.json, a tokenizer and *.safetensors",
        fix="check that the checkpoint is complete and that this transformers release knows it; "
        "if it brings code of its own and you trust its author, add --trust-remote-code; a model "
        "that needs another machine can be served there and named openai:URL#MODEL",
    )


def during_inference(method: Method) -> Method:
    """A model's method; errors that a library raises become a ModelError with the model's ``spec``.

    Errors raised by SCoPE's own lines pass unchanged: they are bugs, or wrong calls.
    """

    @functools.wraps(method)
    def asked(self: Any, *arguments: Any, **options: Any) -> Any:
        with converting(partial(_inference_failure, self), passing=_ENDINGS):
            return method(self, *arguments, **options)

    @functools.wraps(method)
    def asked_one_by_one(self: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
        with converting(partial(_inference_failure, self), passing=_ENDINGS):
            yield from method(self, *arguments, **options)

    return asked_one_by_one if inspect.isgeneratorfunction(method) else asked  # type: ignore[return-value]


def _inference_failure(model: Any, error: BaseException) -> ModelError | None:
    """None where the line that raised is in SCoPE's own code."""
    trace = _TRACE(error)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        return None
    return ModelError(
        f"`{model.spec}` fails during inference ({first_line(error)})",
        expected="a model that answers every text up to its maximum length",
        fix="check that the tokenizer and the weights belong together; where memory is short, "
        "give a smaller --token-budget",
    )
