"""Which language a text is in, told by its function words."""

import pytest
from hypothesis import given, strategies as st

from capabilities.contraction import Contraction
from capabilities.distractor import Distractor
from capabilities.synonym import Synonym
from perturbations.languages import not_english, not_latin
from perturbations.word_tables import table

ELSEWHERE = [
    "le film est une merveille et les acteurs sont bons",
    "Der Film ist lang, und ich habe ihn nicht verstanden.",
    "la película es muy larga y no me gusta el final",
    "il film è lungo ma gli attori sono bravi e non mi annoia",
    "o filme não é ruim, mas os atores são muito fracos",
    "de film is te lang en het verhaal is niet goed",
    "filmen är för lång och jag tyckte inte om den",
    "film jest za długi, ale nie był nudny i się podobał",
    "bu film çok uzun ve oyuncular kötü değil",
    "phim này không hay và diễn viên của nó là những người mới",
]
ENGLISH = [
    "",
    "Wonderful!",
    "la la land",
    "a film on la dolce vita, le jazz et cetera, and the best of its kind",
    "Viva la France! How I love the films of Louis de Funes",
    "de niro and el camino: what a duo",
]


@pytest.mark.parametrize("text", ELSEWHERE)
def test_a_sentence_of_another_language_is_told(text):
    assert not_english(text) == not_english(text.upper()) == "not in English"
    assert not_latin(text) is None


@pytest.mark.parametrize("text", ENGLISH)
def test_english_with_foreign_names_stays_english(text):
    assert not_english(text) is None


def test_the_words_of_no_language_are_those_of_english():
    (_, english), *others = table("function_words")
    for language, words in others:
        assert not set(words.split()) & set(english.split()), language
        assert len(set(words.split())) == len(words.split()) >= 10, language


@given(st.text())
def test_any_text_has_an_answer_that_case_and_order_leave_alone(text):
    told = not_english(text)
    assert told in (None, "not in English", "not in Latin letters")
    assert not_english(" ".join(reversed(text.split()))) == not_english(" ".join(text.split()))


def test_capabilities_of_english_words_do_not_apply():
    for capability in (Contraction(), Distractor(), Synonym()):
        assert capability.not_applicable(ELSEWHERE[0]) == "not in English"
        assert capability.not_applicable("хороший фильм") == "not in Latin letters"
    assert Distractor(what="link").not_applicable(ELSEWHERE[0]) is None
    assert Synonym(source="mask:hf:x").not_applicable(ELSEWHERE[0]) is None
