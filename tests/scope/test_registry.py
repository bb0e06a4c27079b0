import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from scope.errors import ModelError, SpecError
from scope.models.scheme import load_model
from scope.protocols import Capability, EstimatesQueries, LeavesWords, PairData, Task, TaskData
from scope.records import DataCard, Item, Question, ScoredPair
from scope.registry import (
    Entry,
    entries,
    expand_groups,
    find,
    guarded_piece,
    make_piece,
    plain_settings,
    settings_of,
    with_settings,
)


def test_every_built_in_loads_and_says_where_it_comes_from():
    for group in ("capabilities", "tasks", "models"):
        for entry in entries(group):
            assert entry.error is None
            if entry.origin.startswith("scope-models "):
                assert callable(getattr(entry.target, "load", entry.target))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SpecError) as caught:
        find("models", "hug")
    assert "hf" in caught.value.expected
    assert "python" in caught.value.expected


def test_a_plugin_is_found_as_soon_as_its_folder_is_on_the_path(tmp_path, monkeypatch):
    with pytest.raises(SpecError):
        find("models", "late")
    (tmp_path / "late-1.0.dist-info").mkdir()
    (tmp_path / "late-1.0.dist-info/METADATA").write_text("Name: late\nVersion: 1.0\n")
    points = "[scope.models]\nlate = json:loads\n"
    (tmp_path / "late-1.0.dist-info/entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    assert find("models", "late").origin == "late 1.0"


@pytest.fixture
def leaving_plugin(tmp_path, monkeypatch):
    """A plugin whose import, or whose loader, ends the program as if all were well."""
    (tmp_path / "a_plugin_that_leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "a_loader_that_leaves.py").write_text(
        "import sys\ndef load(rest, options):\n    sys.exit(0)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    points = {
        "gone": EntryPoint("gone", "a_plugin_that_leaves:load", "scope.models"),
        "going": EntryPoint("going", "a_loader_that_leaves:load", "scope.models"),
    }
    monkeypatch.setattr("scope.registry._plugins", {"models": points, "logs": {}}.__getitem__)


@pytest.mark.usefixtures("leaving_plugin")
def test_a_plugin_that_ends_the_program_is_listed_as_broken():
    (broken,) = [one for one in entries("models") if one.error]
    assert (broken.name, broken.error) == ("gone", "SystemExit: 0")
    with pytest.raises(SpecError, match="does not load: SystemExit: 0"):
        find("models", "gone")


@pytest.mark.usefixtures("leaving_plugin")
def test_a_plugins_loader_that_ends_the_program_is_told():
    with pytest.raises(ModelError, match="`going:x` failed in `loading`: SystemExit: 0"):
        load_model("going:x", "classifier")


@dataclass(frozen=True)
class Own:
    """A capability of somebody else's."""

    name = "own"
    question = "Does it stay?"
    letters: int = 3

    def settings(self):
        return {"letters": self.letters}

    def search(self, classifier, examples, options):
        yield from examples

    def left_alone(self, text):
        sys.exit(0)


def test_a_foreign_capability_keeps_its_members_and_has_no_others():
    guarded = guarded_piece(Own())
    assert (guarded.name, guarded.question, guarded.settings()) == (
        "own",
        "Does it stay?",
        {"letters": 3},
    )
    assert isinstance(guarded, Capability)
    assert isinstance(guarded, LeavesWords)
    assert not isinstance(guarded, EstimatesQueries)
    assert not isinstance(guarded, Task)


def test_a_call_that_ends_the_program_is_told_with_class_and_method():
    with pytest.raises(
        ModelError, match=r"test_registry:Own` failed in `left_alone`: SystemExit: 0"
    ):
        guarded_piece(Own()).left_alone("a text")


def test_a_search_yields_what_the_object_finds_and_raises_what_it_raises():
    def failing(*_):
        yield 1
        sys.exit(0)

    class Failing(Own):
        search = staticmethod(failing)

    assert list(guarded_piece(Own()).search(None, [1, 2], None)) == [1, 2]
    found = guarded_piece(Failing()).search(None, [], None)
    assert next(found) == 1
    with pytest.raises(SystemExit):
        next(found)


def test_settings_are_those_of_the_object_and_can_be_changed_behind_the_boundary():
    guarded = guarded_piece(Own())
    assert settings_of(guarded) == settings_of(Own) == {"letters"}
    assert with_settings(guarded, {"letters": 5}).settings() == {"letters": 5}


@pytest.mark.parametrize(
    ("task", "settings", "expected"),
    [
        ("cloze", {"min_words": 4.5}, "a whole number"),
        ("cloze", {"min_words": True}, "a whole number"),
        ("similarity", {"high": False}, "a number"),
        ("extractive_qa", {"unanswerable": 1}, "yes or no"),
    ],
)
def test_a_value_of_another_type_is_refused(task, settings, expected):
    with pytest.raises(SpecError) as caught:
        make_piece(find("tasks", task), settings)
    assert caught.value.expected == expected


def test_a_value_that_is_not_taken_is_refused_with_the_settings():
    @dataclass(frozen=True)
    class Picky(Own):
        def __post_init__(self):
            raise ValueError("too many letters")

    with pytest.raises(SpecError) as caught:
        make_piece(Entry(name="own", origin="here", target=Picky), {"letters": 99})
    assert caught.value.found == "`own`: too many letters"
    assert caught.value.expected == "another value"
    assert caught.value.fix == "correct the value, or omit letters"


@pytest.mark.parametrize("name", ["", "two words", "[/red]", "a\nb", 3, None, "a" * 61])
def test_a_name_must_be_a_word(name):
    class Named(Own):
        pass

    Named.name = name
    with pytest.raises(SpecError, match="one word"):
        guarded_piece(Named())


@pytest.mark.parametrize(
    "settings",
    [[], None, {1: 2}, {"a": object()}, {"a": float("inf")}, {"a": 10**400}, {"a": "\ud800"}],
)
def test_settings_that_cannot_stand_in_a_report_are_refused(settings):
    with pytest.raises(SpecError, match="`own` has"):
        plain_settings("own", settings)


CARD = DataCard(spec="a", fingerprint="b", rows=1, used=1)
ITEM = Item(question=Question(id="1", text="Which?"))
PAIR = ScoredPair(id="1", first="a", second="b", score=1.0)


class Asking:
    """A task of somebody else's, which returns what it is told to."""

    name = "asking"
    question = "Does it keep the rules?"
    role = "answerer"
    given = None

    def settings(self):
        return {}

    def load(self, data, *, n, seed):
        return self.given


class Rated(Asking):
    role = "latent_reader"
    load = None

    def load_pairs(self, data, *, part, n, seed):
        return self.given


def loaded(kind, given):
    piece = guarded_piece(type("Changed", (kind,), {"given": given})())
    if kind is Rated:
        return piece.load_pairs("a", part=None, n=None, seed=0)
    return piece.load("a", n=None, seed=0)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Asking, PairData(pairs=(PAIR,), card=CARD)),
        (Asking, TaskData(items=(ITEM,), card=None)),
        (Asking, TaskData(items=(PAIR,), card=CARD)),
        (Asking, TaskData(items=iter([ITEM]), card=CARD)),
        (Rated, None),
    ],
)
def test_data_that_are_none_are_refused(kind, given):
    with pytest.raises(SpecError, match=r"with a `scope\.records\.DataCard` and a tuple of"):
        loaded(kind, given)


@pytest.mark.parametrize("kind", [Asking, Rated])
@pytest.mark.parametrize("role", [None, 3, ["answerer"], "dreamer", "classifier"])
def test_the_role_of_a_task_is_one_of_its_protocol(kind, role):
    with pytest.raises(SpecError, match="with the role"):
        guarded_piece(type("Changed", (kind,), {"role": role})())


def test_a_group_stands_for_its_members_each_named_once():
    assert expand_groups(["synonym", "typo"]) == ("synonym", "typo")
    robust = expand_groups(["robustness"])
    assert {"typo", "keyboard", "unicode", "distractor"} <= set(robust)
    both = expand_groups(["keyboard", "robustness", "format"])
    assert both[0] == "keyboard"
    assert len(set(both)) == len(both)
    assert set(both) == {*robust, *expand_groups(["format"])}
    assert set(expand_groups(["all"])) >= {*both, "synonym"}
    # What is repeated by name is refused later.
    assert expand_groups(["typo", "typo"]) == ("typo", "typo")
