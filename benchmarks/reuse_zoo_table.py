"""The figures of the zoo as a table."""

from __future__ import annotations

from typing import Any

from zoo.lineage import DERIVED

EVIDENCE = (
    "shared_mistakes",
    "log_probabilities",
    "hard_scope",
    "soft_scope",
    "capa",
    "error_consistency",
)
UNRELATED = ("hard_negatives", "independents", "of_others")


def table(found: dict[str, Any]) -> str:
    """The figures for a reader."""
    lines = [
        f"zoo: {found['zoo_models']} models, {found['zoo_pairs']} pairs, "
        f"{found['zoo_related_pairs']} of them related; {found['zoo_queries']} queries a suspect",
        f"{'AUROC':<36} {_written(found, 'zoo_auroc')}",
        f"{'TPR at 1 % FPR':<36} {_written(found, 'zoo_tpr_at_fpr_01')}",
        f"{'TPR at 5 % FPR':<36} {_written(found, 'zoo_tpr_at_fpr_05')}",
        f"{'independents called related at 0.05':<36} {_written(found, 'zoo_observed_fpr_at_05')}",
        "",
        f"{'':<20} {'pairs':>6} {'AUROC':>7} {'related':>8} {'undecided':>10} {'not related':>12}",
    ]
    for group in (*DERIVED, *UNRELATED):
        related, cleared = (found[f"zoo_{group}_{one}"] for one in ("related", "not_related"))
        auroc = f"{found[f'zoo_{group}_auroc']:.3f}" if group in DERIVED else ""
        lines.append(
            f"{group:<20} {found[f'zoo_{group}_pairs']:>6} {auroc:>7} {related:>8.2f} "
            f"{1 - related - cleared:>10.2f} {cleared:>12.2f}"
        )
    lines += ["", "verdicts on related pairs:", found["zoo_verdicts"]]
    lines += ["", f"{'each kind of evidence alone':<36} AUROC"]
    lines += [
        f"  {kind:<34} {found[key]:.3f}"
        for kind in EVIDENCE
        if (key := f"zoo_{kind}_auroc") in found
    ]
    lines += [
        "",
        f"in batches of {found['zoo_batch']}: {found['zoo_sequential_queries']} queries a derived "
        f"suspect, {found['zoo_sequential_related']:.2f} of them called related",
        f"built in {found['zoo_build_seconds']} s, asked in {found['zoo_ask_seconds']} s, "
        f"{found['zoo_verdict_seconds']} s a verdict; searches of {found['zoo_search_queries']} "
        "queries to each reference",
    ]
    return "\n".join(lines)


def _written(found: dict[str, Any], key: str) -> str:
    return f"{found[key]:.3f} [{found[f'{key}_low']:.3f}, {found[f'{key}_high']:.3f}]"
