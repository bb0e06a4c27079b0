"""``scope probe``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scope.cli.doing import do_and_show
from scope.cli.options import (
    AllowPickle,
    Device,
    Devices,
    RunName,
    TokenBudget,
    TrustRemoteCode,
)
from scope.cli.output import Json, Runs


class Precisions(StrEnum):
    """Precision of weights and activations."""

    AUTO = "auto"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"


PAIRS = "a table with two columns of sentences and a score, or hf:NAME:SPLIT"


def probe(
    model: Annotated[
        list[str],
        typer.Option(metavar="SPEC", help="hf:NAME, a folder, or gguf:FILE; repeat to compare."),
    ] = [],  # noqa: B006 - typer copies it
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PAIRS",
            help="Scored pairs of sentences: a table with a column `split` of train, dev, test.",
        ),
    ] = None,
    train: Annotated[
        str | None, typer.Option(metavar="PAIRS", help=f"In place of --data: {PAIRS}.")
    ] = None,
    development: Annotated[
        str | None,
        typer.Option(
            metavar="PAIRS",
            help="Pairs to choose and stop by; by default a tenth of the training pairs is drawn.",
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="PAIRS", help="Pairs to be judged on.")
    ] = None,
    unlabelled: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Sentences without scores, from which layers' statistics are learned as well.",
        ),
    ] = None,
    unlabelled_n: Annotated[
        int | None, typer.Option(min=1, help="At most so many of them; 4000 by default.")
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Of --unlabelled; found by itself if common.")
    ] = None,
    step: Annotated[
        list[str],
        typer.Option(
            metavar="STEP",
            help="raw, mlp, siamese, autoencoder or final; repeat. By default raw and final.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Fit with so many seeds; 1 by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first; decides every sample too.")] = 0,
    readout: Annotated[
        str | None,
        typer.Option(
            metavar="READOUT",
            help="Where a text is read: the last token of a prompt (prompt), its own (last), or "
            "the mean. By default prompt for causal models and mean for others.",
        ),
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A prompt with one {text} in it.")
    ] = None,
    low: Annotated[
        float | None, typer.Option(help="The score of pairs with nothing in common; 0.")
    ] = None,
    high: Annotated[
        float | None, typer.Option(help="The score of pairs that mean the same; 5.")
    ] = None,
    n: Annotated[int | None, typer.Option(min=1, help="At most so many pairs of a part.")] = None,
    hidden: Annotated[
        int | None,
        typer.Option(min=1, help="Units of the head; fewer need fewer pairs. 16 in final."),
    ] = None,
    task: Annotated[str, typer.Option(help="A task of pairs; see `scope list tasks`.")] = (
        "similarity"
    ),
    save: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the last step's probe there.")
    ] = None,
    probe: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A saved probe, to be judged on the pairs of --test, or on the test rows of "
            "--data; --model may say where its model is now.",
        ),
    ] = None,
    run: RunName = None,
    runs: Runs = Path("runs"),
    json: Json = False,
    device: Device = Devices.AUTO,
    dtype: Annotated[
        Precisions,
        typer.Option(help="Precision; auto is bfloat16 where the processor is fast in it."),
    ] = Precisions.AUTO,
    token_budget: TokenBudget = 4096,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Tell how far the layers of frozen models follow people's judgement of likeness in meaning.

    Sentences are read once by each model; a light probe learns from the layers to score pairs.
    Example: scope probe --model hf:openai-community/gpt2-medium --data pairs.csv
    --unlabelled text:books/ --save gpt2-probe
    """
    from scope.jobs.probe.probing import probe as run_probe
    from scope.models import ModelOptions

    do_and_show(
        run_probe,
        as_json=json,
        run=run,
        runs=runs,
        models=model,
        data=data,
        train=train,
        development=development,
        test=test,
        unlabelled=unlabelled,
        unlabelled_n=unlabelled_n,
        text_column=text_column,
        steps=step or None,
        seeds=seeds,
        seed=seed,
        readout=readout,
        prompt=prompt,
        low=low,
        high=high,
        n=n,
        hidden=hidden,
        task=task,
        save=save,
        probe=probe,
        dtype=dtype.value,
        model_options=ModelOptions(
            device=device.value,
            token_budget=token_budget,
            allow_pickle=allow_pickle,
            trust_remote_code=trust_remote_code,
        ),
    )
