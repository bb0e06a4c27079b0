"""Commands on made-up suspects."""

import pytest
from made_up_suspects import write_world


@pytest.fixture
def world(tmp_path):
    """Questions and tables of answers in the command's folder; returns the answers by model."""
    return write_world(tmp_path)


@pytest.fixture
def reuse(command, world):
    """Tests a suspect of the tables against ``ours`` and the 24 controls."""

    def run(suspect, *more, controls=("controls.tsv#*",), data="questions.jsonl"):
        named = [word for one in controls for word in ("--control", f"predictions:{one}")]
        return command(
            *("reuse", "--suspect", f"predictions:suspects.tsv#{suspect}"),
            *("--reference", "predictions:suspects.tsv#ours", *named),
            *("--task", "choice", "--data", data, *more),
        )

    return run
