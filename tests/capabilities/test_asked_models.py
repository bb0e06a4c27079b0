"""Capabilities that ask a model which the user names, and recipes."""

import pytest
from toy_paraphrasers import LetterScorer

from capabilities.paraphrase import Paraphrase, Paraphraser
from capabilities.synonym import Synonym
from capabilities.textattack import TextAttackRecipe
from scope.errors import DataError, ModelError, ResourceError, SpecError
from scope.jobs.perturbing import choose_capabilities
from scope.models.scheme import load_model
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import AlikeWords, HashedWords, check_capability

TEXT = "a quiet film about an old sailor"
SHORT = [Example(id=text, text=text) for text in ("a film", "an old sailor", "?!")]


def paraphrase(name, **settings):
    return Paraphrase(model=f"python:toy_paraphrasers:{name}", min_meaning=-1.0, **settings)


def search(capability, text=TEXT, **options):
    (found,) = capability.search(
        HashedWords(strength=0.1),
        [Example(id="e", text=text)],
        SearchOptions(**{"encoder": AlikeWords(), **options}),
    )
    return found


def test_a_paraphraser_keeps_the_rules(lexicon):
    check_capability(paraphrase("Paraphraser"))


def test_each_trial_takes_another_of_the_samples(lexicon):
    texts = {one.text for one in search(paraphrase("Paraphraser"))}
    assert len(texts) == 3
    assert all(sorted(text.split()) == sorted([*TEXT.split(), "so"]) for text in texts)
    assert {one.text for one in search(paraphrase("Paraphraser", samples=1), trials=1)} < texts


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Parrot", "the model gave the text itself"),
        ("Silent", "the model gave no answer"),
        ("Chatty", "the model gave no paraphrase within the bounds"),
    ],
)
def test_a_model_without_a_paraphrase_is_not_applicable_for_one_reason(name, reason, lexicon):
    found = search(paraphrase(name))
    assert {(one.applicable, one.failure, one.queries) for one in found} == {(False, reason, 0)}


def paraphraser(**bounds):
    return Paraphraser(Paraphrase(model="any", **{"min_meaning": -1, **bounds}))


def test_texts_are_paraphrased_together_and_once(lexicon):
    from scope.records import Answer

    class Counting:
        fingerprint, asked = "f", []

        def answer(self, questions):
            self.asked.append(len(questions))
            return enumerate(Answer(text=f"{one.context} indeed") for one in questions)

    counted = paraphraser(samples=2)
    counted.answerer = Counting()
    counted.prepare(["a film", "a story", "a film"])
    assert counted.cosines("a film") == {"a film indeed": None}
    assert Counting.asked == [4]


def test_without_a_model_the_error_says_what_to_set(lexicon):
    with pytest.raises(SpecError, match=r"paraphrase\.model=MODEL"):
        Paraphrase().settings()
    with pytest.raises(ModelError, match="answerer"):
        paraphrase("Filler").settings()


def test_the_encoder_that_bounds_the_meaning_is_named_by_its_content(lexicon, monkeypatch):
    class Encoder:
        fingerprint = "of these bytes"

    monkeypatch.setattr("capabilities.paraphrase.load_encoder", lambda spec: Encoder())
    model = "python:toy_paraphrasers:Paraphraser"
    bounded = Paraphrase(model=model, encoder="models/any")
    assert bounded.settings()["encoder_fingerprint"] == "of these bytes"
    assert "encoder_fingerprint" not in paraphrase("Paraphraser").settings()


def test_an_estimate_asks_no_paraphraser(lexicon):
    capability = Paraphrase(model="", min_meaning=-1.0)
    example = Example(id="e", text=TEXT)
    assert capability.estimate_queries(example, SearchOptions()) == 4
    assert capability.estimate_queries(Example(id="e", text="?!"), SearchOptions()) == 0


def test_a_masked_model_is_not_asked_about_a_text_that_holds_a_blank(lexicon):
    (found,) = search(
        Synonym(source="mask:python:toy_paraphrasers:Filler"), "a ____ film", trials=1
    )
    assert (found.text, found.applicable) == (None, False)


def test_the_meaning_is_bounded_by_an_encoder_whose_cosine_is_kept(lexicon, monkeypatch):
    import numpy as np

    class ByLength:
        def encode(self, texts):
            angles = np.array([len(text.split()) for text in texts]) / 10
            return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    bounded = paraphraser(max_length_ratio=9, min_meaning=0.99)
    bounded.encoder = ByLength()
    assert bounded.admitted("a b c", ["d e f", "d e f g h i j k"]) == {"d e f": 1.0}
    monkeypatch.setattr("capabilities.paraphrase.load_encoder", lambda spec: ByLength())
    bounded = Paraphrase(model="python:toy_paraphrasers:Paraphraser", min_meaning=0.9)
    cosine = round(float(np.cos(0.1)), 6)  # the paraphraser adds a word
    assert {one.similarity for one in search(bounded)} == {cosine}
    assert {one.similarity for one in search(paraphrase("Paraphraser"))} == {None}


def test_the_example_is_an_admissible_paraphrase(lexicon):
    before, after = Paraphrase.example
    assert list(paraphraser().admitted(before, [after])) == [after]


def test_synonyms_of_vectors_and_of_a_mask(tmp_path, lexicon):
    path = tmp_path / "vectors.txt"
    path.write_text("4 2\nfilm 1 0\nmovie 0.9 0.1\nsailor 0 1\nquiet 0.1 0.9\n")
    by_vectors = Synonym(source=f"vectors:{path}")
    assert {one.text for one in search(by_vectors, "a film", trials=1)} == {"a movie"}
    by_mask = Synonym(source="mask:python:toy_paraphrasers:Filler")
    assert search(by_mask, "a film", trials=1)[0].text in {"a grand", "a lovely"}
    assert by_mask.settings()["source"] == by_mask.source
    check_capability(by_mask, SHORT)


def test_the_paper_preset_of_synonym_has_the_settings_of_old(lexicon):
    settings = Synonym(preset="paper").settings()
    assert set(settings) == {"preset", "max_characters", "wordnet", "stopwords"}


def test_words_of_vectors_may_hold_signs_that_end_a_line_elsewhere(tmp_path, lexicon):
    path = tmp_path / "vectors.txt"
    path.write_text("film 1 0 \n\x85 0 1\nmovie 0.9 0.1\n. . 0 1\n", encoding="utf-8")
    swaps = Synonym(source=f"vectors:{path}")
    assert {one.text for one in search(swaps, "a film", trials=1)} == {"a movie"}


def test_a_file_that_holds_no_vectors_is_named(tmp_path, lexicon):
    path = tmp_path / "a.txt"
    for content in ("", "film x y", "film 1 2\nmovie 1"):
        path.write_text(content)
        with pytest.raises(DataError, match="word vectors"):
            Synonym(source=f"vectors:{path}").settings()
    path.write_text("film 1 2\nmovie 1\nsea 1 2")
    with pytest.raises(DataError, match="`movie` has 1 numbers, others 2"):
        Synonym(source=f"vectors:{path}").settings()
    with pytest.raises(DataError, match="there is no such file"):
        Synonym(source=f"vectors:{tmp_path / 'b.txt'}").settings()


def test_a_language_model_bounds_how_unlikely_a_synonym_may_make_a_text(lexicon):
    scored = "python:toy_paraphrasers:LetterScorer"
    free, bound = Synonym(), Synonym(language_model=scored, max_perplexity=1.0)
    # A text's perplexity by this model is its length: no synonym may be longer than the word.
    lengths = {len(one.text) for one in search(free, "a story", trials=3) if one.text}
    assert max(lengths) > len("a story")
    kept = [one for one in search(bound, "a story", trials=3) if one.text]
    assert 0 < max(len(one.text) for one in kept) <= len("a story")
    assert bound.settings().keys() - free.settings().keys() == {"language_model", "max_perplexity"}
    check_capability(bound, [*SHORT, Example(id="story", text="a story")])


def test_an_estimate_asks_no_language_model_and_trials_ask_it_once(lexicon, monkeypatch):
    asked = []

    class Scorer(LetterScorer):
        def perplexities(self, texts):
            asked.extend(texts)
            return super().perplexities(texts)

    monkeypatch.setattr("perturbations.synonyms.load_model", lambda *_: Scorer())
    capability = Synonym(language_model="python:of:this-test")
    assert capability.estimate_queries(Example(id="e", text="a film"), SearchOptions()) > 1
    assert not asked
    search(capability, "a film", trials=3)
    assert len(asked) == len(set(asked)) > 1


def test_where_the_bound_refuses_all_the_text_counts_as_a_failure(lexicon):
    nothing = Synonym(language_model="python:toy_paraphrasers:LetterScorer", max_perplexity=0.1)
    (one,) = search(nothing, "a film", trials=1)
    assert (one.text, one.applicable) == (None, True)


def test_a_model_that_gives_no_perplexity_is_named(lexicon):
    with pytest.raises(ModelError, match="text_scorer"):
        Synonym(language_model="python:toy_paraphrasers:Filler").settings()


def test_a_paraphrase_may_be_as_long_as_the_longest_text(monkeypatch):
    given = {}

    def load(spec, role, options):
        given[role] = options.max_answer_tokens
        return load_model(spec, role, options)

    monkeypatch.setattr("capabilities.paraphrase.load_model", load)
    spec = "python:toy_paraphrasers:Chatty"
    Paraphrase(model=spec, max_characters=600, min_meaning=-1).settings()
    assert given == {"answerer": 300}


def chosen(name, **settings):
    (one,) = choose_capabilities([name], settings)
    return one.capability


@pytest.mark.parametrize(
    "recipe", ["deepwordbug", "inputreduction", pytest.param("pruthi", marks=pytest.mark.slow)]
)
def test_recipes_that_run_offline_keep_the_rules(recipe, lexicon):
    check_capability(chosen(f"textattack:{recipe}"), SHORT)


@pytest.mark.parametrize("recipe", ["checklist", "TextFooler", "bae"])
def test_a_recipe_that_would_download_says_what(recipe, lexicon):
    with pytest.raises(ResourceError, match=f"textattack:{recipe.lower()} would load"):
        chosen(f"textattack:{recipe}").settings()


@pytest.mark.parametrize(
    ("name", "setting"),
    [("paraphrase", "model"), ("textattack", "recipe"), ("synonym", "language_model")],
)
def test_a_number_for_a_name_is_refused(name, setting):
    with pytest.raises(SpecError, match="expected: a text"):
        chosen(name, **{setting: 5})


def test_two_recipes_go_into_one_audit_and_an_unknown_one_is_named():
    names = [
        one.capability.name
        for one in choose_capabilities(["textattack:pwws", "textattack:Pruthi"], {})
    ]
    assert names == ["textattack:pwws", "textattack:pruthi"]
    assert chosen("textattack:bae", **{"textattack:bae.download": True}).download
    with pytest.raises(SpecError, match="textfooler"):
        TextAttackRecipe(recipe="textfoler")
    with pytest.raises(SpecError, match="nothing behind `synonym`"):
        chosen("synonym:x")


@pytest.mark.parametrize("setting", ["recipe", "textattack:pwws.recipe"])
def test_a_recipe_beside_the_one_of_the_name_is_refused(setting):
    with pytest.raises(SpecError, match=f"has the setting `{setting}`"):
        choose_capabilities(["textattack:pwws"], {setting: "deepwordbug"})
    (found,) = choose_capabilities(["textattack"], {"recipe": "deepwordbug"})
    assert found.capability.name == "textattack:deepwordbug"
