"""A stub to ask, a clock that never waits, and models that speak to the stub by it."""

import asyncio

import pytest
from stub_server import MODEL, stub_server

from scope.models.endpoint import load
from scope.models.endpoint.client import WaitClock
from scope.models.options import ModelOptions
from scope.records import Question

# Prompts that begin with the question's own words: the stub is told what to say to them.
BARE = {"answer": "{text}", "cloze": "{text}", "choice_letters": "{text}\n{options}"}


class QuickClock(WaitClock):
    """Time passes as soon as somebody waits for it; the waits are written down."""

    def __init__(self):
        self.time = 1000.0
        self.waits = []

    def now(self):
        return self.time

    async def wait(self, stop, seconds):
        self.waits.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)

    def spread(self):
        return 1.0


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """No key and no proxy of whoever runs the tests."""
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def stub():
    with stub_server() as stub:
        yield stub


@pytest.fixture
def clock():
    return QuickClock()


@pytest.fixture
def open_model(stub, clock):
    """Loads the stub's model with options."""

    def open_model(name=MODEL, prompts=BARE, **options):
        return load(f"{stub.url}#{name}", ModelOptions(prompts=prompts, **options), clock)

    return open_model


@pytest.fixture
def questions():
    """Makes questions of texts."""

    def questions(*texts, options=()):
        return [
            Question(id=str(place), text=text, options=options) for place, text in enumerate(texts)
        ]

    return questions
