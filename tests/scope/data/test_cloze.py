import json

from scope.data.cloze import read_cloze


def read(spec, min_words=4, max_words=9, seed=0):
    return list(read_cloze(str(spec), min_words=min_words, max_words=max_words, seed=seed))


def test_a_sentence_becomes_a_question_and_its_word_the_answer(tmp_path):
    path = tmp_path / "sea.txt"
    path.write_text("CHAPTER I\n\nIt was the old\nsailor.\n")
    (draft,) = read(path)
    assert draft.item.question.text.replace("____", draft.item.gold[0]) == "It was the old sailor."
    assert draft.item.category == "sea"
    assert draft.id is None


def test_sentences_that_do_not_serve_make_no_item_but_are_rows(tmp_path):
    path = tmp_path / "sea.txt"
    path.write_text(
        "Too short. The storm came over the sea. It is what it is to me.\n\n"
        "torn from the rest of its page.\n\n"
        "The sentence is one word too long to be kept."
    )
    assert [draft.item is not None for draft in read(path)] == [False, True, False, False, False]


def test_the_category_is_the_column_that_names_a_book(tmp_path):
    path = tmp_path / "books.jsonl"
    rows = [
        {"book": 11, "text": "Alice saw the white rabbit."},
        {"book": None, "text": "Alice saw the white rabbit."},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [draft.item.category for draft in read(path)] == ["11", None]


def test_sentences_do_not_go_on_from_row_to_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nAlice saw the white\nRabbit in the garden.\n")
    assert [draft.item is not None for draft in read(path)] == [False, True]
