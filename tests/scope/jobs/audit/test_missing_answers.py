"""A text that a model does not answer costs one text, changed or not."""

import math

from toy_models import Reference

from scope.records import Prediction

WORDS = ("hollow", "dreadful")


class Refuses(Reference):
    """Gives no numbers to texts that contain its word, as a damaged copy or a content filter."""

    def __init__(self, word):
        self.word, self.name = word, f"without-{word}"
        self.spec = self.fingerprint = f"memory:{self.name}"

    def classify(self, texts):
        rows = zip(texts, super().classify(texts), strict=True)
        shares = [(math.nan,) * 2 if self.word in text else row for text, row in rows]
        return [Prediction(probabilities=tuple(row)) for row in shares]


def test_texts_that_a_model_does_not_answer_are_left_out_for_all(toy_audit):
    result = toy_audit(
        reference=Refuses(WORDS[0]), targets=[Refuses(WORDS[1])], n=None, capabilities=["typo"]
    )
    (data,) = result.manifest.data
    counts = {left.reason: left.count for left in data.left_out}
    assert counts == {f"no answer of without-{word}: no number": 5 for word in WORDS}
    texts = [scored.example.text for scored in result.examples]
    assert len(texts) == data.used == 48 - 10
    texts += [scored.perturbation.text or "" for scored in result.candidates]
    assert not any(word in text for word in WORDS for text in texts)
