"""A small hub on loopback: enough of the Hugging Face protocol to load models and data sets.

It serves the files under ``root/models/NAME/`` and ``root/datasets/NAME/``, where NAME may hold
one slash. Every repository has a single commit, named after the content of its files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_NAME = r"(?P<name>[^/]+(?:/[^/]+)?)"
_API = re.compile(
    rf"/api/(?P<kind>models|datasets)/{_NAME}"
    r"(?:/(?P<question>revision|tree|paths-info)/(?P<revision>[^/]+)(?:/(?P<path>.+))?)?"
)
_FILE = re.compile(rf"/(?P<datasets>datasets/)?{_NAME}/resolve/(?P<revision>[^/]+)/(?P<path>.+)")


@contextmanager
def serve(root: Path) -> Iterator[str]:
    """Serve the folder while the context is open; yields the URL for ``HF_ENDPOINT``."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Hub,), {"root": root})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def hub_environment(url: str, home: Path) -> dict[str, str]:
    """The environment of a process that knows no hub but this one; it is read at import."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if "proxy" not in name.lower() and not name.startswith("HF_")
    }
    return kept | {
        "HF_ENDPOINT": url,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "NO_PROXY": "*",
    }


class _Repository:
    """A folder of files under one commit."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        identity = "".join(f"{path}\n{_etag(held)}\n" for path, held in self.files.items())
        self.commit = _etag(identity.encode())

    def info(self) -> dict[str, Any]:
        return {
            "_id": self.commit[:24],
            "id": self.name,
            "modelId": self.name,
            "sha": self.commit,
            "lastModified": "2026-01-01T00:00:00.000Z",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "private": False,
            "gated": False,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": [{"rfilename": path} for path in self.files],
        }

    def tree(self, under: str, *, recursive: bool) -> list[dict[str, Any]]:
        """What lies below a folder; nothing where there is no such folder."""
        prefix = f"{under.strip('/')}/" if under.strip("/") else ""
        inside = [path for path in self.files if path.startswith(prefix)]
        folders = {
            parent.as_posix()
            for path in inside
            for parent in Path(path).parents
            if parent.as_posix() != "." and parent.as_posix().startswith(prefix)
        }
        paths = sorted({*inside, *folders})
        return self.paths_info(
            [path for path in paths if recursive or "/" not in path.removeprefix(prefix)]
        )

    def paths_info(self, paths: list[str]) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        for path in paths:
            if path in self.files:
                held = self.files[path]
                entries.append(
                    {"type": "file", "path": path, "oid": _etag(held), "size": len(held)}
                )
            elif any(known.startswith(f"{path}/") for known in self.files):
                entries.append(
                    {"type": "directory", "path": path, "oid": _etag(path.encode()), "size": 0}
                )
        return entries


class _Hub(BaseHTTPRequestHandler):
    """Answers as the hub does, down to the error codes in its headers."""

    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        path = unquote(address.path)
        if match := _API.fullmatch(path):
            recursive = parse_qs(address.query).get("recursive", ["False"])[0].lower() == "true"
            self._answer_api(match, recursive=recursive)
        elif match := _FILE.fullmatch(path):
            self._answer_file(match)
        else:
            self._refuse("EntryNotFound")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        match = _API.fullmatch(unquote(urlsplit(self.path).path))
        if match is None or match["question"] != "paths-info":
            self._refuse("EntryNotFound")
        elif repository := self._repository(match["kind"], match["name"], match["revision"]):
            is_json = "json" in self.headers.get("Content-Type", "")
            paths = json.loads(body)["paths"] if is_json else parse_qs(body).get("paths", [])
            self._send_json(repository.paths_info(paths), repository)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep silent: the standard server writes every request to standard error."""

    def _answer_api(self, match: re.Match[str], *, recursive: bool) -> None:
        repository = self._repository(match["kind"], match["name"], match["revision"])
        if repository is None:
            return
        if match["question"] != "tree":
            self._send_json(repository.info(), repository)
        elif entries := repository.tree(match["path"] or "", recursive=recursive):
            self._send_json(entries, repository)
        else:
            self._refuse("EntryNotFound")

    def _answer_file(self, match: re.Match[str]) -> None:
        kind = "datasets" if match["datasets"] else "models"
        repository = self._repository(kind, match["name"], match["revision"])
        if repository is None:
            return
        if match["path"] not in repository.files:
            self._refuse("EntryNotFound")
        else:
            held = repository.files[match["path"]]
            self._send(held, repository, kind="application/octet-stream", etag=_etag(held))

    def _repository(self, kind: str, name: str, revision: str | None) -> _Repository | None:
        """The repository, or None after the refusal has been sent."""
        folder = self.root / kind / name
        if not any(path.is_file() for path in folder.glob("*")):
            self._refuse("RepoNotFound")
            return None
        repository = _Repository(folder, name)
        if revision not in (None, "main", repository.commit):
            self._refuse("RevisionNotFound")
            return None
        return repository

    def _send_json(self, value: Any, repository: _Repository) -> None:
        content = json.dumps(value).encode()
        self._send(content, repository, kind="application/json", etag=_etag(content))

    def _send(self, content: bytes, repository: _Repository, *, kind: str, etag: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", repository.commit)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _refuse(self, code: str) -> None:
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", code)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _etag(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
