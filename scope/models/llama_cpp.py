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
from collections.abc import Mapping, Sequence
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
from scope.models.prompts import (
    PLACEHOLDER,
    Prompt,
    as_script,
    fit_around_blank,
    fit_prompt,
    with_letters,
)
from scope.models.replies import UNANSWERABLE, Reply, answer_text, first_word, opened_thought
from scope.models.scheme import KnownLabels, Scheme, Weights, labels_by_words
from scope.models.torch_setup import available_cores, processor, version, waiting_threads_sleep
from scope.paths import expanded, sha256_of
from scope.protocols import ScoredAnswers
from scope.records import GivenAnswer, Question, ScoredAnswer
from scope.records.result import DIFFERENTLY

CONTEXT = 2048
"""Tokens of context, shared by all places."""

_SETTINGS = ("lora", "places", "context", "cache")

_PART = re.compile(r"(?P<name>.*)-\d{5}-of-(?P<count>\d{5})\.gguf")

_TEMPLATE = b"tokenizer.chat_template"
_MOST_HEADER = 2**26
"""Bytes of a file that may be its header; that of the largest vocabulary has a fourth of them."""

_FOREVER = 1e9
"""Seconds."""

_MOST_FRAME = 256
"""Tokens of a chat template around a message."""

_LINE_END = "\n"

_COMPARED = 2
"""Likeliest tokens that are read in each place of an answer."""

_EMPTY = '""'

_ALL = 2**20
"""More tokens than any vocabulary has."""

_IN_COMPANY = f"{DIFFERENTLY}among others: probabilities by up to about 0.1"

_PLAIN = "{{ messages[0]['content'] }}"
"""A chat template that adds nothing: prompts are plain texts."""


@dataclass(frozen=True, kw_only=True)
class LlamaFile(Address):
    """What a spec names: a model's files, its adapters, and how it is run.

    ``places`` is the number of requests that are computed together, ``context`` how many tokens
    they have together. With a ``cache`` of 1 each place goes on from the beginning that a prompt
    shares with its last one.
    """

    rest: str
    files: tuple[Path, ...]
    adapters: tuple[Path, ...] = ()
    places: int = 1
    context: int = CONTEXT
    cache: int = 0

    @property
    def spec(self) -> str:
        """The string that names this model again."""
        return f"gguf:{self.rest}"

    @cached_property
    def identity(self) -> str:
        """A hash of the bytes of all files, and of what else may change an answer."""
        digests = [sha256_of(path) for path in (*self.files, *self.adapters)]
        how = (len(self.adapters), self.places, self.context, self.cache, version("xllamacpp"))
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
    is_known = {key for key, _ in pairs} <= {*_SETTINGS} and numbers.get("cache", "1") == "1"
    if not (name and is_number and is_known):
        raise SpecError(
            f"the model spec `gguf:{rest}` with the settings {after!r:.200}",
            expected="gguf:FILE, or FILE#SETTING=VALUE with lora=FILE, places=NUMBER, "
            "context=NUMBER or cache=1, joined by &",
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

    def __init__(self, server: Any, key: str, places: int, *, is_chat: bool) -> None:
        self.is_chat = is_chat
        self._handlers = {
            "chat": server.handle_chat_completions,
            "completions": server.handle_completions,
        }
        self._url = server.listening_address
        self._headers = {"Authorization": f"Bearer {key}"}
        self.threads = ThreadPoolExecutor(places, thread_name_prefix="scope-llama")

    async def exchange(self, ask: EndpointRequest, body: dict[str, Any]) -> Reply | Failure:
        """What the server replies to one request."""
        if ask.one_line:
            ask = replace(ask, one_line=False)
            first = await self.exchange(ask, body | {"stop": [_LINE_END]})
            # An answer may begin with a line break, and stand below a line that announces it.
            if isinstance(first, Failure) or first.cut or answer_text(first.text) is not None:
                return first
        # A token that is a part of a character is written without its probabilities; the end is
        # written with those of all tokens in its place.
        body = body | _only([]) if ask.path == "completions" else body
        # By default llama.cpp leaves out unlikely tokens.
        body = body | {"top_k": 0, "top_p": 1, "min_p": 0} if ask.seed is not None else body
        loop = asyncio.get_running_loop()
        content = await loop.run_in_executor(self.threads, self.reply, ask.path, body)
        outcome = outcome_of(ask, _status(content), {}, content)
        if isinstance(outcome, Reply) and ask.begun:
            return replace(outcome, text=outcome.text.removeprefix(ask.begun))
        return outcome

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

    def continuation(self, text: str) -> list[int]:
        """The tokens of what follows a text: some tokenizers put a space before each text."""
        before, tokens = self.tokens(_LINE_END), self.tokens(_LINE_END + text)
        return tokens[len(before) :] if tokens[: len(before)] == before else self.tokens(text)

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as text, with the special ones."""
        return str(self._asked("detokenize", {"tokens": tokens})["content"])

    def prompt(self, body: Mapping[str, Any]) -> str:
        """A request for a chat in the model's template."""
        return str(self._asked("apply-template", body)["prompt"])

    def _asked(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What has no handler in the binding is asked of the server's address on this machine."""
        import httpx

        # A proxy of the environment is none for this machine.
        method, url = "GET" if body is None else "POST", f"{self._url}/{path}"
        response = httpx.request(method, url, json=body, headers=self._headers, trust_env=False)
        return dict(response.raise_for_status().json())

    @cached_property
    def context(self) -> int:
        """Tokens of a prompt and its reply: a model may know fewer than its place has."""
        return int(self._asked("props")["default_generation_settings"]["n_ctx"])


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
        if self._prompts["cloze"].begins_reply and options.thinking != "on":
            self._read_filler = first_word

    def with_choice_prompt(self, prompt: Prompt) -> LlamaModel:
        """The same model, asked to choose with another prompt."""
        file, options = self._file, self._options
        return LlamaModel(file, self._server, options, with_letters(prompt), self._endpoint)

    @property
    def template(self) -> str:  # type: ignore[override]
        """The text of the chat template around a message; empty where prompts are plain."""
        request = EndpointRequest(path="chat", prompt=PLACEHOLDER)
        return self._read(request) if self._server.is_chat else ""

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, as it is read, with special tokens."""
        return self._server.text(self._tokens(self._request(name, question)))

    def _read(self, request: EndpointRequest) -> str:
        """A request in the model's template."""
        return self._server.prompt(self._endpoint.dialect.body(request))

    def _tokens(self, request: EndpointRequest) -> list[int]:
        return self._server.tokens(self._read(request), framed=True)

    @property
    def reproducible(self) -> str:
        """That answers are equal; in several places, or with the cache, they depend on others."""
        depends = self._file.places > 1 or self._file.cache
        return _IN_COMPANY if depends else "to the byte, one question at a time"

    def can_score(self) -> bool:
        """Whether answers are scored: always."""
        return True

    def score_answers(self, items: Sequence[GivenAnswer]) -> ScoredAnswers:
        """How likely each answer is to follow its question; see `scope.protocols.AnswerScorer`.

        A grammar lets the model write nothing but the answer's tokens and the end; what it would
        have written is in the probabilities of each place.
        """
        return enumerate(self._server.threads.map(self._score, items))

    def _score(self, item: GivenAnswer) -> ScoredAnswer:
        server, answer = self._server, item.answer or UNANSWERABLE
        goes_on = not server.is_chat or bool(self._request("answer", item.question).begun)
        tokens = server.continuation(f" {answer}" if goes_on else answer)
        ask = self._chat("answer", item.question, most_tokens=len(tokens) + 1, likeliest=_COMPARED)
        content = server.reply("chat", self._endpoint.dialect.body(ask) | _only(tokens))
        most = self._options.max_answer_tokens
        # After the most tokens that are written no end is.
        cut = len(tokens) >= most
        count = len(tokens) + (not cut)
        record = partial(ScoredAnswer, tokens=count, truncated=ask.truncated, cut=cut)
        status, places = _status(content), _places(content)
        if refusal(status, {}, content).is_too_long or b'"finish_reason":"length"' in content:
            return record(log_probability=math.nan, truncated=True, missing="cut off")
        if [place["id"] for place in places[:-1]] != tokens and (places or b"grammar" in content):
            places = self._place_by_place(self._tokens(ask), tokens)
        if not places:
            return record(log_probability=math.nan, missing="server")
        total = min(0.0, math.fsum(place["logprob"] for place in places[:count]))
        return record(log_probability=total, same=_would_write(places, most))

    def _place_by_place(self, read: list[int], tokens: list[int]) -> list[Any]:
        """The same where tokens are a part of a character: no grammar takes these.

        After each beginning of the answer only the end is written, with the probabilities of all
        tokens in its place.
        """
        places: list[Any] = []
        for number in range(len(tokens) + 1):
            asked = {"prompt": [*read, *tokens[:number]], "max_tokens": 1, "logprobs": _ALL}
            content = self._server.reply("completions", asked | {"temperature": 0} | _only([]))
            for place in _places(content):
                every = {entry["id"]: entry for entry in place["top_logprobs"]}
                places.append(place | every[tokens[number]] if number < len(tokens) else place)
        return places if len(places) == len(tokens) + 1 else []

    def _chat(
        self, name: str, question: Question, *, most_tokens: int = 1, likeliest: int = 0
    ) -> EndpointRequest:
        """The request with the reply begun, and with the passage cut where it is too long."""
        asked, truncated = [question], False

        def tokens_of(shorter: Question) -> list[int]:
            asked.append(shorter)
            return self._tokens(self._request(name, shorter))

        # A token has at least one byte.
        room = self._server.context - most_tokens
        whole = as_script(question.messages, self._prompts[name].render(question))
        if len(whole.encode()) + _MOST_FRAME > room:
            fit = fit_around_blank if name == "cloze" else fit_prompt
            truncated = fit(question, room, tokens_of).truncated
        request = replace(self._request(name, asked[-1]), one_line=name == "answer" and self._stops)
        request = replace(request, most_tokens=most_tokens, likeliest=likeliest)
        return replace(request, truncated=truncated, seed=question.seed)

    @cached_property
    def _stops(self) -> bool:
        """Whether an answer is over with its line: not of whole replies, nor within a thought."""
        thinks = self._options.thinking == "on" or opened_thought(self.template)
        return not (thinks or self._prompts["answer"].is_bare)

    def _request(self, name: str, question: Question) -> EndpointRequest:
        prompt = self._prompts[name]
        if not self._server.is_chat:
            whole = as_script(question.messages, prompt.render(question))
            return EndpointRequest(path="chat", prompt=whole)
        message, begun = prompt.parts(question)
        # A model that is to think begins its reply itself.
        begun = "" if self._options.thinking == "on" else begun
        earlier = question.messages
        return EndpointRequest(path="chat", prompt=message, earlier=earlier, begun=begun)


def _places(content: bytes) -> list[Any]:
    """The tokens of a reply with the likeliest in the place of each; none where it fails."""
    match json.loads(content):
        case {"choices": [{"logprobs": {"content": [*places]}}]}:
            return places
    return []


def _only(tokens: Sequence[int]) -> dict[str, str]:
    """The grammar with which only these tokens can be written, and then the end."""
    rule = " ".join(f"<[{token}]>" for token in tokens)
    return {"grammar": f"root ::= {rule or _EMPTY}"}


def _would_write(places: Sequence[Any], most: int) -> bool | None:
    """Whether the likeliest token is the answer's own in each place, and then the end.

    None where two tokens are equally likely, or other tokens may spell the same. After ``most``
    tokens an answer ends in any case.

    Examples
    --------
    >>> def place(token, *likeliest):
    ...     named = [{"id": name, "bytes": name, "logprob": value} for name, value in likeliest]
    ...     return {"id": token, "bytes": token, "top_logprobs": named}
    >>> last = place(b"", (b"", -0.2), (b"!", -1.9))
    >>> _would_write([place(b"in", (b"in", -0.1), (b"on", -2.5)), last], 32)
    True
    >>> _would_write([place(b"in", (b"on", -0.1), (b"in", -2.5)), last], 32)
    False
    """
    for number, place in enumerate(places):
        if number == most:
            return number == len(places) - 1
        best, *others = place["top_logprobs"]
        if others and best["logprob"] == others[0]["logprob"]:
            return None
        if best["id"] == place["id"]:
            continue
        written = bytes(best["bytes"])
        # The first line is the answer.
        if number == len(places) - 1 and written.startswith(b"\n"):
            return True
        rest = b"".join(bytes(each["bytes"]) for each in places[number:])
        return None if written and rest.startswith(written) else False
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


def _server(
    binding: ModuleType, file: LlamaFile, options: ModelOptions, *, is_chat: bool
) -> LlamaServer:
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
    # An answer must not depend on those before it, nor on the number of threads.
    params.cache_prompt, params.cache_ram_mib = bool(file.cache), 0
    params.flash_attn_type = binding.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.warmup = False
    params.verbosity = -1
    # The server also listens on this machine: nobody else is to use it.
    key = secrets.token_hex()
    params.api_keys, params.ui, params.endpoint_slots = [key], False, False
    try:
        return LlamaServer(binding.Server(params), key, file.places, is_chat=is_chat)
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
    with_more_roles = "hf:FILE.gguf (the same file, its weights unpacked)"

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
        size = sum(path.stat().st_size for path in (*file.files, *file.adapters))
        return Weights(stored=size, memory=size, reason="a GGUF file mixes precisions")

    def computed_by(self, options: ModelOptions) -> str:
        """The processor, and what llama.cpp uses of it; the number of threads changes nothing."""
        import xllamacpp

        return f"{options.device}, {processor()}, {xllamacpp.get_system_info()}"

    def latent_reader(self, rest: str, options: ModelOptions, readout: Readout | None) -> Never:
        """There is none."""
        raise ModelError(
            f"`{self.name}:{rest}` is run by llama.cpp, which does not expose its layers",
            expected="a model that is read layer by layer, as hf:NAME or hf:FILE.gguf",
            fix=f"write hf:{parse_rest(rest).files[0]}: the same file, its weights unpacked",
        )


SCHEME = Gguf("gguf", load)
