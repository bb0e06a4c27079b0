"""Models that write down what they are asked when they begin on it, in the file SCOPE_TEST_LOG.

``python:hostile.killed_models:llama`` is the tiny Llama in the folder KILLED_LLAMA.
"""

import json
import os
import time
from pathlib import Path

from killing import run_command


def log(rows):
    with Path(os.environ["SCOPE_TEST_LOG"]).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


class Logged:
    """A causal model that scores options, a few milliseconds a prompt."""

    spec = "python:hostile.killed_models:llama"

    def __init__(self, model):
        self._model = model
        self.fingerprint = model.fingerprint
        score = model._decoder.score

        def score_slowly(prompts, *rest):
            log([["llama", *prompt] for prompt in prompts])
            time.sleep(0.004 * len(prompts))
            return score(prompts, *rest)

        model._decoder.score = score_slowly

    def choose(self, questions):
        return self._model.choose(questions)


def encode_slowly():
    """Have every sentence encoder of this process write down its texts."""
    from scope.models.encoder import SentenceEncoder

    encode = SentenceEncoder.encode

    def logged(encoder, texts):
        log([["encoder", text] for text in texts])
        time.sleep(0.001 * len(texts))
        return encode(encoder, texts)

    SentenceEncoder.encode = logged


def run(before, arguments, folder, environment):
    """What the process of a command does."""
    if before is not None:
        before()
    run_command(arguments, folder, environment)


def __getattr__(name):
    if name != "llama":
        raise AttributeError(name)
    from scope.models.scheme import load_model

    return Logged(load_model(os.environ["KILLED_LLAMA"], "choice_scorer"))
