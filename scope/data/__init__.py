"""A spec string becomes examples: files, data sets of the hub, and the demo's texts."""
