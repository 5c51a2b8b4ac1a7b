"""Prints what a package depends on that holds modules for the Python which PL/Python links."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dev.interpreter import linked_interpreter

found = re.search(r"3\.(\d+)$", linked_interpreter())
assert found is not None
owner = subprocess.run(["dpkg", "-S", f"*/libpython3.{found[1]}.so.1.0"], check=True, capture_output=True, text=True)
print(f"python3 (>= 3.{found[1]}~), python3 (<< 3.{int(found[1]) + 1}~), {owner.stdout.partition(':')[0]}")
