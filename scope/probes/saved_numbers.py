"""The two files of a saved probe."""

from scope.store.numbers import SavedNumbers

NUMBERS, DESCRIPTION = "probe.safetensors", "probe.json"

FILES = SavedNumbers(numbers=NUMBERS, description=DESCRIPTION, again="fit the probe again")
