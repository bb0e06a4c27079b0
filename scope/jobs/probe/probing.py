"""The probe: how far do the layers of frozen models follow people's judgement of likeness?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scope.jobs.frame import Surroundings
from scope.jobs.probe.fitting import Reading, fit_and_judge
from scope.jobs.probe.pairs import PairSpecs
from scope.jobs.probe.plan import ChosenPairTask
from scope.jobs.probe.readers import AutoDType, with_dtype
from scope.jobs.probe.request import ProbeRequest, ordered_steps
from scope.jobs.probe.retesting import Retest, judge_saved
from scope.models import ModelOptions
from scope.paths import expanded
from scope.protocols import PairTask, Progress
from scope.records import Comparison


def probe(
    *,
    models: str | Sequence[str] = (),
    data: str | None = None,
    train: str | None = None,
    development: str | None = None,
    test: str | None = None,
    unlabelled: str | None = None,
    unlabelled_n: int | None = None,
    text_column: str | None = None,
    steps: str | Sequence[str] | None = None,
    seeds: int | None = None,
    seed: int = 0,
    readout: str | None = None,
    prompt: str | Path | None = None,
    low: float | None = None,
    high: float | None = None,
    n: int | None = None,
    hidden: int | None = None,
    task: str | PairTask = "similarity",
    save: str | Path | None = None,
    probe: str | Path | None = None,
    dtype: AutoDType = "auto",
    model_options: ModelOptions | None = None,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Learn from frozen models' layers how alike people find two sentences, and judge it.

    Each model reads every sentence once, and its latents are kept: a run that is killed reads on
    where it was, and fits its probes anew. Of each model the result tells how well each step's
    probe follows people on the test pairs, what each layer knows, and which pairs are misjudged;
    of several models whose layers follow people better, and which layers are alike.

    Parameters
    ----------
    models
        Specs of models with hidden states: ``hf:``, ``gguf:`` or ``python:``.
    data
        A table of pairs with a column ``split``; in its place
    train, development, test
        pairs to learn from, to choose and stop by, and to be judged on. Development pairs may be
        left out: then a tenth of the training pairs is drawn for it.
    unlabelled, unlabelled_n
        Sentences without scores, as any data spec of texts, from which layers' statistics are
        learned together with the training sentences; at most so many, 4,000 by default.
    text_column
        The column of these sentences; found by its usual names where it is not given.
    steps
        ``raw``, ``mlp``, ``siamese``, ``autoencoder``, ``final``, always in this order; by default
        the first and the last.
    seeds, seed
        Fit each step that is drawn by lot with so many seeds, from ``seed`` on; one by default.
        Intervals, gains and what is saved are of the first seed's probe. The seed decides every
        sample too.
    readout, prompt
        Where in a text its latents are taken: ``prompt``, ``last`` or ``mean``; by default each
        kind of model has its own. A prompt has one ``{text}``, as text or the Path of a file.
    low, high
        The range of people's scores; by default that of the task, 0 to 5.
    n
        At most so many pairs of each part, drawn by the seed.
    hidden
        Units of the head's hidden layer; fewer need fewer training pairs.
    task
        The name of a task of pairs, or the task itself.
    save
        The folder in which the last step's probe is saved, of one model alone; a probe of
        another model there is not replaced.
    probe
        A folder in which a probe was saved, to be judged on the pairs of ``test``, or on those
        rows of ``data``. Nothing is fitted. ``models`` may say where its model is now, and must
        where that is one of Python: no code runs because a folder names it.
    dtype
        Precision of the models, in place of that of ``model_options``; ``auto`` takes bfloat16
        where the processor is fast in it. A saved probe has its own.
    model_options
        How models are loaded and run.
    run, runs
        The run's name under the folder ``runs``, or its path; by default a name that the same
        question always gets.
    progress
        Where to show progress; nowhere by default.

    Returns
    -------
    Comparison
        Its ``probe`` holds the findings; it prints as a table.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    around = Surroundings.of(model_options, run, runs, progress)
    named = (models,) if isinstance(models, str) else tuple(models)
    specs = PairSpecs(data=data, train=train, development=development, test=test)
    if probe is not None:
        retest = Retest(
            folder=expanded(probe),
            models=named,
            pairs=specs,
            n=n,
            seed=seed,
            task=task,
            others={
                "train": train,
                "development": development,
                "unlabelled": unlabelled,
                "unlabelled-n": unlabelled_n,
                "text-column": text_column,
                "step": steps,
                "seeds": seeds,
                "readout": readout,
                "prompt": prompt,
                "low": low,
                "high": high,
                "hidden": hidden,
                "save": save,
                "dtype": None if dtype == "auto" else dtype,
            },
        )
        return judge_saved(retest, around)
    request = ProbeRequest(
        models=named,
        pairs=specs,
        unlabelled=unlabelled,
        unlabelled_n=unlabelled_n,
        text_column=text_column,
        steps=ordered_steps(steps),
        seeds=1 if seeds is None else seeds,
        seed=seed,
        hidden=hidden,
        save=None if save is None else expanded(save),
    )
    reading = Reading(
        chosen=ChosenPairTask.of(task, low, high),
        n=n,
        readout=readout,
        prompt=prompt,
        low=low,
        high=high,
    )
    return fit_and_judge(request, reading, around._replace(models=with_dtype(around.models, dtype)))
