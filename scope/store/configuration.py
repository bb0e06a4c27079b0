"""The configuration of a run: a run never mixes two configurations.

The manifest stores it under the key ``question``. A later session may add models, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scope.errors import RunError
from scope.store.files import damaged, read_text, write_atomically

FORMAT = 1

GROWING = ("targets", "controls", "models")
"""The lists of models to which a later session may add."""

_SHOWN_DIFFERENCES = 8
_SHOWN_CHARACTERS = 80


def keep_configuration(
    path: Path, configuration: Mapping[str, object], notes: Mapping[str, object]
) -> bool:
    """Write the configuration of a new run, or check that an old run takes this one.

    Parameters
    ----------
    path
        The manifest of the run.
    configuration
        Everything that decides the result, as JSON would hold it.
    notes
        Further facts of the session, such as versions; never compared.

    Returns
    -------
    bool
        Whether the manifest has this configuration now. False where it adds models to the run:
        `write_configuration` is then called with the result, so that a session that fails leaves
        the run as it was.

    Raises
    ------
    RunError
        When the run has another configuration, or its manifest cannot be read.
    """
    requested = json.loads(_json(configuration))
    stored = read_configuration(path)
    if stored is None:
        write_configuration(path, configuration, notes)
    elif stored != requested and not _adds_models(stored, requested):
        raise _other_configuration(path.parent, stored, requested)
    return stored is None or stored == requested


def write_configuration(
    path: Path, configuration: Mapping[str, object], notes: Mapping[str, object]
) -> None:
    """Write the manifest of a run; readers see the old one or all of the new."""
    manifest = {"format": FORMAT, "notes": notes, "question": configuration}
    write_atomically(path, _json(manifest) + "\n")


def _adds_models(stored: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    """Whether a configuration is the stored one with further models in its lists.

    Examples
    --------
    >>> _adds_models({"seed": 0, "targets": ["a", "b"]}, {"seed": 0, "targets": ["a", "c", "b"]})
    True
    >>> _adds_models({"seed": 0, "targets": ["a", "b"]}, {"seed": 0, "targets": ["b", "a"]})
    False
    """
    if stored.keys() != requested.keys():
        return False
    return all(
        _is_within(stored[name], requested[name])
        if name in GROWING
        else stored[name] == requested[name]
        for name in stored
    )


def _is_within(some: Any, more: Any) -> bool:
    """Whether the entries of a list are in another one, in their order."""
    if not isinstance(some, list) or not isinstance(more, list):
        return bool(some == more)
    remaining = iter(more)
    return all(entry in remaining for entry in some)


def refuse_other_settings(path: Path, job: str | None, settings: Mapping[str, float]) -> None:
    """Refuse a run of another job, or with another number among its settings.

    Raises
    ------
    RunError
        When the run at this manifest is one.
    """
    stored = read_configuration(path) or {}
    kept = stored.get("settings")
    known = kept if isinstance(kept, dict) else {}
    wanted = {
        name: round(value, 6)
        for name, value in settings.items()
        if isinstance(known.get(name), int | float)
    }
    requested = {"settings": wanted} | ({} if job is None else {"job": job})
    before = {"settings": {name: known[name] for name in wanted}, "job": stored.get("job", job)}
    if any(before[name] != value for name, value in requested.items()):
        raise _other_configuration(path.parent, {key: before[key] for key in requested}, requested)


def _form(configuration: Mapping[str, Any]) -> object:
    """How language models choose: see `scope.models.options.Asking`."""
    return configuration.get("settings", {}).get("ask", "words")


def read_configuration(path: Path) -> dict[str, Any] | None:
    """The configuration of a run, or None before the run was started.

    Raises
    ------
    RunError
        When the manifest is damaged or of another format.
    """
    manifest = _read(path)
    return None if manifest is None else manifest["question"]


def read_notes(path: Path) -> dict[str, Any]:
    """The facts stored with the configuration by the first session; empty without any.

    Raises
    ------
    RunError
        When the manifest is damaged or of another format.
    """
    notes = (_read(path) or {}).get("notes")
    return notes if isinstance(notes, dict) else {}


def _read(path: Path) -> dict[str, Any] | None:
    text = read_text(path)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("question"), dict):
        raise damaged(path, "it contains no configuration")
    if manifest.get("format") != FORMAT:
        raise RunError(
            f"`{path}` has format {manifest.get('format')!r}",
            expected=f"format {FORMAT}",
            fix="continue with the release of SCoPE that started the run, or choose "
            "another --run name",
        )
    return manifest


def _json(value: object) -> str:
    return json.dumps(
        value, allow_nan=False, default=dict, ensure_ascii=False, indent=1, sort_keys=True
    )


def said_differences(
    stored: object, requested: object, in_stored: str = "in the run", in_given: str = "here"
) -> str:
    """The first differences of two configurations by dotted key, and how many more there are.

    Examples
    --------
    >>> said_differences({"seed": 0, "data": {"n": 5}}, {"seed": 1, "data": {"n": 5, "k": None}})
    'data.k is absent in the run, null here; seed is 0 in the run, 1 here'
    """
    old, new = _entries(stored), _entries(requested)
    differences = [
        f"{key.removeprefix('settings.')} is {_shown(old, key)} {in_stored}, "
        f"{_shown(new, key)} {in_given}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    shown = "; ".join(differences[:_SHOWN_DIFFERENCES])
    rest = len(differences) - _SHOWN_DIFFERENCES
    return f"{shown}; and {rest} more" if rest > 0 else shown


def _shown(entries: Mapping[str, str], key: str) -> str:
    text = entries.get(key, "absent")
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _entries(value: object, key: str = "") -> dict[str, str]:
    """The values of nested dicts and lists, as JSON by dotted key, such as ``targets[0].spec``."""
    inner: dict[str, Any] = {}
    if isinstance(value, dict):
        inner = {f"{key}.{name}" if key else name: entry for name, entry in value.items()}
    elif isinstance(value, list):
        inner = {f"{key}[{place}]": entry for place, entry in enumerate(value)}
    if not inner:
        return {key: json.dumps(value, ensure_ascii=False)}
    return {name: text for at, entry in inner.items() for name, text in _entries(entry, at).items()}


def _other_configuration(
    folder: Path, stored: Mapping[str, Any], requested: Mapping[str, Any]
) -> RunError:
    differences = said_differences(stored, requested)
    if {_form(stored), _form(requested)} == {"letters", "words"}:
        return RunError(
            f"run `{folder.name}` asks its models for {_form(stored)}; with these models all would "
            f"be asked for {_form(requested)} ({differences})",
            expected="models that can be asked as those of the run: endpoints answer with letters "
            "alone, and models of one verdict are asked alike",
            fix="choose another name with --run: all models are then asked anew",
        )
    return RunError(
        f"run `{folder.name}` was started with different arguments: {differences}",
        expected="the arguments with which the run was started, or the same with further "
        f"{', '.join(GROWING[:-1])} or {GROWING[-1]}",
        fix=f"choose another name with --run, or delete the folder `{folder}`",
    )
