"""Loads and checks the data and capabilities of an audit before any work is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scope import plugins
from scope.data.sampling import LoadedData, load_data
from scope.errors import DataError, SpecError
from scope.jobs.shared_fields import LabelledTexts
from scope.metrics import METRICS, Metric, known_metrics, parse_metric
from scope.models.labels import align_examples, parse_label_map
from scope.protocols import Capability
from scope.records import CapabilityCard, Setting
from scope.registry import Entry, find

MOST_SLICES = 50
"""Most slices of one column; with more, each would have too few texts."""


def load_texts(
    request: LabelledTexts, n: int | None, slices: Sequence[str] = (), cluster: str | None = None
) -> LoadedData:
    """Load ``n`` examples, with their gold labels in a classifier's role.

    Raises
    ------
    DataError
        When the texts cannot be read, or a column of ``slices`` has more than 50 values.
    """
    loaded = load_data(
        request.data,
        text_column=request.text_column,
        label_column="none" if request.role == "next_token" else request.label_column,
        slices=slices,
        cluster=cluster,
        n=n,
        seed=request.seed,
    )
    every = {name for example in loaded.examples for name in example.slices}
    for column in slices:
        count = sum(name.startswith(f"{column}: ") for name in every)
        if not 1 < count <= MOST_SLICES:
            raise DataError(
                f"{count} different values in the column `{column}` of --slice",
                expected=f"2 to {MOST_SLICES} values, each of many texts",
                fix="choose another column, or group its values, such as lengths into bands",
            )
    return loaded


def with_labels(loaded: LoadedData, labels: Sequence[str], label_map: Sequence[str]) -> LoadedData:
    """The examples with their gold labels spelled as the reference spells its labels."""
    aligned = align_examples(loaded.examples, labels, parse_label_map(label_map))
    return replace(loaded, examples=aligned)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenCapability:
    """A capability and its origin."""

    capability: Capability
    origin: str

    def card(self) -> CapabilityCard:
        """Its entry in the manifest."""
        return plugins.piece_card(self.capability, self.origin)


def choose_capabilities(
    requested: Sequence[str | object], settings: Mapping[str, Setting]
) -> tuple[ChosenCapability, ...]:
    """The capabilities by name or as they are, with the settings that each of them has.

    Raises
    ------
    SpecError
        When a name is unknown or repeated, or no capability has one of the settings.
    """
    takes: dict[str, set[str]] = {}
    chosen: list[ChosenCapability] = []
    for capability in requested:
        if isinstance(capability, str):
            entry = find("capabilities", capability)
            argument = _argument(entry)
            made, origin = plugins.make_piece(entry, {**settings, **argument}), entry.origin
            # A setting given after the colon may not be repeated as an option.
            fixed = {key.removeprefix(f"{entry.name}.") for key in argument}
            takes[capability] = plugins.settings_of(entry.target) - fixed
        else:
            made, origin = capability, type(capability).__module__
        chosen.append(ChosenCapability(capability=plugins.guarded_piece(made), origin=origin))
    names = [choice.capability.name for choice in chosen]
    plugins.require_distinct("capabilities", names, "--capability synonym --capability typo")
    plugins.refuse_unused_settings(settings, takes)
    return tuple(chosen)


def _argument(entry: Entry) -> Mapping[str, Setting]:
    """The setting given after the colon of a capability's name.

    Raises
    ------
    SpecError
        When the capability takes no such setting.
    """
    name, colon, argument = entry.name.partition(":")
    field = getattr(entry.target, "argument", None)
    if colon and field is None:
        raise SpecError(
            f"the capability `{entry.name}`",
            expected=f"nothing behind `{name}`: its settings are options of their own",
            fix=f"write --capability {name}, and for example --setting {name}.FIELD=VALUE",
        )
    return {f"{entry.name}.{field}": argument} if colon else {}


_CLEAN, _TARGET = [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.7, 0.3]]
_TRIAL = (_CLEAN, _CLEAN, _CLEAN, _TARGET)
"""Predictions on two kept pairs, the reference's and a target's, before and after."""


def further_metrics(spellings: Sequence[str], known: Sequence[Metric]) -> tuple[Metric, ...]:
    """The metrics on pairs that these spellings mean, without those that are measured anyway.

    Raises
    ------
    SpecError
        When one is unknown, is not measured on pairs, or does not give one number per pair.
    ModelError
        When its function fails.
    """
    metrics = tuple(dict.fromkeys(parse_metric(spelling, "audits") for spelling in spellings))
    for metric in metrics:
        if metric.on_pairs is None:
            always = metric.measured_in == "audits"
            others = (key for key in known_metrics("audits") if parse_metric(key).on_pairs)
            raise SpecError(
                f"the metric `{metric}` for an audit",
                expected="a metric on pairs of an original and a perturbed text",
                fix=f"{'leave it out, an audit measures it anyway, or ' * always}choose one of "
                f"{', '.join(others)}",
            )
        # A mistake in a plugin's function shows before hours of search, not after.
        metric.pair_values(*_TRIAL)
    return tuple(metric for metric in metrics if metric not in known)


def soft_scope_metric(tolerance: float, cutoff: float) -> Metric:
    """Soft-SCoPE with these bounds.

    Raises
    ------
    SpecError
        When they are not 0 <= tolerance <= cutoff.
    """
    try:
        return METRICS["soft_scope"].at(tolerance=tolerance, cutoff=cutoff)
    except ValueError as error:
        raise SpecError(
            str(error),
            expected="0 <= tolerance <= cutoff, as L1 distances of two changes (0 to 4)",
            fix="write for example --tolerance 0.1 --cutoff 1.0",
        ) from error
