"""Prints the Python interpreter that PL/Python links, which need not be the one on PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dev.postgresql import pg_config


def linked_interpreter() -> str:
    """Path of pythonX.Y for the libpythonX.Y that plpython3.so is linked with."""
    library = os.path.join(pg_config("--pkglibdir"), "plpython3.so")
    linked = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    version = re.search(r"libpython(3\.\d+)", linked)
    if version is None:
        sys.exit(f"{library} does not say which Python it links")
    name = f"python{version[1]}"
    # the system's own first: a pyenv or conda on PATH has the same version but another build
    found = shutil.which(name, path="/usr/bin:/usr/local/bin") or shutil.which(name)
    if found is None:
        sys.exit(f"PL/Python links {name}, but no such interpreter is installed")
    return found


if __name__ == "__main__":
    print(linked_interpreter())
