"""A request is the Python signature, the checks and the command that reproduces a result."""

import inspect
import itertools
import math
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import pytest

import scope
from scope.core.options import DATA, HIDDEN, OUTSIDE_IDENTITY, Limits, named_values, option
from scope.core.request import Request, as_function, described, documentation, reproduce
from scope.errors import ScopeError, SpecError
from scope.jobs import JOBS
from scope.jobs.audit.request import AuditRequest
from scope.models.options import Labelling, ModelOptions


@dataclass(frozen=True, kw_only=True)
class CountRequest(Request):
    """Count words.

    A second paragraph.
    """

    texts: Annotated[Sequence[str], option(DATA, "--text")]
    """Text to count."""

    least: Annotated[int, option(DATA), Limits(least=1, below=9)] = 2
    """Shortest word."""

    names: Annotated[Mapping[str, str], named_values(DATA, "--name", example="a=b")] = field(
        default_factory=dict
    )
    """Name of a word."""

    encoder: Annotated[str | None, option(DATA)] = "usual"
    """Encoder."""

    parallel_texts: Annotated[int, option(DATA), OUTSIDE_IDENTITY] = 4
    """Texts at once."""

    model_options: Annotated[ModelOptions, HIDDEN, Labelling] = field(default_factory=ModelOptions)
    """Options of models."""


def run_count(request):
    """Count."""
    return request


count = as_function(CountRequest, run_count)


def test_the_function_has_the_requests_signature_and_documents_every_field():
    assert count.__name__ == "count"
    signature = inspect.signature(count)
    assert signature.parameters.keys() == inspect.signature(CountRequest).parameters.keys()
    assert next(iter(signature.parameters)) == "texts"
    assert signature.parameters["least"].annotation is int
    assert inspect.signature(scope.audit).return_annotation == "AuditResult"
    assert count.__doc__.startswith("Count words.\n\nA second paragraph.\n\nParameters\n")
    assert "least\n    Shortest word.\n" in count.__doc__
    assert set(documentation(CountRequest)) == set(inspect.signature(count).parameters)


def test_one_value_may_stand_alone_where_several_are_taken():
    assert count(texts="a b").texts == ("a b",)
    assert count(texts=["a", "b"]).texts == ("a", "b")
    assert count(texts=(one for one in "ab")).texts == ("a", "b")


@pytest.mark.parametrize("least", [0, 9])
def test_a_number_outside_its_limits_is_refused_from_python_as_from_the_command_line(least):
    with pytest.raises(SpecError) as caught:
        count(texts="a", least=least)
    assert caught.value.found == f"--least {least}"
    assert caught.value.expected == "a number at least 1 and below 9"


def test_the_command_names_what_differs_from_the_defaults_and_decides_the_result():
    options = ModelOptions(dtype="bfloat16", requests=2, prompts={"answer": Path("qa.txt")})
    request = count(
        texts=["a b", "c"],
        names={"x": "y z"},
        encoder=None,
        parallel_texts=9,
        run="mine",
        runs=Path("elsewhere"),
        model_options=options,
    )
    words = shlex.split(reproduce("count", request))
    assert words[:6] == ["scope", "count", "--text", "a b", "--text", "c"]
    assert {("--name", "x=y z"), ("--encoder", "none"), ("--dtype", "bfloat16")} < set(
        itertools.pairwise(words)
    )
    assert ("--prompt", "answer=qa.txt") in set(itertools.pairwise(words))
    assert "--requests" not in words
    assert "parallel_texts" not in reproduce("count", request)
    assert "mine" not in reproduce("count", request)


def test_none_is_no_list():
    with pytest.raises(SpecError, match="--text None"):
        count(texts=None)


@pytest.mark.parametrize("least", [1.5, math.nan, True, "3"])
def test_a_number_that_is_not_whole_is_refused(least):
    with pytest.raises(SpecError) as caught:
        count(texts="a", least=least)
    assert caught.value.expected == "a whole number"


def test_none_stands_for_no_progress_and_usual_options_of_models():
    request = count(texts="a", progress=None, model_options=None)
    assert request.model_options == ModelOptions()
    assert request.progress is not None


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({"encoder": ""}, "--encoder ''"),
        ({"names": {}}, ""),
        ({"model_options": ModelOptions(max_answer_tokens=64)}, ""),
        ({"model_options": ModelOptions(next_tokens=3)}, "--next-tokens 3"),
    ],
    ids=str,
)
def test_the_command_holds_what_it_offers_and_nothing_else(options, command):
    written = reproduce("count", count(texts="a", **options))
    assert written == f"scope count --text a {command}".strip()


TABLE = pd.DataFrame({"text": ["a", "b"]})
ARRAY = TABLE.text.to_numpy(dtype=str)
KINDS = ("object", "str", "string", "category")
ELEMENTWISE = [*map(TABLE.astype, KINDS), TABLE.text, ARRAY, np.array("a"), (ARRAY, ARRAY), pd.NA]
"""Values whose comparison is an array, a data frame, or neither true nor false."""


@pytest.mark.parametrize("kind", [*(job.request for job in JOBS), ModelOptions])
def test_every_field_takes_or_refuses_what_compares_element_by_element(kind):
    required = {one.name: "x" for one in described(kind) if MISSING is one.default}
    required |= {"models": ["x", "y"]} if "models" in required else {}
    for one, value in itertools.product(described(kind), ELEMENTWISE):
        with suppress(ScopeError):
            kind(**{**required, one.name: value})


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_every_field_of_every_job_has_a_line_of_help(job):
    kinds = [one for one in (job.request, job.gates) if one is not None]
    for kind in kinds:
        described = documentation(kind)
        names = set(inspect.signature(kind).parameters)
        assert names - described.keys() == set()
        assert all(text.strip() for text in described.values())


def test_an_option_of_models_says_where_it_goes():
    with pytest.raises(TypeError, match=r"write model_options=scope.ModelOptions\(device=…\)$"):
        scope.audit(reference="a", targets=["b"], data="c", device="cpu")


@pytest.mark.parametrize(
    ("options", "found", "expected"),
    [
        ({"settings": "x"}, "--setting 'x'", "a dict"),
        ({"distance": "l3"}, "--distance 'l3'", "one of: l1, kl"),
        ({"runs": None}, "--runs None", "a path"),
        ({"label_map": {"a": "b"}}, "--label-map ({'a': 'b'},)", "a list of texts"),
        ({"model_options": {}}, "model_options {}", "a ModelOptions"),
        ({"progress": True}, "progress True", "a Progress"),
        ({"text_column": "\ud800"}, "--text-column '\\ud800'", "text that can be written as UTF-8"),
        ({"label_map": "a=\ud800"}, "--label-map 'a=\\ud800'", "text that can be written as UTF-8"),
        ({"groups": {"\0": "b"}}, "--group '\\x00'", "text that can be written as UTF-8"),
    ],
)
def test_a_value_of_another_type_is_refused(options, found, expected):
    with pytest.raises(SpecError) as caught:
        AuditRequest(reference="a", targets="b", data="c", **options)
    assert (caught.value.found, caught.value.expected) == (found, expected)
