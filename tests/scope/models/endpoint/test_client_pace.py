"""How many requests are under way at once, over which connections, and how many in all."""

import time
from dataclasses import dataclass

import pytest
from stub_server import Stub, refuse, stub_server

from scope.errors import ModelError
from scope.models import ModelOptions
from scope.models.endpoint.address import Address, read_key
from scope.models.endpoint.client import Endpoint, WaitClock
from scope.models.endpoint.replies import EndpointRequest

TEXTS = [f"word number {number}" for number in range(12)]


@pytest.fixture
def endpoint(stub, clock):
    """Makes an endpoint of the stub that is asked one thing at a time."""

    def endpoint(**options):
        address = Address(base_url=stub.url, model="stub-model")
        return Endpoint(address, read_key(), ModelOptions(requests=1, **options), clock)

    return endpoint


def chats(*texts):
    return [EndpointRequest(path="chat", prompt=text) for text in texts]


def texts_of(replies):
    return {place: reply.text for place, reply in replies}


@dataclass
class Counting(Stub):
    """Answers after a moment, and counts the requests that are there at once."""

    now: int = 0
    most: int = 0

    def reply(self, path, body):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return super().reply(path, body)


@pytest.mark.parametrize(("options", "least", "most"), [({}, 9, 64), ({"requests": 3}, 3, 3)])
def test_requests_at_once_grow_up_to_the_users_bound(options, least, most):
    with stub_server(Counting) as stub:
        address = Address(base_url=stub.url, model="stub-model")
        endpoint = Endpoint(address, read_key(), ModelOptions(**options), WaitClock())
        asks = chats(*(f"word {number}" for number in range(150)))
        replies = texts_of(endpoint.ask(asks))
    assert replies == {number: str(number) for number in range(150)}
    assert sorted(map(str, stub.answered)) == sorted(set(map(str, stub.answered)))
    assert least <= stub.most <= most


@dataclass
class Keeping(Stub):
    """Leaves connections open, as most servers do."""

    protocol: str = "HTTP/1.1"


def test_a_connection_is_kept_from_one_question_to_the_next():
    with stub_server(Keeping) as stub:
        address = Address(base_url=stub.url, model="stub-model")
        endpoint = Endpoint(address, read_key(), ModelOptions(), WaitClock())
        for text in TEXTS:
            list(endpoint.ask(chats(text)))
        assert (stub.connections, len(stub.answered)) == (1, len(TEXTS))


def test_a_bound_on_requests_ends_cleanly_and_the_next_session_goes_on(endpoint, stub):
    one, came = endpoint(max_requests=5), {}

    def ask():
        for place, reply in one.ask(chats(*TEXTS)):
            came[place] = reply.text

    with pytest.raises(ModelError, match="as many as --max-requests allows") as error:
        ask()
    assert "goes on from here" in error.value.fix
    # Else so few requests as are repeated would be spent without an end.
    assert "first repeats one stored question" in error.value.fix
    assert len(came) == len(stub.asked) == 5
    left = [text for place, text in enumerate(TEXTS) if place not in came]
    assert len(list(endpoint(max_requests=7).ask(chats(*left)))) == 7
    assert len(stub.asked) == len(set(map(str, stub.answered))) == len(TEXTS)


def test_requests_that_are_put_otherwise_count(endpoint, stub):
    stub.script.append(refuse(400, "unknown parameter: seed"))
    with pytest.raises(ModelError, match=r"1 request .* as many as --max-requests"):
        list(endpoint(max_requests=1).ask(chats("one")))
    assert len(stub.asked) == 1


def test_retries_count_and_what_is_there_needs_no_request(endpoint, stub):
    stub.script.extend([refuse(503), refuse(503)])
    one = endpoint(max_requests=3)
    assert len(list(one.ask(chats("one")))) == 1
    assert list(one.ask([])) == []
    with pytest.raises(ModelError, match="--max-requests"):
        list(one.ask(chats("two")))
