"""A spec string becomes examples: files, data sets of the hub, and the demo's texts."""

from scope.data.loading import LoadedData, load_data, subsample

__all__ = ["LoadedData", "load_data", "subsample"]
