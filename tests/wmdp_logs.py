"""Writes the log-likelihoods of ``wmdp_bio_loglik`` as logs of lm-evaluation-harness.

``python tests/wmdp_logs.py ../shared/data/wmdp_bio_loglik logs``: the questions' words are not
part of the data, and a hash stands in their place.
"""

import sys
from pathlib import Path

import numpy as np
from made_up_logs import choice_sample, write_log


def write_logs(source, folder, models=None):
    """One folder a model, of all or of the first ones; returns the models' names."""
    stored = np.load(source / "loglik.npz")
    documents = [
        {"id": number, "question": f"question {digest}", "choices": [*"ABCD"], "gold": int(right)}
        for number, (digest, right) in enumerate(
            zip(stored["doc_hash"], stored["gold"], strict=True)
        )
    ]
    names = [str(name) for name in stored["models"][:models]]
    for place, name in enumerate(names):
        rows = zip(documents, stored["loglik"][place].astype(float).tolist(), strict=True)
        samples = [choice_sample(number, *row) for number, row in enumerate(rows)]
        write_log(folder / f"model-{place:02}", name, {"wmdp_bio": samples}, packed=True)
    return names


if __name__ == "__main__":
    write_logs(*map(Path, sys.argv[1:]))
