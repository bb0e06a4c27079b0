"""The arrays that shared mistakes are computed with, by their shapes."""

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
"""One value a model, a pair or a question, or a table of them; the docstring says which."""

Indices = NDArray[np.intp]
"""Places of models, questions or columns."""

Square = NDArray[np.float64]
"""Shape (models, models)."""

Table = NDArray[np.float64]
"""Shape (models, items)."""
