"""The two files of a saved probe."""

from scope.store.saved_parts import SavedParts

NUMBERS, DESCRIPTION = "probe.safetensors", "probe.json"

FILES = SavedParts(
    numbers=NUMBERS,
    description=DESCRIPTION,
    origin="`scope probe --save`",
    first="fit a probe first",
    again="fit the probe again",
)
