# The names of all modules of records, for type checkers.
from scope.records.estimates import *  # noqa: F403
from scope.records.examples import *  # noqa: F403
from scope.records.fleet import *  # noqa: F403
from scope.records.result import *  # noqa: F403
from scope.records.results import *  # noqa: F403
