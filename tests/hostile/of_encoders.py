"""Sentence encoders whose files name code: none runs, in a folder or from the hub.

A library imports what a file names, at any depth; so each case ends by looking for the mark that
the code leaves when it is imported.
"""

import os
import shutil
from pathlib import Path

from hostile.cases import REFUSED, WORKS, Case
from hostile.encoders import (
    EVIL,
    ROWS,
    change_json,
    copy_encoder,
    nothing_ran,
    write_json,
    write_modules,
)
from hub.server import serve

AUDIT = (
    *("audit", "--reference", "python:toy_models:Stranger", "--target"),
    *("python:toy_models:Student", "--capability", "typo", "--data", "rows.csv", "--n", "3"),
    *("--label-column", "none", "--min-similarity", "0.5", "--run", "mine"),
)
BERT, CONFIG = "sentence_bert_config.json", "config.json"
TOKENS = "tokenizer_config.json"
FOREIGN = {
    "AutoConfig": "evil.Evil",
    "AutoModel": "evil.Evil",
    "AutoTokenizer": ["evil.Evil", None],
}
FAR = dict.fromkeys(("AutoConfig", "AutoModel", "AutoProcessor"), "someone/code--evil.Evil")
CODE = "custom code"


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


def case(name, change, *says, hub=False, more=(), exits=REFUSED, after=nothing_ran):
    """An audit with a changed encoder, and the code ``evil`` in every folder around it."""

    def make(folder, stack):
        root = folder.parent / "hub"
        encoder = copy_encoder(root / "models" / "tiny" / "enc" if hub else folder / "enc")
        code = root / "models" / "someone" / "code"
        code.mkdir(parents=True)
        for place in (folder, encoder, code):
            (place / "evil.py").write_text(EVIL)
        change(encoder)
        (folder / "rows.csv").write_text(ROWS)
        if hub:
            (folder / "hub.url").write_text(stack.enter_context(serve(root)))
        return (*AUDIT, "--encoder", "hf:tiny/enc" if hub else "./enc", *more)

    return Case(
        name=f"{name}, {'on the hub' if hub else 'in a folder'}",
        make=make,
        exits=exits,
        says=("found:", *says) if says else (),
        before=use_own_folders,
        after=after,
        megabytes=700,
    )


def modules(*kinds):
    return lambda encoder: write_modules(encoder, kinds)


def setting(file, **changes):
    return lambda encoder: change_json(encoder / file, **changes)


def router_below(encoder):
    """A router in a router."""
    write_modules(encoder, ["Router"], Router="")
    inner = "sentence_transformers.models.Router"
    for path, types in (("", {"0_x": inner}), ("0_x", {"0_y": "evil.Evil"})):
        structure = {"types": types, "structure": {"q": [*types]}}
        write_json(encoder / path / "router_config.json", structure)


def bare(encoder):
    """A checkpoint that is no sentence encoder yet: the library pools its tokens by itself."""
    for name in ("modules.json", BERT):
        (encoder / name).unlink()
    for name in ("1_Pooling", "2_Dense"):
        shutil.rmtree(encoder / name)


def bare_with_code(encoder):
    bare(encoder)
    change_json(encoder / CONFIG, model_type="evil", auto_map=FOREIGN)


def named(key, value):
    return f"names the {key} {value!r}"


HOSTILE = {
    "a module of its own": (modules("evil.Evil"), named("type", "evil.Evil")),
    "a router in a router": (router_below, named("0_y", "evil.Evil")),
    "a configuration of its own": (setting(CONFIG, model_type="evil", auto_map=FOREIGN), CODE),
    "a configuration of another repository": (
        setting(CONFIG, model_type="evil", auto_map=FAR),
        "someone/code",
    ),
    "a tokenizer of its own": (
        setting(TOKENS, tokenizer_class="evil.Evil"),
        named("tokenizer_class", "evil.Evil"),
    ),
    "an attention of another repository": (
        setting(CONFIG, attn_implementation="someone/code"),
        named("attn_implementation", "someone/code"),
    ),
    "a bare checkpoint with a configuration of its own": (bare_with_code, CODE),
}
"""What the encoder's folder holds, and the error."""

FROM_THE_HUB = (
    *("a module of its own", "a router in a router"),
    *("a configuration of its own", "a configuration of another repository"),
    "a tokenizer of its own",
)


def unchanged(_):
    """Nothing is hostile."""


def ran(folder):
    assert list(folder.parent.rglob("ran"))


CASES = [
    *(case("an ordinary encoder", unchanged, hub=hub, exits=WORKS) for hub in (False, True)),
    case("an ordinary checkpoint without modules", bare, exits=WORKS),
    *(case(title, change, says) for title, (change, says) in HOSTILE.items()),
    *(case(title, *HOSTILE[title], hub=True) for title in FROM_THE_HUB),
    *(
        case(
            f"{title}, trusted: the mark is left",
            HOSTILE[title][0],
            more=("--trust-remote-code",),
            after=ran,
        )
        for title in ("a module of its own", "a router in a router")
    ),
]
