"""Judges of films of a few lines, for decisions on audits; no torch.

As specs: ``python:toy_judges:Judge`` and so on. A text praises a film, or it does not.
"""

import hashlib

PRAISE = ("fun", "joy")
BLAME = ("sad", "bad")
"""Words too short for a typing error: what it changes leaves a judge's label as it is."""

SCENES = ("moving scenes", "clever dialogue", "quiet music", "famous actors")


def texts(positive, negative):
    """So many different texts with their labels, those that praise first."""
    return [
        (f"this {words[place % 2]} picture with {SCENES[place % 4]} number {place}", label)
        for words, label, count in ((PRAISE, "positive", positive), (BLAME, "negative", negative))
        for place in range(count)
    ]


def one_in(text, number):
    """Whether chance, drawn by the text alone, picks it as one of so many."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % number == 0


class Judge:
    """Praise is positive, all else negative: right on every text."""

    labels = ("negative", "positive")

    def classify(self, texts):
        return [[0.1, 0.9] if self.likes(text) else [0.9, 0.1] for text in texts]

    def likes(self, text):
        return any(word in text for word in PRAISE)


class Twin(Judge):
    """Another judge that says the same."""


class Slips(Judge):
    """Right on texts as they are written, wrong on some of those with a typing error."""

    among = 40

    def likes(self, text):
        seen = super().likes(text)
        known = any(f" {words} number" in text for words in SCENES)
        return seen if known or not one_in(text, self.among) else not seen


class Rough(Judge):
    """Wrong on some of the texts."""

    among = 40

    def likes(self, text):
        return super().likes(text) != one_in(text, self.among)


class Random(Judge):
    """Draws lots."""

    def likes(self, text):
        return one_in(text, 2)


class Enthusiast(Judge):
    """Likes everything."""

    def likes(self, text):
        return True


class Fails(Judge):
    """Gives no number for one text in eight."""

    def classify(self, texts):
        rows = super().classify(texts)
        return [
            [float("nan")] * 2 if one_in(text, 8) else row
            for text, row in zip(texts, rows, strict=True)
        ]
