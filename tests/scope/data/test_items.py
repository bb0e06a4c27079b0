"""Questions with options and questions on passages: what is read, named, counted and refused.

Tables of scored pairs: what is read, what is left out and counted, what is refused.
"""

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.data.items import (
    Draft,
    Wanted,
    WantedPairs,
    gather,
    gather_pairs,
    item_fingerprint,
    option_index,
    pair_fingerprint,
    read_choices,
    read_squad,
    read_written,
)
from scope.errors import DataError
from scope.records import Item, Question

WANTED = Wanted(task="quiz", rows="questions", unfit="without words", once=True)


def item(text="Who?", context=None, options=(), **fields):
    return Item(question=Question(id="", text=text, context=context, options=options), **fields)


def made(*drafts, n=None, seed=0, once=True):
    wanted = replace(WANTED, once=once)
    return gather(drafts, wanted, spec="quiz.jsonl", n=n, seed=seed)


def test_every_question_holds_its_row_and_where_all_have_one_its_own_id():
    drafts = [Draft("7", item("Who?")), Draft("8", None), Draft("0", item("What?"))]
    for chosen, rows in ((drafts, [0, 2]), (drafts[1:], [1])):
        questions = [one.question for one in made(*chosen).items]
        assert [question.row for question in questions] == rows
        assert [question.id for question in questions] == ["7", "0"][-len(rows) :]


def test_what_is_left_out_is_counted():
    data = made(
        Draft(None, item("Who?", gold=("Ann",))),
        Draft(None, None),
        Draft(None, item("Who?", gold=("Bob",))),
        Draft(None, item("Who?", context="Ann came.")),
        Draft(None, item("Who?", options=("Ann", "Bob"))),
    )
    card = data.card
    assert (card.rows, card.used, card.empty, card.duplicates, card.labelled) == (5, 3, 1, 1, 1)
    assert (card.spec, card.capability) == ("quiz.jsonl", "quiz")
    assert card.fingerprint == item_fingerprint(data.items)
    assert data.items[0].gold in (("Ann",), ("Bob",))


@pytest.mark.parametrize("once", [True, False])
def test_samples_are_nested_in_order_and_the_same_in_any_order_of_the_rows(once):
    drafts = [
        Draft(None, item(f"Question {number % 30}?", gold=(str(number % 7),)))
        for number in range(50)
    ]
    small, large = (made(*drafts, n=n, seed=1, once=once) for n in (5, 20))
    rows = [one.question.row for one in small.items]
    assert rows == sorted(rows)
    assert set(small.items) < set(large.items)
    assert made(*drafts, n=5, seed=2, once=once).items != small.items
    backwards = made(*drafts[::-1], n=5, seed=1, once=once)
    contents = [
        sorted((one.question.text, one.gold) for one in data.items) for data in (small, backwards)
    ]
    assert contents[0] == contents[1]


def test_the_fingerprint_changes_with_everything():
    first = item(options=("yes", "no"))
    question = first.question
    others = [
        *(
            replace(first, question=replace(question, **change))
            for change in ({"id": "1"}, {"text": "Why?"}, {"context": ""}, {"options": ("no",)})
        ),
        *(replace(first, **change) for change in ({"gold": ("yes",)}, {"right": 0})),
        replace(first, category="news"),
    ]
    assert len({item_fingerprint([other]) for other in [first, *others]}) == len(others) + 1
    assert item_fingerprint([first, others[0]]) != item_fingerprint([others[0], first])


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def choice(folder, **row):
    (draft,) = read_choices(write(folder / "a.jsonl", {"question": "Which?"} | row))
    return draft


def test_a_row_with_options_becomes_an_item(tmp_path):
    row = {"id": 7, "options": ["red", "blue"], "answer": "B", "context": "The sea."}
    draft = choice(tmp_path, **row, category="colours")
    assert draft[:2] == (
        "7",
        item("Which?", "The sea.", ("red", "blue"), right=1, gold=("blue",), category="colours"),
    )


@pytest.mark.parametrize(
    ("answer", "options", "labels", "index"),
    [
        *((answer, "red blue", "", 1) for answer in (1, 1.0, "1.0", " B ", "B. blue", "(b)")),
        ("blue", "red blue", "", 1),
        ("B", "C B A", "", 1),  # a letter is a place, even where an option reads so
        ("X", "X Y", "", 0),  # but for one without a place
        ("1", "one two", "1 2", 0),  # the source's labels come first
        ("A", "one two", "B A", 1),
        ("red", "blue red red", "", 1),  # the first of two options that read the same
    ],
)
def test_an_option_is_named_by_number_letter_or_text(answer, options, labels, index):
    assert option_index(answer, options.split(), labels.split()) == index


ROW = {"id": "q1", "title": "Rivers", "question": "Where?", "context": "In France it flows."}


def passages(spec, unanswerable=True):
    return list(read_squad(str(spec), unanswerable=unanswerable))


def test_a_row_with_a_passage_becomes_an_item(tmp_path):
    (draft,) = passages(write(tmp_path / "a.jsonl", ROW | {"answers": ["France"]}))
    assert draft[:2] == (
        "q1",
        item("Where?", "In France it flows.", gold=("France",), category="Rivers"),
    )


QUESTIONS = [
    {
        "id": "a",
        "question": "Where does it flow?",
        "answers": [{"text": "France"}, {"text": "through France"}, {"text": "France"}],
        "is_impossible": False,
    },
    {"id": "b", "question": "How long is it?", "answers": [], "is_impossible": True},
    {"id": "c", "question": "Unknown?"},
    {"id": "d", "question": " ", "answers": []},
]
PASSAGE = "The Loire flows through France."
SQUAD = {"data": [{"title": "Rivers", "paragraphs": [{"context": PASSAGE, "qas": QUESTIONS}]}]}


def write_json(path, content):
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["dev.json", "dev.json.gz"])
def test_squads_own_form_is_read(tmp_path, name):
    drafts = passages(write_json(tmp_path / name, SQUAD))
    assert [(draft.id, draft.item and draft.item.gold) for draft in drafts] == [
        ("a", ("France", "through France")),
        ("b", ("",)),
        ("c", ()),
        ("d", None),
    ]
    assert {draft.item.question.context for draft in drafts[:3]} == {PASSAGE}
    assert {draft.item.category for draft in drafts[:3]} == {"Rivers"}


@pytest.mark.parametrize(
    "content", [json.dumps(SQUAD)[:300], {"rows": []}, {"data": [{"paragraphs": [{"qas": []}, 3]}]}]
)
def test_what_is_no_complete_squad_is_refused(tmp_path, content):
    with pytest.raises(DataError, match=r"dev\.json is no complete SQuAD file"):
        passages(write_json(tmp_path / "dev.json", content))


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (3, "the option 3, counted from 0, of 3 options (are they counted from 1?)"),
        (-1, "the option -1, counted from 0, of 3 options"),
        ("D", "the option D of 3 options"),
        ("Red", "'Red', which is not one of the options"),
        (True, "True"),
        (0.5, "0.5"),
    ],
)
def test_what_names_no_option_is_refused_in_words(answer, found):
    with pytest.raises(ValueError) as raised:
        option_index(answer, ("red", "blue", "green"))
    assert str(raised.value) == found


PAIRS_WANTED = WantedPairs(task="similarity", low=0.0, high=5.0)
ROWS = [
    {"split": "train", "sentence1": "A dog runs.", "sentence2": "A dog is running.", "score": 4.8},
    {"split": "dev", "sentence1": "It rains.", "sentence2": "Rain falls.", "score": 4},
    {"split": "train", "sentence1": "Fish swim.", "sentence2": "A car stops.", "score": 0},
    {"split": "test", "sentence1": "Go", "sentence2": "Stop", "score": 1.25},
]


def write_pairs(path, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


@pytest.fixture
def pairs(tmp_path):
    """What is gathered of rows, or of a CSV file's text."""

    def gather(rows, part=None, n=None, seed=0, **wanted):
        if isinstance(rows, str):
            (tmp_path / "a.csv").write_text(rows)
            spec = str(tmp_path / "a.csv")
        else:
            spec = write_pairs(tmp_path / "a.jsonl", rows)
        return gather_pairs(spec, replace(PAIRS_WANTED, part=part, **wanted), n=n, seed=seed)

    return gather


def scored(data):
    return [(pair.first, pair.second, pair.score) for pair in data.pairs]


def test_every_row_is_read_and_sorted_by_its_texts_where_no_part_is_asked_for(pairs):
    data = pairs(ROWS)
    assert scored(data) == sorted(tuple(row.values())[1:] for row in ROWS)
    card = data.card
    assert (card.rows, card.used, card.labelled, card.duplicates, card.empty) == (4, 4, 4, 0, 0)
    assert (card.capability, card.fingerprint) == ("similarity", pair_fingerprint(data.pairs))


def test_a_part_has_its_own_rows_named_by_their_content(pairs):
    data = pairs(ROWS, "train")
    assert [pair.score for pair in data.pairs] == [4.8, 0.0]
    assert {pair.id for pair in data.pairs}.isdisjoint(
        pair.id for pair in pairs(ROWS, "test").pairs
    )
    assert (data.card.rows, data.card.used) == (2, 2)


def test_without_the_column_the_parts_must_be_named_one_by_one(pairs):
    with pytest.raises(DataError) as raised:
        pairs("first,second,score,set\nA,B,1,train\n", "development")
    assert raised.value.found.startswith("no column `split` in a.csv, which marks the rows for dev")
    assert "split with dev or development or validation" in raised.value.expected
    assert raised.value.fix.endswith("--test alone with a saved probe")


def test_a_part_without_rows_lists_the_values_there_are(pairs):
    splits = ["train", "trial", "", *map(str, range(9))]
    rows = "".join(f"A,B,1,{split}\n" for split in splits)
    with pytest.raises(DataError, match=r"holds `\(empty\)`, `0`, .*, `6`, …") as raised:
        pairs(f"first,second,score,split\n{rows}", "test")
    assert raised.value.found.startswith("no row for test in a.csv; its column `split` holds ")
    assert raised.value.expected == "rows with test there"
    assert raised.value.fix.startswith("rename the values, or give one table per part")


WORDS = st.sampled_from(["A", "B", "C", "D E", " ", ""])
TABLES = st.lists(st.tuples(WORDS, WORDS, st.sampled_from([0, 1.5, 5])), min_size=1, max_size=30)


@given(TABLES, st.integers(1, 10), st.integers(0, 10), st.integers(0, 9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_samples_are_nested_by_seed_and_the_same_in_any_order_of_the_rows(
    pairs, table, n, more, seed
):
    rows = [dict(zip(("first", "second", "score"), row, strict=True)) for row in table]
    if not any(first.strip() and second.strip() for first, second, _ in table):
        rows.append({"first": "A", "second": "B", "score": 0})
    every, larger, smaller = (pairs(rows, n=size, seed=seed) for size in (None, n + more, n))
    assert len(smaller.pairs) == min(n, len(every.pairs))
    assert set(smaller.pairs) <= set(larger.pairs) <= set(every.pairs)
    for data in (every, larger, smaller):
        assert len(rows) == data.card.rows == len(every.pairs) + data.card.empty
    assert pairs(rows[::-1], n=n, seed=seed).pairs == smaller.pairs


def test_numbers_of_classes_do_not_pass_for_scores(tmp_path):
    import datasets

    features = datasets.Features(
        first=datasets.Value("string"),
        second=datasets.Value("string"),
        label=datasets.ClassLabel(names=["same", "other"]),
    )
    columns = {"first": ["A"], "second": ["B"], "label": [1]}
    path = str(tmp_path / "a.parquet")
    datasets.Dataset.from_dict(columns, features=features).to_parquet(path)
    with pytest.raises(DataError) as raised:
        gather_pairs(path, PAIRS_WANTED, n=None, seed=0)
    assert raised.value.found == (
        "column `label` of a.parquet holds no scores but the classes `same`, `other`"
    )


def test_a_chat_is_read_up_to_the_last_message_of_the_user(tmp_path):
    path = tmp_path / "chats.jsonl"
    chat = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Who are you?"},
        {"role": "assistant", "content": "A model."},
    ]
    shared = [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}]
    rows = [{"messages": chat}, {"messages": shared}, {"messages": "text"}, {"messages": chat[:1]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    parts, drafts = read_written(str(path))
    assert parts == ("chat", "prompt")
    data = gather(drafts, WANTED, str(path), None, 0)
    asked = [(each.question.context, each.question.text) for each in data.items]
    assert asked == [
        ('[["system", "Be brief."], ["user", "Hi"], ["assistant", "Hello"]]', "Who are you?"),
        (None, "Why?"),
    ]
    assert (data.card.empty, [left.reason for left in data.card.left_out]) == (
        1,
        ["no list of messages"],
    )


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({"question": "Who?"}, ("question",)),
        ({"prompt": "Write."}, ("prompt",)),
        ({"question": "Who?", "context": "Ann."}, ("passage", "question")),
    ],
)
def test_what_models_write_answers_to_is_found_by_its_columns(tmp_path, columns, parts):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(columns))
    assert read_written(str(path))[0] == parts


def test_options_are_not_written(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"question": "Who?", "options": ["a", "b"]}))
    with pytest.raises(DataError, match="a column `options`"):
        read_written(str(path))
