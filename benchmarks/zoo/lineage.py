"""Who is derived from whom in the zoo: the truth that a verdict about reuse is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

REFERENCE = "reference"

DERIVED = ("further-tuned", "distilled", "fewer-layers", "int8", "pruned", "noisy", "stolen")
"""The ways in which a model of the zoo is made out of a reference, or of its answers."""

INDEPENDENT = ("same-data", "other-data")
"""How a model of the zoo is made without any use of a reference: what it was trained on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ZooModel:
    """A model of known origin.

    Parameters
    ----------
    name
        Such as ``minilm-distilled``: that of its reference's base, and how it was made.
    path
        Its checkpoint's folder.
    base
        What its own weights started from. A stolen model's is not its reference's.
    kind
        ``reference``, one of ``DERIVED`` or one of ``INDEPENDENT``.
    source
        The reference that it is derived from; None where it is derived from none.
    hard_negative_of
        The reference that shares with it the pretrained public weights it started from and the
        texts it was trained on, though neither is derived from the other; None where there is none.
    """

    name: str
    path: Path
    base: str
    kind: str
    source: str | None = None
    hard_negative_of: str | None = None


@dataclass(frozen=True, slots=True)
class Zoo:
    """Models of known lineage, references first.

    Examples
    --------
    >>> ours = ZooModel(name="a-reference", path=Path("a"), base="a", kind="reference")
    >>> copy = ZooModel(name="a-int8", path=Path("b"), base="a", kind="int8", source=ours.name)
    >>> zoo = Zoo((ours, copy))
    >>> zoo["a-int8"].source, zoo.independents
    ('a-reference', ())
    """

    models: tuple[ZooModel, ...]

    def __getitem__(self, name: str) -> ZooModel:
        for model in self.models:
            if model.name == name:
                return model
        raise KeyError(name)

    def __iter__(self) -> Iterator[ZooModel]:
        return iter(self.models)

    @property
    def references(self) -> tuple[ZooModel, ...]:
        """The models that others are derived from."""
        return tuple(model for model in self.models if model.kind == REFERENCE)

    @property
    def independents(self) -> tuple[ZooModel, ...]:
        """The models that are derived from no other and have nothing derived from them."""
        return tuple(model for model in self.models if model.kind in INDEPENDENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """A base of the zoo, as far as lineage goes.

    Parameters
    ----------
    name
        Of the base.
    pretrained
        Whether its weights are public, so that strangers may start from the same ones.
    thief
        The base of the model that is trained on its reference's answers.
    """

    name: str
    pretrained: bool
    thief: str


def plan_zoo(
    home: Path, origins: Sequence[Origin], *, same_data: int = 3, other_data: int = 2
) -> Zoo:
    """The models there are to be: references first, then base by base.

    Examples
    --------
    >>> zoo = plan_zoo(Path("zoo"), [Origin(name="a", pretrained=True, thief="b")])
    >>> [model.name for model in zoo][:2], len(zoo.models), len(zoo.independents)
    (['a-reference', 'a-same-data-1'], 13, 5)
    >>> zoo["a-stolen"].base, zoo["a-stolen"].source, zoo["a-same-data-1"].hard_negative_of
    ('b', 'a-reference', 'a-reference')
    """
    references = [_reference(home, origin) for origin in origins]
    others = [
        model
        for origin in origins
        for model in (
            *_independents(home, origin, "same-data", same_data),
            *_independents(home, origin, "other-data", other_data),
            *(_derived(home, origin, kind) for kind in DERIVED),
        )
    ]
    return Zoo((*references, *others))


def _reference(home: Path, origin: Origin) -> ZooModel:
    name = f"{origin.name}-{REFERENCE}"
    return ZooModel(name=name, path=home / name, base=origin.name, kind=REFERENCE)


def _independents(home: Path, origin: Origin, kind: str, count: int) -> Iterator[ZooModel]:
    is_hard = origin.pretrained and kind == "same-data"
    for number in range(1, count + 1):
        name = f"{origin.name}-{kind}-{number}"
        yield ZooModel(
            name=name,
            path=home / name,
            base=origin.name,
            kind=kind,
            hard_negative_of=f"{origin.name}-{REFERENCE}" if is_hard else None,
        )


def _derived(home: Path, origin: Origin, kind: str) -> ZooModel:
    name = f"{origin.name}-{kind}"
    return ZooModel(
        name=name,
        path=home / name,
        base=origin.thief if kind == "stolen" else origin.name,
        kind=kind,
        source=f"{origin.name}-{REFERENCE}",
    )


def to_rows(zoo: Zoo) -> list[dict[str, str | None]]:
    """The models as what JSON can hold, one a row."""
    return [{**asdict(model), "path": str(model.path)} for model in zoo]
