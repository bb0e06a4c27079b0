from dataclasses import replace

from made_up_reuse_comparison import LONG, related, undecided

from reports.view.reuse_items import BEGINNING, folded_text, informative_item_rows


def test_the_strongest_stand_first_those_for_reuse_before_those_against():
    (found,) = informative_item_rows((related(), undecided()), limit=10)
    shown = [
        (title, [item.id.partition('"')[0] for item in items]) for title, items in found.groups
    ]
    assert shown == [("For reuse", ["q3", "q1", "q4"]), ("Against reuse", ["q2"])]
    assert (found.shown, found.total) == (4, 4)


def test_a_question_is_written_with_its_numbers():
    (found,) = informative_item_rows((related(),), limit=10)
    item = found.groups[0][1][1]
    assert (item.expected, item.weight, item.same) == ("6.2\u00a0%", "+2.750", True)
    assert (item.gold.text, item.reference.text, item.suspect.text) == ("Denver", "Paris", "Paris")
    other = found.groups[1][1][0]
    assert (other.gold, other.weight, other.same) == (None, "−0.750", False)


def test_a_limit_keeps_the_strongest_and_is_shared_between_verdicts():
    (found,) = informative_item_rows((related(),), limit=2)
    assert [[item.id for item in items] for _, items in found.groups] == [["q3", "q1"]]
    assert (found.shown, found.total) == (2, 4)
    both = informative_item_rows((related(), replace(related(), reference="other")), limit=4)
    assert [found.shown for found in both] == [2, 2]


def test_long_texts_are_folded_behind_a_beginning_on_one_line():
    folded = folded_text("word\n" * 200)
    assert folded.text == "word\n" * 200
    assert len(folded.beginning) == BEGINNING + 1
    assert "\n" not in folded.beginning
    assert folded_text(LONG).beginning.endswith("…")
    assert folded_text("w" * 500).beginning is None


def test_without_items_there_is_nothing_to_show():
    assert informative_item_rows((undecided(),), limit=10) == ()
    assert informative_item_rows((), limit=10) == ()
