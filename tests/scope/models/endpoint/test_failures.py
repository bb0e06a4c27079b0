import json
import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from scope.models.endpoint.exchange import Failure, refusal


def refused(body, status=400, retry_after=""):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal(status, {"retry-after": retry_after}, content)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "OpenAI's form"}}, "OpenAI's form"),
        ({"error": "Ollama's form"}, "Ollama's form"),
        ({"object": "error", "message": "old vLLM's form"}, "old vLLM's form"),
        ({"detail": "FastAPI's form"}, "FastAPI's form"),
        ({"detail": [{"loc": ["body"]}]}, '{"detail": [{"loc": ["body"]}]}'),
        ({"error": {"reason": "none known"}}, '{"error": {"reason": "none known"}}'),
        (b"<html>\n a  page</html>", "<html> a page</html>"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"[" * 100_000, "[" * 100_000),
        (b"", ""),
    ],
)
def test_the_servers_words_are_found_wherever_they_stand(body, said):
    assert refused(body).said == said


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("17", 17),
        ("0.5", 0.5),
        ("-3", None),
        ("1e20", 1e20),
        ("9" * 5000, math.inf),
        ("Wed, 21 Oct 100000000000000000000 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 +99999999999999", None),
        ("Wed, 99 Foo 2015 77:28:00 GMT", None),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2015 07:28:00", None),
    ],
)
def test_the_time_to_wait_is_read_from_the_header(value, seconds):
    assert refused({}, 429, retry_after=value).wait == seconds


def test_a_date_to_come_back_at_is_a_time_to_wait():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < refused({}, 429, retry_after=later).wait <= 100


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This model's maximum context length is 8192 tokens", "code": "x"},
        {"message": "no", "code": "context_length_exceeded"},
        {
            "message": "request (3001 tokens) exceeds the available context size (512 tokens)",
            "code": 400,
            "type": "exceed_context_size_error",
        },
    ],
)
def test_a_question_beyond_the_context_is_told_from_other_refusals(error):
    assert refused({"error": error}).is_too_long
    assert not refused({"error": error}, status=500).is_too_long


def test_other_refusals_are_not_about_length():
    assert not Failure(said="max_tokens is no number", status=400).is_too_long


def test_a_failure_shows_its_status_and_the_head_of_its_words():
    assert str(Failure(said="x" * 300, status=500)) == f"status 500: {'x' * 200}…"
    assert str(Failure(said="", status=404)) == "status 404: no words"
    assert str(Failure(said="ConnectError: refused")) == "ConnectError: refused"
