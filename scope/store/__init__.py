"""The folder of a run: its configuration, its result and its lock.

The answers of a run, and the run itself while it is open, are in `scope.answers`.
"""
