"""Connections to a server: its addresses, the key, proxies and certificates of the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from scope.errors import ModelError
from scope.models.endpoint.address import Key, proxy_of

if TYPE_CHECKING:
    import httpx

_PATHS = {"chat": "/chat/completions", "completions": "/completions", "models": "/models"}


class Connections:
    """Connections to one server, each reused for one request at a time.

    A pool for all requests searches all its connections at each; an httpx client takes longer
    still.

    Raises
    ------
    ModelError
        When the environment names a proxy or certificates that cannot be used.
    """

    def __init__(self, key: Key, base_url: str) -> None:
        import httpx

        try:
            # Read once: it takes longer than a request.
            self._certificates = httpx.create_ssl_context()
            self._proxy = proxy_of(base_url)
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
        self._base_url = base_url
        self.headers = httpx.Headers(
            {
                "Authorization": f"Bearer {key.value}",
                "Accept": "application/json",
                # A compressed body may be a thousand times as long as it seems.
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                "User-Agent": "scope-models",
            }
        )

    @cached_property
    def urls(self) -> Mapping[str, httpx.URL]:
        """The addresses of the server, parsed once."""
        import httpx

        return {kind: httpx.URL(self._base_url + path) for kind, path in _PATHS.items()}

    def _open(self) -> httpx.AsyncHTTPTransport:
        import httpx

        return httpx.AsyncHTTPTransport(
            verify=self._certificates,
            proxy=self._proxy,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=60.0),
        )

    @contextmanager
    def one(self) -> Iterator[httpx.AsyncHTTPTransport]:
        """A connection for exclusive use, if possible the one used last."""
        connection = self._idle.pop() if self._idle else self._open()
        try:
            yield connection
        finally:
            self._idle.append(connection)

    async def close(self) -> None:
        """Close all of them."""
        for connection in self._idle:
            await connection.aclose()
