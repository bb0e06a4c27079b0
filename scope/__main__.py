"""``python -m scope``: the command line."""

from scope.cli import main

main()
