"""A spec string becomes examples: files, data sets of the hub, and the demo's texts."""

from scope.data.sampling import (
    LoadedData as LoadedData,
    load_data as load_data,
    subsample as subsample,
)
