import itertools

from scope.models import bounded
from scope.models.bounded import failure_of


def test_what_ends_in_time_has_no_failure_whatever_it_raises():
    assert failure_of(lambda: "a" * 10) is None
    assert failure_of(lambda: 1 // 0) is None


def test_what_grows_without_end_is_stopped():
    assert failure_of(lambda: "a" * 10**11) == "it takes more than 256 MiB of memory"


def test_what_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(bounded, "SECONDS", 0.2)
    assert failure_of(lambda: all(True for _ in itertools.repeat(0))) == (
        "it takes more than 0 seconds"
    )


def test_what_it_changes_is_changed_in_a_copy():
    seen = []
    assert failure_of(lambda: seen.append(1)) is None
    assert not seen
