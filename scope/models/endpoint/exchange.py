"""One request over HTTP: where it may go, and how much of what comes back is read.

Nothing here trusts the server. A redirect is followed within the server alone, so that prompts
and the key reach the server that the user named and no other. A body is read as it comes, up to a
bound that hangs on what was asked for, also where it is compressed. Cookies are not kept.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from scope.errors import ModelError
from scope.models.endpoint.address import Key
from scope.models.endpoint.failures import OK, REDIRECTS, Failure, clean, connection_failure
from scope.models.endpoint.replies import EndpointRequest
from scope.printing import first_line

if TYPE_CHECKING:
    import httpx

MOST_REDIRECTS = 5

KIBIBYTE = 1024

ENVELOPE = 256 * KIBIBYTE
"""Bytes of a reply beside its tokens: identifiers, counts, and the thoughts of some models."""

BYTES_A_TOKEN = 2 * KIBIBYTE
"""Of a token and each of the likeliest in its place, written as JSON; mostly there are 100."""

MOST_BYTES = 8 * KIBIBYTE**2
"""Of any reply, however many tokens were asked for."""

MOST_LISTED_BYTES = 4 * KIBIBYTE**2
"""Of a list of models: some ten thousand with all that servers list of each."""

MOST_REFUSAL_BYTES = 64 * KIBIBYTE
"""Of a reply with an error status."""

_PATHS = {"chat": "/chat/completions", "completions": "/completions", "models": "/models"}


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpResponse:
    """A server's response, its body bounded."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class UnreadableBodyError(Exception):
    """A body that is too long, or not as it was compressed; the words say which."""


class Connections:
    """Clients of one server, each used for one request at a time and then for the next.

    They send the key, keep no cookies and follow no redirects. One client for all requests would
    look through all of its connections at each: with 40 at once that takes a core.

    Raises
    ------
    ModelError
        When the environment names a proxy or certificates that cannot be used.
    """

    def __init__(self, key: Key, base_url: str) -> None:
        import httpx

        self.base_url, self._key = base_url, key
        try:
            # Read once: it takes longer than a request.
            self._certificates = httpx.create_ssl_context()
            self._idle = [self._open()]
        except (ValueError, ImportError, OSError, httpx.InvalidURL) as error:
            # Not shown in full: the URL of a proxy may hold a password.
            raise ModelError(
                f"a proxy or certificates in the environment that cannot be used to ask {base_url} "
                f"({type(error).__name__})",
                expected="in HTTP_PROXY, HTTPS_PROXY and ALL_PROXY an http or https URL or "
                "nothing, in SSL_CERT_FILE and SSL_CERT_DIR certificates that can be read or "
                "nothing",
                fix="correct these variables, or unset them",
            ) from None

    def _open(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(
            headers={
                "Authorization": f"Bearer {self._key.value}",
                "Accept": "application/json",
                # A compressed body may be a thousand times as long as it seems.
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                "User-Agent": "scope-models",
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=60.0),
            verify=self._certificates,
            # The time of a whole request is bounded by the caller.
            timeout=None,  # noqa: S113 - see above
        )

    @contextmanager
    def one(self) -> Iterator[httpx.AsyncClient]:
        """A client that nobody else uses meanwhile, if possible the one used last."""
        client = self._idle.pop() if self._idle else self._open()
        try:
            yield client
        finally:
            self._idle.append(client)

    async def close(self) -> None:
        """Close all of them."""
        for client in self._idle:
            await client.aclose()


async def exchange(
    connections: Connections, ask: EndpointRequest, body: dict[str, Any]
) -> HttpResponse | Failure:
    """The server's response to a request."""
    with connections.one() as client:
        return await _exchange(client, connections.base_url + _PATHS[ask.path], ask, body)


async def _exchange(
    client: httpx.AsyncClient, url: str, ask: EndpointRequest, body: dict[str, Any]
) -> HttpResponse | Failure:
    import httpx

    content = None if ask.path == "models" else json.dumps(body).encode()
    method = "GET" if content is None else "POST"
    try:
        for _ in range(MOST_REDIRECTS + 1):
            async with client.stream(method, url, content=content) as response:
                if response.status_code not in REDIRECTS:
                    return await _read(response, ask)
            target = _within(url, response.headers.get("location", ""))
            if target is None:
                return _astray(url, response)
            url = target
    except UnreadableBodyError as error:
        return Failure(said=str(error), status=OK)
    # Beside errors of httpx: names of hosts that cannot be written, and sockets.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
        return connection_failure(error)
    return Failure(
        said=f"more than {MOST_REDIRECTS} redirects from one to the next",
        status=response.status_code,
    )


def most_bytes(ask: EndpointRequest, status: int) -> int:
    """How long a reply may be.

    Examples
    --------
    >>> most_bytes(EndpointRequest(path="chat", most_tokens=32), 200)
    327680
    >>> most_bytes(EndpointRequest(path="chat"), 500)
    65536
    """
    if status >= 400:
        return MOST_REFUSAL_BYTES
    if ask.path == "models":
        return MOST_LISTED_BYTES
    return min(ENVELOPE + ask.most_tokens * (1 + ask.likeliest) * BYTES_A_TOKEN, MOST_BYTES)


async def _read(response: httpx.Response, ask: EndpointRequest) -> HttpResponse:
    status = response.status_code
    most = most_bytes(ask, status)
    unpack = _unpacker(response.headers.get("content-encoding", ""))
    content, came = bytearray(), 0
    async for chunk in response.aiter_raw():
        came += len(chunk)
        content += unpack(chunk, most + 1 - len(content))
        # What came is counted too: packed, nothing at all can be endless.
        if max(came, len(content)) > most:
            if status >= 400:
                content.clear()
                content += f"an error in more than {most:,} bytes".encode()
                break
            raise UnreadableBodyError(
                f"a reply of more than {most:,} bytes to {_what_was_asked_for(ask)}"
            )
    return HttpResponse(status=status, headers=response.headers, content=bytes(content))


def _what_was_asked_for(ask: EndpointRequest) -> str:
    if ask.path == "models":
        return "a request for the list of models"
    return f"a request for at most {ask.most_tokens} token{'s' if ask.most_tokens > 1 else ''}"


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """Unpacks the next bytes, into so many at most."""
    if encoding.strip().lower() in ("", "identity"):
        return lambda chunk, _: chunk
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        raise UnreadableBodyError(
            f"a reply compressed as {clean(encoding)!r}, which was not requested"
        )
    # Either kind, told by how it begins.
    inflating = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(chunk: bytes, most: int) -> bytes:
        try:
            return inflating.decompress(chunk, most)
        except zlib.error as error:
            raise UnreadableBodyError(
                f"a reply that cannot be decompressed ({first_line(error)})"
            ) from error

    return unpack


def _within(url: str, location: str) -> str | None:
    """The address to which a request is redirected; None if it is of another server."""
    try:
        target = urljoin(url, location)
        same = bool(location) and _origin(target) == _origin(url)
    except ValueError:
        return None
    return target if same else None


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return parts.scheme, parts.hostname or "", port


def _astray(url: str, response: httpx.Response) -> Failure:
    return Failure(
        said=f"a redirect from {_named(url)} to {_named(response.headers.get('location', ''))}, "
        "which is another server: nothing is sent there",
        status=response.status_code,
    )


def _named(url: str) -> str:
    """Scheme, host and port alone: the rest of a URL may hold secrets."""
    try:
        scheme, host, port = _origin(url)
    except ValueError:
        return "an invalid address"
    return clean(f"{scheme}://{host}:{port}")[:100] if host else "no address"
