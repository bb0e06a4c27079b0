import pytest

from scope.models.word_pieces import word_pieces


class Tokenizer:
    """Spells a token as its kind of vocabulary does."""

    all_special_ids = (0,)

    def __init__(self, pieces, added=()):
        self._vocabulary = {piece: number for number, piece in enumerate(["<pad>", *pieces])}
        self.added_tokens_decoder = {self._vocabulary[piece]: piece for piece in added}

    def get_vocab(self):
        return self._vocabulary

    def convert_tokens_to_string(self, tokens):
        return tokens[0].replace("Ġ", " ").replace("▁", " ")


def sorted_out(*pieces, added=()):
    size = len(pieces) + 1
    found = word_pieces(Tokenizer(pieces, added), size)
    assert all(len(row) == size for row in found)
    return tuple({pieces[number - 1] for number in range(1, size) if row[number]} for row in found)


@pytest.mark.parametrize("mark", ["Ġ", "▁"])
def test_where_the_beginning_is_marked_the_rest_continues(mark):
    the, dash, space = f"{mark}the", f"{mark}-", mark
    begins, opens, continues = sorted_out(the, dash, space, "film", "'", ".", f"{mark}a.")
    assert begins == {the}
    assert opens == {the, "film"}
    assert continues == {"film", "'"}


def test_where_going_on_is_marked_the_rest_begins():
    begins, opens, continues = sorted_out("the", "-", "##s", "##é", "##.", "7", "(")
    assert begins == opens == {"the", "7"}
    assert continues == {"##s", "##é"}


def test_without_marks_every_piece_may_do_both():
    begins, opens, continues = sorted_out("a", "'", "?")
    assert begins == opens == {"a"}
    assert continues == {"a", "'"}


def test_special_and_added_tokens_and_half_characters_are_no_pieces():
    begins, _, continues = sorted_out("Ġthe", "Ġextra", "film", "\ufffd", added=["Ġextra"])
    assert (begins, continues) == ({"Ġthe"}, {"film"})


def test_tokens_beyond_the_models_table_are_left_out():
    begins, _, continues = word_pieces(Tokenizer(["Ġa", "b", "c"]), 3)
    assert (begins.tolist(), continues.tolist()) == ([False, True, False], [False, False, True])
