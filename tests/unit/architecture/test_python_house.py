"""The Python of the tree keeps to its rooms: a pure core, and two rooms that touch the server."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "plpython" / "src" / "discreet"
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = {
    "core", "adopt", "budget", "dp", "gate", "personal", "audited", "local", "mls", "rules", "release", "synthesis",
    "sealed", "ops", "server", "worker",
}  # fmt: skip
HEAVY = ["pglast", "opendp", "numpy", "scipy", "psycopg", "discreet.dp"]

each_module = pytest.mark.parametrize("module", MODULES, ids=lambda file: str(file.relative_to(PACKAGE)))


def room(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0]


def imports(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@each_module
def test_only_the_rooms_of_server_and_worker_touch_plpy(module: Path) -> None:
    assert room(module) in ("server", "worker") or not re.search(r"\bplpy\b", module.read_text())


@each_module
def test_no_other_room_imports_from_them(module: Path) -> None:
    if room(module) not in ("server", "worker"):
        assert not [name for name in imports(module) if name.startswith(("discreet.server", "discreet.worker"))]


@each_module
def test_functions_of_curators_do_without_the_gate_worker(module: Path) -> None:
    if room(module) == "server":
        assert not [name for name in imports(module) if name.startswith("discreet.worker")]


@each_module
def test_the_core_imports_no_feature(module: Path) -> None:
    if room(module) == "core":
        ours = [name for name in imports(module) if name.startswith("discreet.")]
        assert all(name.startswith("discreet.core.") for name in ours)


@each_module
def test_noise_and_connections_come_from_nowhere_but_the_parts_chosen_for_them(module: Path) -> None:
    roots = {name.partition(".")[0] for name in imports(module)}
    assert not roots & {"random", "psycopg", "psycopg2"}
    assert "numpy.random" not in module.read_text()


@each_module
def test_sql_is_printed_from_trees_by_one_module(module: Path) -> None:
    # it alone compares what it printed with the tree; printers of pglast change meanings
    printers = ("pglast.stream", "pglast.printers", "pglast.prettify", "pglast.parser.deparse_protobuf")
    used = [name for name in imports(module) if name.startswith(printers)]
    if module.name != "printing.py":
        used += [name for name in imports(module) if name.startswith("discreet.core.spelling.")]
    assert used == []
    assert not re.search(r"RawStream|IndentedStream|prettify|deparse_protobuf", module.read_text())


def test_no_module_imports_itself_through_others() -> None:
    """Not even by an import inside a function, or one for types only."""
    names = {dotted(module): module for module in MODULES}
    imported = {name: set(modules_of(names, module)) - {name} for name, module in names.items()}
    reached = {name: closure(imported, name) for name in names}
    assert {name for name in names if name in reached[name]} == set()


def dotted(module: Path) -> str:
    return ".".join(("discreet", *module.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def modules_of(names: Collection[str], module: Path) -> Iterator[str]:
    """The modules of the package that a module imports, wherever it does."""
    for name in imports(module):
        while name not in names and "." in name:
            name = name.rpartition(".")[0]
        if name in names:
            yield name


def closure(imported: Mapping[str, Collection[str]], start: str) -> set[str]:
    """All modules that importing one imports, in the end."""
    found, waiting = set[str](), [*imported[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imported[name]
    return found


@each_module
def test_every_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))


def test_what_is_unchecked_gets_its_name_in_one_module() -> None:
    """Nodes of pglast, JSON, values of SQL, mechanisms of OpenDP; arrays of numpy are not meant."""
    unchecked = {
        str(file.relative_to(PACKAGE))
        for file in MODULES
        if re.search(
            r"(?<!NDArray\[)\bAny\b(?!\")", re.sub(r"^from typing import .*$", "", file.read_text(), flags=re.M)
        )
    }
    assert unchecked == {"core/syntax.py"}


QUOTING = re.compile(r"""replace\('"', '""'\)|replace\("'", "''"\)""")


def test_names_and_texts_are_quoted_in_one_place() -> None:
    quoting = [str(file.relative_to(PACKAGE)) for file in MODULES if QUOTING.search(file.read_text())]
    assert quoting == ["core/quoting.py"]


@pytest.mark.parametrize("name", ["class Source", "class Progress", "def literal"])
def test_one_name_has_one_meaning(name: str) -> None:
    found = [file for file in MODULES if re.search(rf"^{name}\b", file.read_text(), re.MULTILINE)]
    assert len(found) == 1


def test_a_folder_of_the_package_has_the_name_of_a_feature() -> None:
    folders = {each.name for each in PACKAGE.iterdir() if each.is_dir() and each.name != "__pycache__"}
    assert folders <= ROOMS


def test_a_folder_of_tests_has_the_name_of_a_feature_or_of_what_it_watches() -> None:
    for kind in ("unit", "database"):
        folders = {each.name for each in (ROOT / "tests" / kind).iterdir() if each.is_dir()}
        assert folders <= ROOMS | {"architecture", "demo", "docs", "__pycache__"}


def test_what_every_call_imports_is_light() -> None:
    # importing these takes 50 to 200 ms in a fresh backend: whoever needs one imports it when it is used
    program = f"import sys, discreet.server.entry; print([name for name in {HEAVY} if name in sys.modules])"
    path = {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", program], env=path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
