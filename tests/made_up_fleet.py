"""A made-up fleet: models that know some topics and not others, and questions of made-up words.

The encoder is a table of words that puts the words of a topic near each other.
"""

import csv
import itertools

import numpy as np

TOPICS = ("sums", "birds", "laws", "tides")
SYLLABLES = ("zor", "bli", "mak", "tep", "lun", "fri", "gos", "vad", "kel", "nup", "ria", "wex")
WORDS = {
    topic: tuple(f"{topic[:2]}{first}{second}" for first, second in itertools.islice(pairs, 20))
    for topic, pairs in zip(
        TOPICS, (itertools.permutations(SYLLABLES[place:], 2) for place in range(4)), strict=True
    )
}
QUESTIONS = 160
MODELS = tuple(f"model-{number:02}" for number in range(20))
WIDTH = 8


class MadeUpFleet:
    """Questions with a topic each, and who answers them correctly; the seed decides all."""

    def __init__(self, seed=5, *, questions=QUESTIONS, models=MODELS):
        generator = np.random.default_rng(seed)
        self.models = models
        self.topics = [TOPICS[place % len(TOPICS)] for place in range(questions)]
        self.texts = [
            f"{' '.join(generator.choice(WORDS[topic], size=6))} {place}"
            for place, topic in enumerate(self.topics)
        ]
        self.ids = [f"q{place}" for place in range(questions)]
        # Half of the models know the first two topics, the others the rest.
        knows = np.array(
            [
                [(place % 2 == 0) == (topic < 2) for topic in range(4)]
                for place in range(len(models))
            ]
        )
        level = generator.uniform(-0.1, 0.1, size=(len(models), 1))
        share = np.where(knows, 0.85, 0.25) + level
        of_topic = [TOPICS.index(topic) for topic in self.topics]
        self.correct = (generator.random((questions, len(models))) < share[:, of_topic].T).astype(
            int
        )

    def write(self, path, *, questions=None, models=None, leave_out=()):
        """The answers as a long table, of some questions and models by their places."""
        questions = range(len(self.ids)) if questions is None else questions
        models = range(len(self.models)) if models is None else models
        columns = ("model", "id", "question", "category", "correct")
        kept = [one for one in columns if one not in leave_out]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, kept, extrasaction="ignore")
            writer.writeheader()
            for question in questions:
                for model in models:
                    writer.writerow(
                        {
                            "model": self.models[model],
                            "id": self.ids[question],
                            "question": self.texts[question],
                            "category": self.topics[question],
                            "correct": self.correct[question, model],
                        }
                    )
        return path

    def write_questions(self, path, questions):
        """Questions alone, without any answer."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("id", "question", "category"))
            writer.writerows(
                (self.ids[one], self.texts[one], self.topics[one]) for one in questions
            )
        return path


def write_word_table(folder, *, seed=0):
    """A sentence encoder without a transformer: the mean of its words' rows."""
    import tokenizers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    generator = np.random.default_rng(seed)
    vocabulary = {"[UNK]": 0}
    rows = [np.zeros(WIDTH)]
    for place, topic in enumerate(TOPICS):
        for word in WORDS[topic]:
            vocabulary[word] = len(vocabulary)
            rows.append(2 * np.eye(WIDTH)[place] + generator.normal(0, 0.3, size=WIDTH))
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    table = StaticEmbedding(inner, embedding_weights=np.array(rows, dtype=np.float32))
    SentenceTransformer(modules=[table], device="cpu").save_pretrained(str(folder))
    return folder


def lay_out(folder):
    """An encoder and answers of a made-up fleet, in a folder.

    There are `answers.csv` with all, `train.csv` with the first 120 questions and without the last
    model, `newcomer.csv` with that model's answers to them, `new.csv` with the other questions
    alone, and `test.csv` with all models' answers to these and to twenty of the former.
    """
    fleet = MadeUpFleet()
    old, last = range(120), len(MODELS) - 1
    write_word_table(folder / "encoder")
    fleet.write(folder / "answers.csv")
    fleet.write(folder / "train.csv", questions=old, models=range(last))
    fleet.write(folder / "newcomer.csv", questions=old, models=[last])
    fleet.write(folder / "test.csv", questions=range(100, QUESTIONS))
    fleet.write_questions(folder / "new.csv", range(120, QUESTIONS))
    return fleet
