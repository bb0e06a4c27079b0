"""The complete examples in the documentation work as they stand."""

import sys
import types

import pytest
from source.imports import ROOT

import scope
from scope.models.options import ModelOptions
from scope.models.scheme import in_role
from scope.testing import check_capability


def code(page, number):
    """One of the page's Python blocks."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split("```python\n")[number].partition("```")[0]


def module_of(source, name, monkeypatch):
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(source, module.__dict__)
    return module


def test_the_task_and_the_model_of_the_how_tos_are_compared(tmp_path, monkeypatch):
    task = module_of(code("how-to/extend.md", 1), "sums_of_the_page", monkeypatch).Sums()
    model = code("how-to/models-and-data.md", 1)
    (tmp_path / "first_of_the_page.py").write_text(model)
    (tmp_path / "second_of_the_page.py").write_text(model.replace("0.5, 0.3", "0.3, 0.5"))
    monkeypatch.chdir(tmp_path)
    models = ["python:first_of_the_page:Model", "python:second_of_the_page:Model"]
    frame = scope.compare(models=models, tasks=[task], data="sums", n=30).to_frame()
    assert frame[frame.metric == "agreement"].value.tolist() == [0.0]


def test_the_scheme_of_the_how_to_loads_a_classifier(monkeypatch):
    module = module_of(code("how-to/extend.md", 2), "keyword_of_the_page", monkeypatch)
    model = in_role(module.load("good", ModelOptions()), "keyword:good", "classifier", None)
    assert [one.choice for one in model.classify(["a good film", "a film"])] == [1, 0]
    archive = module_of(
        f"load = None\n{code('how-to/extend.md', 3)}", "archive_of_the_page", monkeypatch
    )
    assert archive.ARCHIVE.saved


@pytest.mark.slow  # TextAttack's import and six searches
def test_the_capability_of_the_how_to_keeps_the_rules(monkeypatch):
    module = module_of(code("how-to/write-a-capability.md", 1), "letters_of_the_page", monkeypatch)
    check_capability(module.Letters())
