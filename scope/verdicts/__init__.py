"""May a target replace the reference? Endpoints with limits, the decision, and its power.

An audit, a comparison and the logs of another tool bring differences by text; see `endpoints`.
"""
