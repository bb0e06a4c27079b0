"""Sentence encoders whose files name code of their own: none runs, in a folder or from the hub.

The fault came in through what a library imports because a file names it, at any depth; so each
case ends by looking for the mark that the code leaves when it is imported.
"""

import os
from pathlib import Path

from hostile.cases import REFUSED, WORKS, Case
from hostile.encoders import EVIL, ROWS, copy_encoder, nothing_ran
from hostile.naming import HOSTILE, bare, modules, pipe, router
from hub.server import serve

AUDIT = (
    *("audit", "--reference", "python:toy_models:Reference", "--target"),
    *("python:toy_models:Student", "--capability", "typo", "--data", "rows.csv", "--n", "3"),
    *("--label-column", "none", "--min-similarity", "0.5", "--run", "mine"),
)
FLAG = "--trust-remote-code"


def use_own_folders():
    """The hub's library, imported already, as if these settings had stood before its import."""
    from huggingface_hub import constants, file_download

    here = Path.cwd()
    os.environ |= {"HF_HOME": str(here / "home"), "NO_PROXY": "*", "no_proxy": "*"}
    constants.HF_HUB_OFFLINE, constants.HF_HUB_DISABLE_XET = False, True
    constants.HF_HUB_CACHE = str(here / "home" / "hub")
    url = here / "hub.url"
    constants.ENDPOINT = url.read_text() if url.exists() else "http://127.0.0.1:9"
    template = "{endpoint}/{repo_id}/resolve/{revision}/{filename}"
    # Earlier releases look it up in the one module, later ones in the other.
    for module in (constants, file_download):
        module.HUGGINGFACE_CO_URL_TEMPLATE = template.replace("{endpoint}", constants.ENDPOINT)


def in_folder(change, *more):
    """The encoder in a folder of the working folder, changed, with evil code beside and in it."""

    def make(folder, _):
        enc = copy_encoder(folder / "enc")
        for place in (folder, enc):
            (place / "evil.py").write_text(EVIL)
        change(enc)
        (folder / "rows.csv").write_text(ROWS)
        return (*AUDIT, "--encoder", "./enc", *more)

    return make


def on_hub(change, *more):
    """The same as a repository of the hub, beside one that holds the code."""

    def make(folder, stack):
        root = folder.parent / "hub"
        enc = copy_encoder(root / "models" / "tiny" / "enc")
        change(enc)
        code = root / "models" / "someone" / "code"
        code.mkdir(parents=True)
        for place in (folder, enc, code):
            (place / "evil.py").write_text(EVIL)
        (folder / "hub.url").write_text(stack.enter_context(serve(root)))
        (folder / "rows.csv").write_text(ROWS)
        return (*AUDIT, "--encoder", "hf:tiny/enc", *more)

    return make


def unchanged(_):
    """Nothing is hostile."""


def ran(folder):
    assert list(folder.parent.rglob("ran"))


CASES = [
    *(
        Case(
            name=f"{title}, {where}",
            make=place(change),
            exits=REFUSED if part else REFUSED | WORKS,
            says=["found:", part] if part else (),
            before=use_own_folders,
            after=nothing_ran,
        )
        for title, (change, part) in HOSTILE.items()
        for where, place in (("in a folder", in_folder), ("on the hub", on_hub))
    ),
    *(
        Case(
            name=f"an ordinary encoder, {where}",
            make=place(unchanged),
            exits=WORKS,
            before=use_own_folders,
            after=nothing_ran,
        )
        for where, place in (("in a folder", in_folder), ("on the hub", on_hub))
    ),
    Case(
        name="a pipe in a hidden folder",
        make=in_folder(pipe(".more/config.json")),
        says=["config.json is not a regular file"],
        before=use_own_folders,
        after=nothing_ran,
    ),
    Case(
        name="an ordinary checkpoint without modules",
        make=in_folder(bare),
        exits=WORKS,
        before=use_own_folders,
        after=nothing_ran,
    ),
    Case(
        name="a module of its own, trusted: the mark is left",
        make=in_folder(modules("evil.Evil"), FLAG),
        exits=REFUSED,
        before=use_own_folders,
        after=ran,
    ),
    Case(
        name="a router, trusted: the mark is left",
        make=in_folder(router, FLAG),
        exits=REFUSED,
        before=use_own_folders,
        after=ran,
    ),
]
