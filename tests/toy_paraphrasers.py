"""Models that paraphrase, more or less, one that fills blanks, one that scores; no torch."""

from scope.records import Answer


class Paraphraser:
    """Turns the text round at its first word, another way for every wording of the request."""

    def answer(self, questions):
        return [Answer(text=self.say(question.text, question.context)) for question in questions]

    def say(self, wording, text):
        words = text.split()
        place = ("Say", "Rew", "Par").index(wording[:3]) % len(words)
        return 'Paraphrase: "' + " ".join([*words[place:], "so", *words[:place]]) + '"'


class Parrot(Paraphraser):
    def say(self, wording, text):
        return f" {text.upper()}! "


class Silent(Paraphraser):
    def answer(self, questions):
        return [Answer() for _ in questions]


class Chatty(Paraphraser):
    def say(self, wording, text):
        return text * 5 + " and so on and on"


class Filler:
    def fill(self, questions):
        return [Answer(text="grand", others=("lovely", "well-made")) for _ in questions]


class LetterScorer:
    """A language model whose perplexity is a text's length."""

    spec, fingerprint = "python:toy_paraphrasers:LetterScorer", "letters"

    def perplexities(self, texts):
        return [float(len(text)) for text in texts]
