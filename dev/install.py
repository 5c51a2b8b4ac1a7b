"""Installs the extension and its private Python folder, or removes all of it again.

The folder is <pkglibdir>/discreet-<version>: the package and its locked dependencies, for the interpreter that
PL/Python links. It is filled beside its place and then moved there, so a broken download leaves the old one.

DESTDIR=folder puts all below that folder, as packagers want it. WHEELS=folder takes the dependencies from there and
from no registry; `wheels` fills it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dev.interpreter import linked_interpreter  # noqa: E402
from dev.postgresql import major, pg_config  # noqa: E402

WHEELS = os.environ.get("WHEELS")


def placed(path: Path) -> Path:
    """Where a file is put, whose place will be `path`."""
    return Path(os.environ.get("DESTDIR", "") + str(path))


def extension_version() -> str:
    control = (ROOT / "extension" / "discreet.control").read_text()
    found = re.search(r"^default_version = '([^']+)'", control, re.MULTILINE)
    assert found is not None, "discreet.control names no version"
    return found[1]


def python_folder() -> Path:
    return Path(pg_config("--pkglibdir")) / f"discreet-{extension_version()}"


def extension_folder() -> Path:
    return Path(pg_config("--sharedir")) / "extension"


def locks() -> list[Path]:
    """What the server's Python imports, and the parser with the grammar of this PostgreSQL."""
    return [ROOT / "plpython" / "requirements.lock", ROOT / "plpython" / f"pglast-{major()}.lock"]


def locked() -> str:
    return "".join(lock.read_text() for lock in locks())


def install_dependencies(folder: Path, python: str) -> None:
    stamp = hashlib.sha256((locked() + python).encode()).hexdigest()
    if (folder / "lock.sha256").exists() and (folder / "lock.sha256").read_text() == stamp:
        return
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    for other in folder.parent.glob("discreet-*/lock.sha256"):
        # another version with the same dependencies
        if other.read_text() == stamp:
            shutil.copytree(
                other.parent,
                fresh,
                copy_function=os.link,
                ignore=shutil.ignore_patterns("discreet", "requirements.lock"),
            )
            shutil.rmtree(folder, ignore_errors=True)
            fresh.rename(folder)
            return
    print(f"Installing {' and '.join(str(lock.relative_to(ROOT)) for lock in locks())} into {folder}", flush=True)
    only_wheels = {} if WHEELS is None else {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": WHEELS}
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-script-location",
         "--root-user-action=ignore", "--only-binary", ":all:", "--require-hashes", "--target", str(fresh),
         *(f"--requirement={lock}" for lock in locks())],
        check=True, env=os.environ | only_wheels,
    )  # fmt: skip
    slim(fresh)
    (fresh / "lock.sha256").write_text(stamp)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def slim(folder: Path) -> None:
    """Drops what a server never imports: programs and tests of the dependencies, symbols of OpenDP's library."""
    shutil.rmtree(folder / "bin", ignore_errors=True)
    for tests in sorted(folder.glob("**/tests")):
        if tests.relative_to(folder).parts[0] in ("numpy", "scipy", "greenlet"):
            shutil.rmtree(tests, ignore_errors=True)
    if shutil.which("strip") is None:
        return
    for library in folder.glob("opendp/lib/*.so"):
        stripped = library.with_name(library.name + ".stripped")
        subprocess.run(["strip", "--strip-unneeded", "-o", str(stripped), str(library)], check=True)
        stripped.chmod(0o755)
        # another inode: a server that runs keeps the library it has mapped
        stripped.rename(library)


def install_package(folder: Path, python: str) -> None:
    package, fresh, old = (folder / name for name in ("discreet", "discreet.new", "discreet.old"))
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(ROOT / "plpython" / "src" / "discreet", fresh, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["chmod", "-R", "a+rX", str(fresh)], check=True)
    # servers that run find one or the other
    shutil.rmtree(old, ignore_errors=True)
    if package.exists():
        package.rename(old)
    fresh.rename(package)
    shutil.rmtree(old, ignore_errors=True)
    # what check_installation() compares the folder with
    (folder / "requirements.lock").unlink(missing_ok=True)
    (folder / "requirements.lock").write_text(locked())
    # the server's user cannot write here, so the bytecode is made now
    subprocess.run([python, "-m", "compileall", "-q", str(folder / "discreet")], check=True)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)


def extension_files() -> dict[Path, Path]:
    """What goes where, besides the Python folder."""
    files = {
        ROOT / "extension" / "discreet.control": extension_folder() / "discreet.control",
        ROOT / "extension" / "discreet.so": Path(pg_config("--pkglibdir")) / "discreet.so",
    }
    for script in sorted((ROOT / "build").glob("discreet--*.sql")):
        files[script] = extension_folder() / script.name
    return files


def install() -> None:
    python = linked_interpreter()
    folder = placed(python_folder())
    folder.parent.mkdir(parents=True, exist_ok=True)
    install_dependencies(folder, python)
    install_package(folder, python)
    for source, final in extension_files().items():
        target = placed(final)
        target.parent.mkdir(parents=True, exist_ok=True)
        # a new inode: running backends keep the library they have mapped
        beside = target.with_name(target.name + ".new")
        shutil.copyfile(source, beside)
        beside.chmod(0o755 if target.suffix == ".so" else 0o644)
        beside.rename(target)


def uninstall() -> None:
    library = placed(Path(pg_config("--pkglibdir")))
    for folder in library.glob("discreet-*"):
        shutil.rmtree(folder)
    (library / "discreet.so").unlink(missing_ok=True)
    extensions = placed(extension_folder())
    for file in [*extensions.glob("discreet--*.sql"), extensions / "discreet.control"]:
        file.unlink(missing_ok=True)


def wheels() -> None:
    """Fills WHEELS with what `install` needs, for machines that reach no registry."""
    folder = WHEELS or str(ROOT / "build" / "wheels")
    command = [linked_interpreter(), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary"]
    subprocess.run(
        [*command, ":all:", "--require-hashes", f"--dest={folder}", *(f"--requirement={lock}" for lock in locks())],
        check=True,
    )


if __name__ == "__main__":
    {"install": install, "uninstall": uninstall, "wheels": wheels}[sys.argv[1]]()
