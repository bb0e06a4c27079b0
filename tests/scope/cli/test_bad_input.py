"""Every mistake ends in one screen that says what was found, what was expected and how to fix it.

Most go through the command in this process, some through the real one.
"""

import json

import pytest
from hub.tiny import write_tiny_model


@pytest.fixture
def audit_arguments(sentences_csv):
    def arguments(**changes):
        options = {
            "reference": "python:toy_models:Reference",
            "target": "python:toy_models:Student",
            "data": sentences_csv,
            "n": 4,
            "capability": "typo",
            **changes,
        }
        return [
            "audit",
            *(word for name, value in options.items() for word in (f"--{name}", value)),
        ]

    return arguments


@pytest.mark.parametrize(
    ("changes", "found", "fix"),
    [
        ({"reference": "hff:x"}, "no model scheme is called `hff`", "did you mean `hf`"),
        ({"fail-under": "hard_scope"}, "the gate `hard_scope`", "METRIC>=VALUE"),
        (
            {"gate": "hard_scope[typo]>=other"},
            "the gate `hard_scope[typo]>=other`",
            "hard_scope[typo,student]>=0.9",
        ),
        ({"reference": "python:toy_models:Nothing"}, "has no `Nothing`", "define `Nothing`"),
        ({"target": "python:toy_models:OtherLabels"}, "negative  |  LABEL_0", "--label-map"),
        ({"reference": "python:toy_models:OneLabel"}, "has the labels ['score']", "regression"),
        ({"setting": "min_letters=six"}, "min_letters=six of `typo`", "correct the value"),
        ({"metric": "informedness"}, "the metric `informedness`", "measures it anyway"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_the_message_names_the_mistake_and_its_fix(refused, audit_arguments, changes, found, fix):
    message = refused(*audit_arguments(**changes))
    assert found in message
    assert fix in message
    assert "expected:" in message


def test_a_model_that_is_nowhere_is_named(refused, audit_arguments, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    message = refused(*audit_arguments(reference="no-such-owner/no-such-model"))
    assert "no folder `no-such-owner/no-such-model`" in message


def test_a_text_beyond_the_limit_is_cut_counted_and_shown(command, audit_arguments, tmp_path):
    write_tiny_model(tmp_path / "model", labels=("negative", "positive"))
    long = " ".join(["film"] * 60)
    path = tmp_path / "long.csv"
    path.write_text(f"text,label\n{long},positive\na good film,positive\n", encoding="utf-8")
    done = command(
        *audit_arguments(reference=tmp_path / "model", target=tmp_path / "model", data=path),
        *("--setting", "share=1", "--json-full"),
    )
    assert done.returncode == 0, done.stderr
    comparison = json.loads(done.stdout)
    truncated = comparison["manifest"]["models"][0]["truncated"]
    changed = [one["perturbation"]["text"] for one in comparison["perturbations"]]
    assert truncated == len({text for text in [long, *filter(None, changed)] if len(text) > 200})
    again = command("report", next((tmp_path / "runs").iterdir()).name)
    assert f"model: {truncated} texts cut to its maximum length" in again.stdout
