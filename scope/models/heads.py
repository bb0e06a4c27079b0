"""Heads of the transformers library that write nothing.

They classify a text, point at their answer in a passage, or fill a blank (masked language models).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError, counted
from scope.models.checkpoint import Head, fingerprint_with
from scope.models.inference import Computed, Inference, batches_of_equal_length, portions_by_length
from scope.models.options import ModelOptions
from scope.models.prompts import cut_around
from scope.models.replies import DECIMALS
from scope.models.torch_setup import load_torch
from scope.protocols import Answers, during_inference
from scope.records import BLANK, Answer, Prediction, Question
from scope.records.text_parts import parts_of

OF_ONE_LOGIT = ("0", "1")
"""The labels of a head with one logit, as cross-encoders have it: its sigmoid is that of "1"."""

_COMPARES = ("sentence_transformers", "sbert_ce_default_activation_function")
"""What the library sentence-transformers writes into the configurations of cross-encoders."""

_UNFIT = -2.0
"""The greatest logit of a label that does not fit: a probability of .12 of its own."""


def _label_names(spec: str, config: Any) -> tuple[str, ...]:
    """The names of a head's labels, if both tables of its configuration agree."""
    names, numbers, count = config.id2label, config.label2id, config.num_labels
    labels = tuple(str(names.get(index, f"LABEL_{index}")) for index in range(count))
    if count == 1 and config.problem_type != "regression":
        return OF_ONE_LOGIT
    items = numbers.items() if isinstance(numbers, dict) else ()
    # Names such as LABEL_0 are what the library writes where nobody has named the labels.
    stated = {(name, str(at)) for name, at in items if not name.startswith("LABEL_")}
    named = any(not label.startswith("LABEL_") for label in labels)
    clash = named and not stated <= {(label, str(at)) for at, label in enumerate(labels)}
    if clash or not set(names) <= set(range(count)):
        raise ModelError(
            f"`{spec.removeprefix('hf:')}` has id2label {names!r:.200}, label2id {numbers!r:.200}",
            expected="the same names of the labels 0, 1, … in both",
            fix="correct its config.json: which label a number stands for decides every result",
        )
    return labels


class HuggingFaceClassifier(Computed):
    """A sequence-classification checkpoint; texts beyond its limit are cut and counted.

    Raises
    ------
    ModelError
        When its labels are not mutually exclusive.
    """

    def __init__(self, head: Head, spec: str, options: ModelOptions) -> None:
        self._model, self._tokenizer, self.fingerprint, self._limit = head
        self._token_budget = options.token_budget
        self._inference = Inference(self._model, lambda tokens: self._logits(input_ids=tokens))
        self.spec = spec
        config = self._model.config
        if self._is_multi_label():
            raise ModelError(
                f"`{spec.removeprefix('hf:')}` is a multi-label classifier: each label has its own "
                f"probability{'' if config.problem_type else ' (no label fits a plain text)'}",
                expected="a classifier whose probabilities sum to 1 over its labels",
                fix="name a single-label model, wrap this one as python:MODULE:ATTRIBUTE, or, if "
                "its labels are alternatives, set problem_type to single_label_classification in "
                "its config.json",
            )
        if config.pad_token_id is None:
            # Causal classifiers read the last token that is not padding, and refuse a batch where
            # the padding token is unknown. Nothing is padded here: with an id that no token has
            # they read the last one, as for a single text.
            config.pad_token_id = -1
        self.labels = _label_names(spec, config)

    def _is_multi_label(self) -> bool:
        """Whether its configuration says so or, where that is silent, no label fits a plain text.

        A head trained for alternatives gives logits that sum to about 0: its loss moves none
        without the others.
        """
        config, torch = self._model.config, load_torch()
        if config.problem_type is not None or config.num_labels < 3:
            return bool(config.problem_type == "multi_label_classification")
        tokens = self._tokenizer("This is a text.", return_tensors="pt", verbose=False)
        with torch.inference_mode():
            logits = self._logits(**tokens.to(self._model.device))
        return bool((logits < _UNFIT).all())

    @during_inference
    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text; the probabilities are rounded to six decimals, and may be NaN."""
        encodings, truncated = self._encode(texts)
        predictions: dict[int, Prediction] = {}
        lengths = [len(encoding["input_ids"]) for encoding in encodings]
        for batch in batches_of_equal_length(lengths, self._token_budget):
            rows = [encodings[index] for index in batch]
            inputs = {key: self._tensor([row[key] for row in rows]) for key in rows[0]}
            # Not every device has float64.
            logits = self._inference.run(self._logits, **inputs).cpu().double()
            probabilities = np.round(logits.softmax(dim=-1).numpy(), DECIMALS)
            for index, row in zip(batch, probabilities, strict=True):
                predictions[index] = Prediction(
                    probabilities=tuple(row.tolist()), truncated=truncated[index]
                )
        return [predictions[index] for index in range(len(texts))]

    def _encode(self, texts: Sequence[str]) -> tuple[list[dict[str, list[int]]], list[bool]]:
        if not texts:
            return [], []
        bare = {"return_attention_mask": False, "verbose": False}
        columns = [list(part) for part in zip(*map(parts_of, texts), strict=True)]
        self._require_texts(len(columns))
        whole = self._tokenizer(*columns, **bare)
        encodings = [{key: whole[key][i] for key in whole} for i in range(len(texts))]
        truncated = [len(encoding["input_ids"]) > self._limit for encoding in encodings]
        for index in (i for i, cut in enumerate(truncated) if cut):
            parts = [column[index] for column in columns]
            short = self._tokenizer(*parts, truncation=True, max_length=self._limit, **bare)
            encodings[index] = dict(short)
        return encodings, truncated

    def _require_texts(self, count: int) -> None:
        """Refuse one text for a head of two, and more than the two segments of a tokenizer."""
        entails = "entailment" in map(str.casefold, self.labels)
        compares = entails or any(hasattr(self._model.config, name) for name in _COMPARES)
        if count > 2 or (count == 1 and compares):
            raise ModelError(
                f"rows of {counted(count, 'text')} for `{self.spec}`, a model with the labels "
                f"{', '.join(self.labels[:4])}",
                expected="two texts, such as premise and hypothesis" + ", or one" * (not compares),
                fix="name the columns in the model's order, for example "
                "--text-column premise --text-column hypothesis",
            )

    def _logits(self, **inputs: Any) -> Any:
        logits = self._model(**inputs).logits
        if logits.shape[-1] > 1 or len(self.labels) == 1:
            return logits
        return load_torch().cat([logits.new_zeros(logits.shape), logits], dim=-1)


class _Window(NamedTuple):
    """A window of the passage after its question, as the model reads it.

    ``places`` are the positions of the passage's tokens and ``offsets`` their characters in the
    passage; ``null`` is the position that stands for no answer.
    """

    question: int
    inputs: dict[str, list[int]]
    places: list[int]
    offsets: list[tuple[int, int]]
    null: int


class _Reading(NamedTuple):
    """The best span of one window, its score and characters, and the score of no answer."""

    score: float
    span: tuple[int, int]
    null: float


class ExtractiveModel(Computed):
    """A question-answering head in the role of answerer.

    A passage too long for the model is read in windows; each begins in the middle of the previous
    one. The answer is the span, over all windows, with the highest sum of start and end logit. The
    answer is empty where every window scores its first token (``[CLS]``) higher than that span, as
    with SQuAD 2.0. A checkpoint does not show whether it was trained on questions without an
    answer; heads of SQuAD 1.1 are read in the same way, since the usual training taught them that
    token for windows that lack the answer.

    Raises
    ------
    ModelError
        When the tokenizer does not map tokens to characters.
    """

    def __init__(self, head: Head, spec: str, options: ModelOptions) -> None:
        if not head.tokenizer.is_fast:
            name, kind = spec.removeprefix("hf:"), type(head.tokenizer).__name__
            raise ModelError(
                f"the tokenizer of `{name}` ({kind}) gives no offsets",
                expected="a fast tokenizer, which maps tokens to characters",
                fix="save the checkpoint with a tokenizer.json",
            )
        self._model, self._tokenizer, fingerprint, self._limit = head
        self._token_budget = options.token_budget
        self._longest = options.max_answer_tokens
        self._inference = Inference(
            self._model, lambda tokens: load_torch().cat(self._run(input_ids=tokens), dim=1)
        )
        self.spec = spec
        self.fingerprint = fingerprint_with(fingerprint, self._longest)

    @during_inference
    def answer(self, questions: Sequence[Question]) -> Answers:
        """Point out each question's answer in its passage.

        A question of more than half the model's limit is cut there, and counts as truncated.

        Raises
        ------
        ModelError
            When a question has no passage.
        """
        for question in questions:
            if not (question.context or "").strip():
                raise ModelError(
                    f"`{self.spec}` has no context for the question {question.id!r}",
                    expected="a question with a context: an extractive model selects a span of it",
                    fix="choose a generative model, or data with contexts",
                )
        texts = [self._shortened(question.text.strip()) for question in questions]
        both = zip(texts, questions, strict=True)
        windows = [list(self._windows(at, t, q.context or "")) for at, (t, q) in enumerate(both)]
        lengths = [sum(len(window.inputs["input_ids"]) for window in group) for group in windows]
        for portion in portions_by_length(lengths):
            readings: dict[int, list[_Reading]] = {index: [] for index in portion}
            parts = [part for index in portion for part in windows[index]]
            for window, reading in self._read(parts):
                readings[window.question].append(reading)
            for index in portion:
                question = questions[index]
                cut = texts[index] != question.text.strip()
                if any(math.isnan(reading.score + reading.null) for reading in readings[index]):
                    yield index, Answer(truncated=cut, missing="no number")
                    continue
                text = _best_text(readings[index], question.context or "")
                yield index, Answer(text=text, truncated=cut)

    def _shortened(self, text: str) -> str:
        encoded = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        offsets, most = encoded["offset_mapping"], self._limit // 2
        return text[: offsets[most - 1][1]] if len(offsets) > most else text

    def _windows(self, index: int, question: str, context: str) -> Iterator[_Window]:
        whole = self._tokenizer(question, context, return_offsets_mapping=True, verbose=False)
        if len(whole["input_ids"]) > self._limit:
            inside = sum(part == 1 for part in whole.sequence_ids())
            room = self._limit - (len(whole["input_ids"]) - inside)
            bounds = {"truncation": "only_second", "max_length": self._limit, "stride": room // 2}
            names = ("return_overflowing_tokens", "return_offsets_mapping")
            more = {**bounds, **dict.fromkeys(names, True), "verbose": False}
            whole = self._tokenizer(question, context, **more)
        first = self._tokenizer.cls_token_id
        for encoding in whole.encodings:
            places = [
                place
                for place, part in enumerate(encoding.sequence_ids)
                if part == 1 and context[slice(*encoding.offsets[place])].strip()
            ]
            rows = {"input_ids": encoding.ids, "token_type_ids": encoding.type_ids}
            yield _Window(
                question=index,
                inputs={key: rows[key] for key in rows if key in whole},
                places=places,
                offsets=[encoding.offsets[place] for place in places],
                # The classification token stands for no answer, else the first one.
                null=encoding.ids.index(first) if first in encoding.ids else 0,
            )

    def _read(self, windows: Sequence[_Window]) -> Iterator[tuple[_Window, _Reading]]:
        lengths = [len(window.inputs["input_ids"]) for window in windows]
        for batch in batches_of_equal_length(lengths, self._token_budget):
            inputs = [windows[number].inputs for number in batch]
            rows = {key: self._tensor([row[key] for row in inputs]) for key in inputs[0]}
            # Not every device has float64.
            ran = self._inference.run(self._run, **rows)
            starts, ends = (side.cpu().double().numpy() for side in ran)
            for row, number in enumerate(batch):
                window = windows[number]
                yield window, _reading(window, starts[row], ends[row], self._longest)

    def _run(self, **batch: Any) -> tuple[Any, Any]:
        answer = self._model(**batch)
        return answer.start_logits, answer.end_logits


def _reading(
    window: _Window, starts: NDArray[np.float64], ends: NDArray[np.float64], longest: int
) -> _Reading:
    """The best span of at most ``longest`` tokens; the first of equals."""
    null = round(float(starts[window.null] + ends[window.null]), DECIMALS)
    places = np.array(window.places, dtype=int)
    if not places.size:
        # Characters that the tokenizer drops, such as control characters, hold no answer.
        return _Reading(-np.inf, (0, 0), null)
    scores = np.round(starts[places][:, None] + ends[places][None, :], DECIMALS)
    length = places[None, :] - places[:, None] + 1
    scores[(length < 1) | (length > longest)] = -np.inf
    first, last = np.unravel_index(int(scores.argmax()), scores.shape)
    return _Reading(
        float(scores[first, last]), (window.offsets[first][0], window.offsets[last][1]), null
    )


def _best_text(readings: Sequence[_Reading], context: str) -> str:
    best = min(readings, key=lambda reading: (-reading.score, reading.span))
    if min(reading.null for reading in readings) > best.score:
        return ""
    return context[slice(*best.span)].strip()


MOST_PIECES = 3
"""Tokens that a filler may be made of."""

FILLERS = 5
"""The most answers per question, others included."""


class _Masks(NamedTuple):
    """A question with its blank as that many mask tokens, from ``first`` on."""

    tokens: list[int]
    first: int
    pieces: int
    after_space: bool
    truncated: bool


class _Filler(NamedTuple):
    """A word, and the mean log-probability of its tokens."""

    score: float
    word: str


class MaskedModel(Computed):
    """A masked-language-modelling checkpoint in the role of mask filler.

    The blank becomes one, two and three mask tokens in turn. One mask gives its likeliest words.
    Several are filled from left to right, each with the likeliest token given those before it:
    the first must begin a word, the later ones continue it. A candidate's score is the mean
    log-probability of its tokens, each at the step that fills it in, over the whole vocabulary.

    Raises
    ------
    ModelError
        When the tokenizer has no mask token.
    """

    def __init__(self, head: Head, spec: str, options: ModelOptions) -> None:
        mask = head.tokenizer.mask_token
        written = head.tokenizer(mask, verbose=False)["input_ids"] if mask else []
        # Otherwise the mask is not found in its text, or cut from it.
        room = len(written) + MOST_PIECES - 1 <= head.limit if mask else False
        if not room or head.tokenizer.mask_token_id not in written:
            raise ModelError(
                f"the tokenizer of `{spec}` has no mask token, or cannot write it",
                expected=f"a masked language model that reads {MOST_PIECES} masks in a text",
                fix="check the checkpoint's special_tokens_map.json, and its limits of tokens",
            )
        torch = load_torch()
        self._model, self._tokenizer, self.fingerprint, self._limit = head
        self._token_budget = options.token_budget
        self._inference = Inference(
            self._model, lambda tokens: self._logits(tokens, torch.zeros_like(tokens[:, 0]))
        )
        self.spec = spec
        allowed = word_pieces(self._tokenizer, self._model.config.vocab_size)
        self._begins, self._opens, self._continues = map(torch.from_numpy, allowed)

    @during_inference
    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill each question's blank with a word; ``others`` are up to four more.

        Raises
        ------
        ValueError
            When a question's text does not hold exactly one blank.
        """
        every = range(1, MOST_PIECES + 1)
        masked = [self._mask(question, pieces) for question in questions for pieces in every]
        lengths = [len(masks.tokens) for masks in masked]
        for portion in portions_by_length(lengths[::MOST_PIECES]):
            pieces = range(MOST_PIECES)
            numbers = [index * MOST_PIECES + piece for piece in pieces for index in portion]
            fillers: dict[int, list[_Filler]] = {index: [] for index in portion}
            together = [lengths[number] for number in numbers]
            for batch in batches_of_equal_length(together, self._token_budget):
                filled = self._fill([masked[numbers[row]] for row in batch])
                for row, words in zip(batch, filled, strict=True):
                    fillers[numbers[row] // MOST_PIECES] += words
            for index in portion:
                variants = masked[index * MOST_PIECES : (index + 1) * MOST_PIECES]
                cut = any(masks.truncated for masks in variants)
                yield index, _answer(fillers[index], truncated=cut)

    def _mask(self, question: Question, pieces: int) -> _Masks:
        parts = question.text.split(BLANK)
        mask = self._tokenizer.mask_token
        # A text that mentions the mask must not count as one with several blanks.
        before, after = (part.replace(mask, " ") for part in parts)
        text = f"{before}{mask * pieces}{after}"
        framed = self._tokenizer(text, verbose=False)["input_ids"]
        bare = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        middle = bare.index(self._tokenizer.mask_token_id) + pieces // 2
        tokens, truncated = cut_around(framed, bare, middle, self._limit)
        first, is_apart = tokens.index(self._tokenizer.mask_token_id), before[-1:].isspace()
        return _Masks(tokens, first, pieces, after_space=is_apart, truncated=truncated)

    def _fill(self, batch: Sequence[_Masks]) -> list[list[_Filler]]:
        """The fillers of each question of a batch: several for one mask, one for several."""
        tokens, device = load_torch().tensor([masks.tokens for masks in batch]), self._model.device
        scores: list[Any] = [0.0] * len(batch)
        fillers: list[list[_Filler]] = [[] for _ in batch]
        for step in range(max(masks.pieces for masks in batch)):
            rows = [row for row, masks in enumerate(batch) if masks.pieces > step]
            places = [batch[row].first + step for row in rows]
            there = self._inference.run(
                self._logits, tokens=tokens[rows].to(device), places=self._tensor(places)
            )
            # Not every device has float64.
            scored = there.cpu().double().log_softmax(dim=-1)
            for row, place, every in zip(rows, places, scored, strict=True):
                masks = batch[row]
                begins = self._begins if masks.after_space else self._opens
                allowed = self._continues if step else begins
                most = min(len(every), FILLERS if masks.pieces == 1 else 1)
                best = every.masked_fill(~allowed, -math.inf).topk(most)
                tokens[row, place] = best.indices[0]
                scores[row] = scores[row] + best.values / masks.pieces
                if step == masks.pieces - 1:
                    spelled = [[*tokens[row, masks.first : place], last] for last in best.indices]
                    fillers[row] = self._words(scores[row].tolist(), spelled)
        return fillers

    def _words(self, scores: Sequence[float], spelled: Sequence[Sequence[Any]]) -> list[_Filler]:
        """The candidates that are words; one that no allowed token can fill has the score -∞."""
        decoded = [self._tokenizer.decode([int(token) for token in each]) for each in spelled]
        words = [word.strip() for word in decoded]
        return [
            _Filler(round(score, DECIMALS), word)
            for score, word in zip(scores, words, strict=True)
            if score != -math.inf and word and not any(map(str.isspace, word))
        ]

    def _logits(self, tokens: Any, places: Any) -> Any:
        rows = load_torch().arange(len(places), device=places.device)

        def only_there(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            return (inputs[0][rows, places].unsqueeze(1), *inputs[1:])

        # Scores over the vocabulary for every token of a batch would fill a gigabyte.
        projection = self._model.get_output_embeddings()
        hook = projection.register_forward_pre_hook(only_there) if projection is not None else None
        try:
            logits = self._model(input_ids=tokens).logits
        finally:
            if hook is not None:
                hook.remove()
        # Some heads multiply with the projection's weights themselves, and score every place.
        return logits[:, 0] if logits.shape[1] == 1 else logits[rows, places]


def _answer(fillers: Sequence[_Filler], *, truncated: bool) -> Answer:
    """The best fillers; a word that was spelled in two ways counts once, with its better score."""
    if any(math.isnan(filler.score) for filler in fillers):
        return Answer(truncated=truncated, missing="no number")
    ranked = sorted(fillers, key=lambda filler: (-filler.score, filler.word))
    words = list(dict.fromkeys(filler.word for filler in ranked))[:FILLERS]
    if not words:
        return Answer(truncated=truncated)
    return Answer(text=words[0], others=tuple(words[1:]), truncated=truncated)


_CONTINUES = "##"

_BEGINS = ("Ġ", "▁")

_INSIDE_WORDS = "'’-"


class WordPieces(NamedTuple):
    """One boolean per token of the vocabulary.

    ``begins`` are those that open a word after a space, ``opens`` those that may open one where
    no space comes before, ``continues`` those that are written onto the token before them.
    """

    begins: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    continues: NDArray[np.bool_]


def word_pieces(tokenizer: Any, size: int) -> WordPieces:
    """Sort the vocabulary of a tokenizer by what its tokens do to a word.

    Only tokens made of letters, digits, marks, apostrophes and hyphens count, and tokens that begin
    a word have a letter or digit. WordPiece marks what continues a word, byte-level and
    SentencePiece vocabularies mark what begins one; a vocabulary without marks leaves it open.
    """
    vocabulary = tokenizer.get_vocab()
    special = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    marks = [sum(token.startswith(mark) for token in vocabulary) for mark in _BEGINS]
    suffixed = sum(token.startswith(_CONTINUES) for token in vocabulary) > max(marks)
    begins, opens, continues = np.zeros((3, size), dtype=bool)
    for token, number in vocabulary.items():
        text = tokenizer.convert_tokens_to_string([token]).strip()
        is_onward = suffixed and token.startswith(_CONTINUES)
        piece = text.removeprefix(_CONTINUES) if is_onward else text
        if number in special or number >= size or not _may_stand_in_word(piece):
            continue
        is_onset = any(map(str.isalnum, piece))
        if suffixed or not any(marks):
            begins[number] = opens[number] = is_onset and not is_onward
            continues[number] = is_onward or not suffixed
        else:
            marked = token.startswith(_BEGINS)
            begins[number], opens[number] = is_onset and marked, is_onset
            continues[number] = not marked
    return WordPieces(begins, opens, continues)


def _may_stand_in_word(piece: str) -> bool:
    """Whether a piece has only characters of words; a partial character decodes to none of them."""
    return bool(piece) and all(
        unicodedata.category(character)[0] in "LMN" or character in _INSIDE_WORDS
        for character in piece
    )
