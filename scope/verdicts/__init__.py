"""May a target replace the reference? The decision on endpoints, its plan and power, its words.

An audit, a comparison and the logs of another tool bring differences by text; see `decide`.
"""
