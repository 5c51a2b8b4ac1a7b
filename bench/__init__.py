"""What discreet costs, measured against native SQL in one run."""

import sys
from pathlib import Path

# some benchmarks use the package's own tables and mechanisms
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plpython" / "src"))
