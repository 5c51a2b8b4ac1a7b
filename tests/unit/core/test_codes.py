"""Every SQLSTATE of class DP has one meaning, in one place, and is one that something raises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import psycopg
from dev.cluster import ROOT

import discreet
from discreet.core import errors
from discreet.core.codes import CODES, STANDARD
from discreet.ops.page import MOST_LETTERS

LITERAL = re.compile(r"\bDP0\w\w\b")
IN_C = re.compile(r"MAKE_SQLSTATE\('D', 'P', '(\w)', '(\w)', '(\w)'\)")
SOURCES = [file for part in ("sql", "extension", "plpython/src") for file in (ROOT / part).rglob("*")]


def named(file: Path) -> set[str]:
    """The codes that a file names, whether it raises them or tells of them."""
    text = file.read_text() if file.suffix in {".sql", ".c", ".h", ".py"} else ""
    return set(LITERAL.findall(text)) | {"DP" + "".join(digits) for digits in IN_C.findall(text)}


def subclasses(kind: type[errors.DiscreetError]) -> Iterator[type[errors.DiscreetError]]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def error_classes() -> list[type[errors.DiscreetError]]:
    """Those of all modules of the package; what only a server has, plpy, none of them imports."""
    for module in walk_packages(discreet.__path__, "discreet."):
        import_module(module.name)
    return list(subclasses(errors.DiscreetError))


def test_every_error_has_a_name_of_its_own_and_a_code_of_the_list() -> None:
    classes = error_classes()
    assert len(classes) > 15
    names = Counter(each.__name__ for each in classes)
    assert [name for name, times in names.items() if times > 1] == []
    assert {each.__name__: each.sqlstate for each in classes if each.sqlstate not in {*CODES, *STANDARD}} == {}
    assert not hasattr(errors.DiscreetError, "sqlstate")


def test_every_code_belongs_to_one_class() -> None:
    own = Counter(each.sqlstate for each in error_classes() if "sqlstate" in vars(each))
    assert [code for code, times in own.items() if times > 1] == []
    assert set(STANDARD) <= set(own)


def test_standard_codes_have_the_names_that_postgresql_gives_them() -> None:
    for code, name in STANDARD.items():
        known = psycopg.errors.lookup(code).__name__
        assert known.lower() == name.replace("_", "")


def test_the_reference_lists_just_these_codes() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    rows = re.findall(r"^\| `(DP0\w\w)` \|", page, re.MULTILINE)
    assert list(dict.fromkeys(rows)) == list(CODES)


def test_every_code_that_is_named_has_a_meaning() -> None:
    strangers = {str(file.relative_to(ROOT)): named(file) - set(CODES) for file in SOURCES}
    assert {file: codes for file, codes in strangers.items() if codes} == {}


def test_every_code_is_raised_somewhere() -> None:
    by_python = {kind.sqlstate for kind in subclasses(errors.DiscreetError) if kind.sqlstate.startswith("DP")}
    elsewhere = [file for file in SOURCES if file.suffix != ".py"]
    assert by_python | set().union(*(named(file) for file in elsewhere)) == set(CODES)


def test_python_names_a_code_in_the_table_or_in_a_message_only() -> None:
    assigned = re.compile(r"=\s*[\"']DP0|[\"']DP0\w\w[\"']")
    found = {file.name for file in SOURCES if file.suffix == ".py" and assigned.search(file.read_text())}
    assert found == {"codes.py"}


def test_codes_are_in_order_and_say_what_and_what_to_do() -> None:
    assert list(CODES) == sorted(CODES)
    for code in CODES.values():
        assert code.what_to_do.endswith(".")
        assert "|" not in code.meaning + code.what_to_do
        # the report shows both in a line
        assert len(f"{code.sqlstate}  {code.meaning}") <= MOST_LETTERS
