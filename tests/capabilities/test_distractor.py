import pytest

from capabilities.distractor import ADDED, Distractor
from scope.errors import SpecError

TEXT = "A wonderful film"


@pytest.mark.parametrize(("what", "words"), [("sentence", 6), ("handle", 1), ("link", 1)])
def test_every_addition_of_a_kind_is_as_large_a_change(what, words):
    texts = list(Distractor(what=what, where="any").extended(TEXT))
    assert len(set(texts)) == 2 * len(ADDED[what]) == 20
    assert {len(one.split()) - len(TEXT.split()) for one in texts} == {words}


def test_a_text_without_an_end_gets_one_before_a_sentence():
    sentence = ADDED["sentence"][0]
    after = Distractor(where="after")
    assert next(after.extended("A film")) == f"A film. {sentence}"
    assert next(after.extended("A film (long)")) == f"A film (long). {sentence}"
    assert next(after.extended('"A film!"')) == f'"A film!" {sentence}'
    assert next(after.extended("A film!")) == f"A film! {sentence}"
    assert next(after.extended("a film .")) == f"a film . {sentence.lower()}"
    assert next(Distractor(where="before").extended("A film")) == f"{sentence} A film"
    assert next(Distractor(what="handle", where="after").extended("A film")) == "A film @user2041"


def test_by_default_nothing_stands_before_the_text():
    for what in ADDED:
        assert all(one.startswith("A film") for one in Distractor(what=what).extended("A film"))


def test_a_sentence_that_shares_a_word_with_the_text_is_not_added():
    text = "The Library Lends me films"
    assert not any("library" in one for one in Distractor().extended(text.upper()))
    whole = " ".join(ADDED["sentence"])
    assert Distractor().not_applicable(whole) == "a word of each sentence is in the text"
    assert Distractor(what="handle").not_applicable(whole) is None


def test_only_sentences_depend_on_the_script():
    assert Distractor().not_applicable("хороший фильм") == "not in Latin letters"
    assert Distractor(what="link").not_applicable("хороший фильм") is None


def test_unknown_choices_are_refused():
    with pytest.raises(SpecError, match="one of: sentence, handle, link"):
        Distractor(what="poem")
    with pytest.raises(SpecError, match="one of: any, before, after"):
        Distractor(where="inside")
