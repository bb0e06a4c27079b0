"""How servers fail, and how many requests are sent: no answer is lost or asked for twice."""

import asyncio
import gc
import signal
import threading
import time
import traceback
from dataclasses import dataclass

import pytest
from stub_server import Cut, Hang, Say, Stub, refuse, stub_server

from scope.errors import ModelError
from scope.models.endpoint.address import Address, read_key
from scope.models.endpoint.client import FAILED_IN_A_ROW, Endpoint, WaitClock
from scope.models.endpoint.protocol import EndpointError, EndpointRequest
from scope.models.options import ModelOptions

TEXTS = [f"word number {number}" for number in range(12)]


@pytest.fixture
def endpoint(stub, clock):
    """Makes an endpoint; few requests at once keep the order of a script's entries known."""

    def endpoint(**options):
        options = {"requests": 1, **options}
        address = Address(base_url=stub.url, model="stub-model")
        return Endpoint(address, read_key(), ModelOptions(**options), clock)

    return endpoint


def chats(*texts):
    return [EndpointRequest(path="chat", prompt=text) for text in texts]


def texts_of(replies):
    return {place: reply.text for place, reply in replies}


def threads_of_endpoints():
    return [one for one in threading.enumerate() if one.name == "scope-endpoint"]


def threads_are_gone():
    """Whether no thread is left, soon after the last endpoint is collected."""
    until = time.monotonic() + 10
    while threads_of_endpoints() and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)
    return threads_of_endpoints() == []


# What a body makes malformed stands in ``test_replies.py``.
FAILURES = {
    "too many requests": refuse(429),
    "overloaded as Anthropic says it": refuse(529),
    "a reply that takes too long": Hang(),
    "cut before the status line": Cut(),
    "cut in the middle of the body": Cut(after=5),
    "an error with status 200": Say(body={"error": {"message": "provider is down"}}),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_what_may_pass_is_asked_again_and_nothing_answered_is(endpoint, stub, clock, failure):
    ask = chats(*TEXTS[:4])
    stub.script.extend([failure, failure])
    replies = texts_of(endpoint(retries=2, timeout=0.4).ask(ask))
    assert replies == {0: "0", 1: "1", 2: "2", 3: "3"}
    assert stub.answered == TEXTS[:4]
    assert clock.waits == [0.5, 1.0]


def test_a_server_that_fails_for_good_ends_after_all_answers_in_a_message(endpoint, stub):
    stub.check = lambda body: refuse(500) if len(stub.answered) > 2 else None
    came = []
    with pytest.raises(EndpointError) as error:
        came.extend(place for place, _ in endpoint(retries=2).ask(chats(*TEXTS)))
    assert came == [0, 1, 2]
    assert len(stub.asked) == 3 + 3 * FAILED_IN_A_ROW
    assert "answered 3 of 12 questions and failed in 3 tries at the next" in error.value.found
    assert "the same command resumes the run" in error.value.fix


@pytest.mark.parametrize(
    ("refusal", "shown"),
    [
        (refuse(404), "status 404"),
        (refuse(501), "status 501"),
        (refuse(429, "a daily limit", retry_after="7200"), "a daily limit"),
        (refuse(429, code="insufficient_quota"), "status 429"),
    ],
)
def test_a_refusal_that_stays_is_not_asked_again(endpoint, stub, clock, refusal, shown):
    stub.script.append(refusal)
    with pytest.raises(EndpointError, match="in 1 try") as error:
        list(endpoint().ask(chats(*TEXTS)))
    assert shown in error.value.found
    assert (len(stub.asked), clock.waits) == (1, [])


def test_where_the_server_names_a_time_none_is_begun_before_it_is_over(
    endpoint, stub, clock, monkeypatch
):
    together, held, asked = threading.Barrier(4, timeout=30), threading.Event(), []

    async def wait_for_real(stop, seconds):
        held.set()
        await asyncio.sleep(0.3)
        asked.append(len(stub.asked))
        clock.time += seconds

    def refuse_one_while_three_are_under_way(body):
        if len(stub.asked) > 4:
            return None
        together.wait()
        if "number 0" in str(body):
            return refuse(429, Retry_After="1")
        held.wait(30)
        return None

    monkeypatch.setattr(clock, "wait", wait_for_real)
    stub.check = refuse_one_while_three_are_under_way
    assert len(list(endpoint(requests=4).ask(chats(*TEXTS)))) == len(TEXTS)
    assert asked[0] == 4
    assert len(stub.asked) == len(TEXTS) + 1


def test_a_request_refused_among_answers_is_tried_as_long_as_others_are_answered(
    endpoint, stub, clock
):
    def refuse_one_while_others_are_answered(body):
        if "number 6" not in str(body) or len(stub.asked) >= 40:
            return None
        # One of the three others has had a reply when four more have been answered.
        until = len(stub.answered) + 4
        while len(stub.answered) < until:
            time.sleep(0.002)
        return refuse(429)

    stub.check = refuse_one_while_others_are_answered
    asks = chats(*(f"word number {number}" for number in range(60)))
    came = texts_of(endpoint(requests=4, retries=1).ask(asks))
    assert came == {place: str(place) for place in range(60)}
    assert clock.waits


def test_other_failures_hold_only_their_own_request_back(endpoint, stub, clock):
    stub.script.append(refuse(500))
    list(endpoint(requests=4).ask(chats(*TEXTS)))
    assert clock.waits == [0.5]


@pytest.mark.parametrize("requests", [1, 8])
def test_equal_requests_are_given_once_and_the_answers_do_not_hang_on_how_many_at_once(
    endpoint, stub, requests
):
    asks = chats(*TEXTS, *TEXTS[:5])
    replies = texts_of(endpoint(requests=requests).ask(asks))
    assert replies == {place: asks[place].prompt.split()[-1] for place in range(17)}
    assert sorted(stub.answered) == sorted(TEXTS)


def test_answers_on_their_way_are_not_lost_to_another_requests_failure(endpoint, stub):
    together = threading.Barrier(4, timeout=30)

    def check(body):
        number = int(body["messages"][0]["content"].split()[-1])
        if number < 4:
            together.wait()
        return refuse(404) if number == 0 else None

    stub.check = check
    came = []
    with pytest.raises(EndpointError) as error:
        came.extend(place for place, _ in endpoint(requests=4).ask(chats(*TEXTS)))
    assert {1, 2, 3} <= set(came)
    assert sorted(TEXTS[place] for place in came) == sorted(stub.answered)
    assert f"answered {len(came)} of 12 questions" in error.value.found


def test_closing_ends_what_is_under_way_and_leaves_no_thread(endpoint, stub):
    stub.check = lambda body: None if "number 0" in str(body) else Hang()
    replies = endpoint(requests=4).ask(chats(*TEXTS))
    assert next(replies)[0] == 0
    assert threads_of_endpoints()
    replies.close()
    assert threads_are_gone()
    assert len(stub.asked) < len(TEXTS)


def test_an_interrupt_by_the_keyboard_ends_the_wait_for_answers(endpoint, stub):
    main = threading.main_thread().ident

    def interrupt(body):
        signal.pthread_kill(main, signal.SIGINT)
        return Hang()

    stub.check = interrupt
    with pytest.raises(KeyboardInterrupt):
        list(endpoint().ask(chats("one")))
    assert threads_are_gone()


@pytest.mark.parametrize("status", [200, 401, 500])
def test_the_key_is_sent_and_never_shown(endpoint, stub, monkeypatch, status):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret\n")
    stub.script.append(refuse(status, "the key 'sk-very-secret' is no good"))
    with pytest.raises(EndpointError) as error:
        list(endpoint(retries=0).ask(chats("one")))
    assert stub.keys == {"Bearer sk-very-secret"}
    assert "sk-very-secret" not in "".join(traceback.format_exception(error.value))
    assert "the key '[key]' is no good" in error.value.found


async def asked_in_a_running_loop(endpoint):
    return texts_of(endpoint.ask(chats(*TEXTS[:3])))


def test_it_works_where_an_event_loop_runs_already_as_in_a_notebook(endpoint):
    assert len(asyncio.run(asked_in_a_running_loop(endpoint(requests=2)))) == 3


def test_a_slow_server_with_one_place_is_waited_for(endpoint, stub):
    turn = threading.Lock()

    def one_after_the_other(body):
        with turn:
            time.sleep(0.3)

    stub.check = one_after_the_other
    assert len(texts_of(endpoint(requests=4, timeout=0.8, retries=0).ask(chats(*TEXTS[:4])))) == 4


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
    came = []
    with pytest.raises(ModelError, match="as many as --max-requests allows") as error:
        came.extend(place for place, _ in endpoint(max_requests=5).ask(chats(*TEXTS)))
    assert "goes on from here" in error.value.fix
    assert len(came) == len(stub.asked) == 5
    left = [text for place, text in enumerate(TEXTS) if place not in came]
    assert len(list(endpoint(max_requests=7).ask(chats(*left)))) == 7
    assert len(stub.asked) == len(set(map(str, stub.answered))) == len(TEXTS)


def test_retries_count_and_what_is_there_needs_no_request(endpoint, stub):
    stub.script.extend([refuse(503), refuse(503)])
    one = endpoint(max_requests=3)
    assert len(list(one.ask(chats("one")))) == 1
    assert list(one.ask([])) == []
    with pytest.raises(ModelError, match="--max-requests"):
        list(one.ask(chats("two")))
