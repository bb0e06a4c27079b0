"""The folder of the goldens' commands goes on the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
