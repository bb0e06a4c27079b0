"""``gguf:FILE``: a file of llama.cpp, run as it is by llama.cpp's own server code in this process.

The binding is `xllamacpp`, an extra. Weights stay as they are in the file, which is mapped into
memory; its tokenizer and chat template are used. Requests are those to an endpoint, without a
network. ``hf:FILE.gguf`` is the same file unpacked, for probes and for scores of texts:
`scope.models.gguf`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import mmap
import os
import re
import secrets
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import Any, Never

from scope.errors import ModelError, SpecError, first_line
from scope.models.endpoint import EndpointModel
from scope.models.endpoint.address import NO_KEY, Address, Key
from scope.models.endpoint.client import Endpoint, WaitClock
from scope.models.endpoint.protocol import OK, EndpointRequest, Failure, outcome_of, refusal
from scope.models.gguf import require_gguf
from scope.models.options import ModelOptions, Readout
from scope.models.prompts import Prompt, with_letters
from scope.models.replies import UNANSWERABLE, Reply
from scope.models.scheme import KnownLabels, Scheme, Weights, labels_by_words
from scope.models.torch_setup import available_cores, version, waiting_threads_sleep
from scope.paths import expanded, sha256_of
from scope.records import GivenAnswer, NoAnswer, ScoredAnswer

CONTEXT = 2048
"""Tokens of context, shared by all places."""

_SETTINGS = ("lora", "places", "context")

_PART = re.compile(r"(?P<name>.*)-\d{5}-of-(?P<count>\d{5})\.gguf")

_TEMPLATE = b"tokenizer.chat_template"
_MOST_HEADER = 2**26
"""Bytes of a file that may be its header; that of the largest vocabulary has a fourth of them."""

_FOREVER = 1e9
"""Seconds."""

_NEAR = 0.5
"""Two tokens whose log-probabilities differ by less may change places in other company."""

_LINE_END = "\n"

_COMPARED = 2
"""Likeliest tokens that are read in each place of an answer."""

_NOTHING = 'root ::= ""'
"""A grammar with which only the end can be written."""

_PLAIN = "{{ messages[0]['content'] }}"
"""A chat template that adds nothing: prompts are plain texts."""


@dataclass(frozen=True, kw_only=True)
class LlamaFile(Address):
    """What a spec names: a model's files, its adapters, and how it is run.

    ``places`` is the number of requests that are computed together, ``context`` how many tokens
    they have together.
    """

    rest: str
    files: tuple[Path, ...]
    adapters: tuple[Path, ...] = ()
    places: int = 1
    context: int = CONTEXT

    @property
    def spec(self) -> str:
        """The string that names this model again."""
        return f"gguf:{self.rest}"

    @cached_property
    def identity(self) -> str:
        """A hash of the bytes of all files, and of what else may change an answer."""
        digests = [sha256_of(path) for path in (*self.files, *self.adapters)]
        how = (len(self.adapters), self.places, self.context, version("xllamacpp"))
        return hashlib.sha256(json.dumps([digests, how]).encode()).hexdigest()

    def require_there(self) -> None:
        """Refuse files that are missing, or no GGUF files."""
        for path in (*self.files, *self.adapters):
            require_gguf(path)

    @property
    def has_template(self) -> bool:
        """Whether the file has a chat template, by the name of the field in its header."""
        field = struct.pack("<Q", len(_TEMPLATE)) + _TEMPLATE
        with (
            self.files[0].open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content.find(field, 0, _MOST_HEADER) >= 0


def parse_rest(rest: str) -> LlamaFile:
    """Parse ``FILE`` or ``FILE#NAME=VALUE&...``; any part of a model in several files names it.

    Raises
    ------
    SpecError
        When a setting is unknown, or is no number where one is expected.

    Examples
    --------
    >>> parsed = parse_rest("big-00002-of-00003.gguf#places=8&context=16384")
    >>> [path.name for path in parsed.files], parsed.places, parsed.context
    (['big-00001-of-00003.gguf', 'big-00002-of-00003.gguf', 'big-00003-of-00003.gguf'], 8, 16384)
    """
    name, mark, after = rest.rpartition("#")
    if not mark or "=" not in after:
        name, after = rest, ""
    pairs = [tuple(item.partition("=")[::2]) for item in after.split("&") if after]
    numbers = {key: value for key, value in pairs if key != "lora"}
    is_number = all(re.fullmatch("[1-9][0-9]{0,8}", value) for value in numbers.values())
    if not is_number or not {key for key, _ in pairs} <= {*_SETTINGS} or not name:
        raise SpecError(
            f"the model spec `gguf:{rest}` with the settings {after!r:.200}",
            expected="gguf:FILE, or FILE#SETTING=VALUE with lora=FILE, places=NUMBER or "
            "context=NUMBER, joined by &",
            fix="write for example gguf:model.gguf#lora=adapter.gguf&places=8&context=16384",
        )
    files = [expanded(name)]
    if match := _PART.fullmatch(files[0].name):
        every = range(1, int(match["count"]) + 1)
        names = [f"{match['name']}-{number:05}-of-{match['count']}.gguf" for number in every]
        files = [files[0].with_name(each) for each in names]
    return LlamaFile(
        base_url="",
        model=files[0].stem,
        rest=rest,
        files=tuple(files),
        adapters=tuple(expanded(value) for key, value in pairs if key == "lora"),
        **{key: int(value) for key, value in numbers.items()},
    )


class LlamaServer:
    """llama.cpp's server code in this process: the transport of an endpoint, without a network."""

    def __init__(self, server: Any, key: str, places: int) -> None:
        self._handlers = {
            "chat": server.handle_chat_completions,
            "completions": server.handle_completions,
        }
        self._url = server.listening_address
        self._headers = {"Authorization": f"Bearer {key}"}
        self.threads = ThreadPoolExecutor(places, thread_name_prefix="scope-llama")

    async def exchange(self, ask: EndpointRequest, body: dict[str, Any]) -> Reply | Failure:
        """What the server replies to one request."""
        # A token that is a part of a character is written without its probabilities; the end is
        # written with those of all tokens in its place.
        body = body | {"grammar": _NOTHING} if ask.path == "completions" else body
        loop = asyncio.get_running_loop()
        content = await loop.run_in_executor(self.threads, self.reply, ask.path, body)
        return outcome_of(ask, _status(content), {}, content)

    def serve(self, runner: asyncio.Runner) -> None:
        """Run the event loop until it is stopped."""
        with runner:
            runner.get_loop().run_forever()

    def reply(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The reply to a request, as JSON."""
        pieces: list[bytes] = []
        # What is appended is kept; None lets the server go on.
        self._handlers[path](json.dumps(body).encode(), pieces.append)
        return b"".join(pieces)

    def tokens(self, text: str, *, framed: bool = False) -> list[int]:
        """The tokens of a text; ``framed`` with special ones where they stand in it."""
        body = {"content": text, "add_special": framed, "parse_special": framed}
        return list(self._asked("tokenize", body)["tokens"])

    def prompt(self, body: Mapping[str, Any]) -> str:
        """A request for a chat in the model's template."""
        return str(self._asked("apply-template", body)["prompt"])

    def _asked(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """What has no handler in the binding is asked of the server's address on this machine."""
        import httpx

        # A proxy of the environment is none for this machine.
        response = httpx.post(
            f"{self._url}/{path}", json=dict(body), headers=self._headers, trust_env=False
        )
        return dict(response.raise_for_status().json())


def _status(content: bytes) -> int:
    """The status of a reply; the server's handlers leave it in the body."""
    if not content.startswith(b'{"error"'):
        return OK
    match json.loads(content):
        case {"error": {"code": int(code)}}:
            return code
    return 500


class LlamaModel(EndpointModel):
    """A model that llama.cpp runs; it is asked as an endpoint, and scores given answers, too."""

    in_chats = True
    """Also plain prompts, for which the template is an empty one."""

    def __init__(
        self,
        file: LlamaFile,
        server: LlamaServer,
        options: ModelOptions,
        choice_prompt: Prompt | None = None,
        endpoint: Endpoint | None = None,
    ) -> None:
        # A request ends by itself: none is sent twice.
        patient = replace(
            options, requests=file.places, timeout=_FOREVER, retries=0, max_requests=None
        )
        endpoint = endpoint or Endpoint(file, Key(value=NO_KEY), patient, WaitClock(), server)
        super().__init__(file, endpoint, options, choice_prompt)
        self._file, self._server = file, server

    def with_choice_prompt(self, prompt: Prompt) -> LlamaModel:
        """The same model, asked to choose with another prompt."""
        file, options = self._file, self._options
        return LlamaModel(file, self._server, options, with_letters(prompt), self._endpoint)

    def can_score(self) -> bool:
        """Whether answers are scored: always."""
        return True

    def score_answers(self, items: Sequence[GivenAnswer]) -> Iterator[tuple[int, ScoredAnswer]]:
        """How likely each answer is to follow its question; see `scope.protocols.AnswerScorer`.

        A grammar lets the model write nothing but the answer's tokens and the end; what it would
        have written is in the probabilities of each place.
        """
        return enumerate(self._server.threads.map(self._score, items))

    def _score(self, item: GivenAnswer) -> ScoredAnswer:
        server, answer = self._server, item.answer or UNANSWERABLE
        # As what follows, not as a text of its own, before which some tokenizers put a space.
        before, tokens = server.tokens(_LINE_END), server.tokens(_LINE_END + answer)
        is_apart = tokens[: len(before)] == before
        tokens = tokens[len(before) :] if is_apart else server.tokens(answer)
        message = self.prompt_as_read("answer", item.question)
        ask = EndpointRequest(
            path="chat", prompt=message, most_tokens=len(tokens) + 1, likeliest=_COMPARED
        )
        rule = " ".join(f"<[{token}]>" for token in tokens)
        body = self._endpoint.dialect.body(ask) | {"grammar": f"root ::= {rule}"}
        content = server.reply("chat", body)
        record = partial(ScoredAnswer, tokens=len(tokens) + 1)
        if (status := _status(content)) != OK:
            is_long = refusal(status, {}, content).is_too_long
            missing: NoAnswer = "cut off" if is_long else "server"
            return record(log_probability=math.nan, truncated=is_long, missing=missing)
        places = json.loads(content)["choices"][0]["logprobs"]["content"]
        if [place["id"] for place in places[:-1]] != tokens:
            # Tokens that are a part of a character have no probability.
            return record(log_probability=math.nan, missing="no number")
        total = min(0.0, math.fsum(place["logprob"] for place in places))
        return record(
            log_probability=total,
            same=_would_write(places, _NEAR if self._file.places > 1 else 0.0),
        )


def _would_write(places: Sequence[Any], near: float) -> bool | None:
    """Whether the likeliest token is the answer's own in each place, and then the end.

    None where two tokens are too near to tell, or other tokens may spell the same.

    Parameters
    ----------
    near
        Least difference of two log-probabilities.

    Examples
    --------
    >>> def place(token, *likeliest):
    ...     named = [{"id": name, "token": name, "logprob": value} for name, value in likeliest]
    ...     return {"id": token, "token": token, "top_logprobs": named}
    >>> first, last = place("in", ("in", -0.1), ("on", -2.5)), place("", ("", -0.2), ("!", -1.9))
    >>> _would_write([first, last], 0.0), _would_write([last, first], 2.0)
    (True, None)
    >>> _would_write([place("in", ("on", -0.1), ("in", -2.5)), last], 0.0)
    False
    """
    for number, place in enumerate(places):
        best, *others = place["top_logprobs"]
        if others and best["logprob"] - others[0]["logprob"] <= near:
            return None
        if best["id"] == place["id"]:
            continue
        rest = "".join(each["token"] for each in places[number:])
        is_end = number == len(places) - 1
        # The first line is the answer.
        if is_end and best["token"].startswith(_LINE_END):
            return True
        return None if best["token"] and rest.startswith(best["token"]) else False
    return True


def load(rest: str, options: ModelOptions) -> LlamaModel:
    """Load a GGUF file with llama.cpp.

    Raises
    ------
    SpecError
        When the settings after the file's name are invalid.
    ModelError
        When llama.cpp is not installed, or the file is missing, damaged or of an architecture that
        llama.cpp does not know.
    """
    file = parse_rest(rest)
    file.require_there()
    binding = _binding(file)
    is_chat = options.chat != "no" and file.has_template
    if options.chat == "yes" and not is_chat:
        raise ModelError(
            f"`{file.spec}` has no chat template",
            expected="with --chat yes, language models with a chat template",
            fix="write --chat auto",
        )
    return LlamaModel(file, _server(binding, file, options, is_chat=is_chat), options)


def _binding(file: LlamaFile) -> ModuleType:
    """The binding of llama.cpp, whose waiting threads sleep where it is imported first."""
    waiting_threads_sleep()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelError(
            f"`{file.spec}` needs llama.cpp, which cannot be imported ({first_line(error)})",
            expected="the package xllamacpp, which runs the file as it is",
            fix="pip install 'scope-models[gguf]'; or write "
            f"hf:{file.files[0]}, which unpacks the weights into memory",
        ) from error
    return xllamacpp  # type: ignore[no-any-return]


def _server(binding: ModuleType, file: LlamaFile, options: ModelOptions, *, is_chat: bool) -> Any:
    params = binding.CommonParams()
    params.model.path = str(file.files[0])
    params.model_alias = {file.model}
    params.lora_adapters = [binding.CommonAdapterLoraInfo(str(path), 1.0) for path in file.adapters]
    params.n_ctx, params.n_parallel = file.context, file.places
    threads = options.threads or available_cores()
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    if options.device == "cpu":
        params.n_gpu_layers = 0
    if not is_chat:
        params.chat_template = _PLAIN
    params.cache_prompt, params.cache_ram_mib, params.warmup = False, 0, False
    params.verbosity = -1
    # The server also listens on this machine: nobody else is to use it.
    key = secrets.token_hex()
    params.api_keys, params.ui, params.endpoint_slots = [key], False, False
    try:
        return LlamaServer(binding.Server(params), key, file.places)
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"llama.cpp cannot load `{file.spec}` ({first_line(error)})",
            expected="a whole GGUF file of an architecture that this llama.cpp knows (xllamacpp "
            f"{version('xllamacpp')}), and adapters made for it",
            fix="download it again; if that fails too, pip install --upgrade xllamacpp",
        ) from error


class Gguf(Scheme):
    """Files of llama.cpp, run by llama.cpp."""

    computed = by_letters = True

    def require_there(self, rest: str) -> None:
        """Refuse a file that is not GGUF."""
        parse_rest(rest).require_there()

    def short_name(self, rest: str) -> str:
        """The name of the file, and of its adapters."""
        file = parse_rest(rest)
        return "+".join(path.stem for path in (file.files[0], *file.adapters))

    def labels(self, rest: str, options: ModelOptions) -> KnownLabels:
        """The label words."""
        return labels_by_words(f"{self.name}:{rest}", options)

    def weights(self, rest: str, options: ModelOptions) -> Weights:
        """The size of the files."""
        file = parse_rest(rest)
        size = _size((*file.files, *file.adapters))
        return Weights(stored=size, memory=size, reason="a GGUF file mixes precisions")

    def latent_reader(self, rest: str, options: ModelOptions, readout: Readout | None) -> Never:
        """There is none."""
        raise ModelError(
            f"`{self.name}:{rest}` is run by llama.cpp, which does not expose its layers",
            expected="a model that is read layer by layer, as hf:NAME or hf:FILE.gguf",
            fix=f"write hf:{parse_rest(rest).files[0]}: the same file, its weights unpacked",
        )


def _size(files: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in files)


SCHEME = Gguf("gguf", load)
