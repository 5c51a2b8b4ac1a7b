"""Prints the path of pg_config of the PostgreSQL that everything here is built for and tested with.

It is the one that the variable PG_CONFIG names; else the newest that is installed; else the one that Debian's release
has, which is then installed by dev/setup.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

SUPPORTED = range(15, 19)


def debian_path(major: int) -> Path:
    return Path(f"/usr/lib/postgresql/{major}/bin/pg_config")


def debian_release() -> int | None:
    """The major version that the package `postgresql` of this machine's Debian installs."""
    if shutil.which("apt-cache") is None:
        return None
    depends = subprocess.run(["apt-cache", "depends", "postgresql"], capture_output=True, text=True).stdout
    found = re.search(r"Depends: postgresql-(\d+)", depends)
    return int(found[1]) if found else None


@cache
def program() -> str:
    named = os.environ.get("PG_CONFIG")
    if named:
        return named
    installed = [major for major in SUPPORTED if debian_path(major).exists()]
    major = max(installed) if installed else debian_release()
    if major is not None:
        return str(debian_path(major))
    return shutil.which("pg_config") or str(debian_path(min(SUPPORTED)))


@cache
def pg_config(option: str) -> str:
    return subprocess.run([program(), option], check=True, capture_output=True, text=True).stdout.strip()


@cache
def major() -> int:
    """The major version: by what pg_config says, or by its path where it is not installed yet."""
    if Path(program()).exists():
        found = re.match(r"PostgreSQL (\d+)", pg_config("--version"))
    else:
        found = re.search(r"/postgresql/(\d+)/", program())
    if found is None or int(found[1]) not in SUPPORTED:
        sys.exit(f"{program()} is not of PostgreSQL {SUPPORTED[0]} to {SUPPORTED[-1]}; name another with PG_CONFIG=...")
    return int(found[1])


if __name__ == "__main__":
    print(major() if sys.argv[1:] == ["major"] else program())
