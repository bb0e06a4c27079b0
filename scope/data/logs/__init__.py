"""Logs of evaluation tools, as data and as answers: one file a tool, which makes `LogItem`s."""
