"""The SQL of the tree looks as the style asks: found by feature, commented, explicit about what it may do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pglast import ast as sql_ast
from pglast import enums, parse_sql
from pglast.parser import scan

from discreet.core.spelling import spelled
from discreet.worker.entry import ENTRIES

ROOT = Path(__file__).resolve().parents[3]
SQL = ROOT / "sql"
FEATURES = {
    "core", "adopt", "budget", "dp", "gate", "personal", "audited", "local", "mls", "rules", "release", "synthesis",
    "sealed", "ops",
}  # fmt: skip
FILES = sorted(SQL.rglob("*.sql"))

# in this order, each on its own line
ATTRIBUTES = [
    "language", "transform", "window", "volatility", "leakproof", "strict", "parallel", "security", "cost",
    "rows", "support", "set", "as",
]  # fmt: skip
STEP = "discreet._worker_step"
THIN_BODY = re.compile(
    r"\A\n    # @PYTHON_PATH@\n    from discreet\.server import (\w+)\n"
    r"    return (\1\.\w+)\(plpy\b[^;]*\)\n\Z"
)
# these read the asker's search_path, in which names of the question have their meaning, and then pin their own
ASKERS_SEARCH_PATH = {
    "discreet." + name
    for name in (
        "query",
        "query_json",
        "ask",
        "explain",
        "_error_types",
        "explain_text",
        "lint",
        "create_view",
        "_answer_columns",
        "_check_questions",
        "synthesize",
    )
}
# written in lower case, as functions and values are
LIKE_NAMES = {"current_user", "session_user", "current_timestamp", "true", "false", "on"}


@dataclass(frozen=True)
class Statement:
    """A statement of a file under sql/."""

    file: Path
    source: bytes
    node: sql_ast.Node

    def line_of(self, location: int) -> int:
        return self.source[:location].count(b"\n") + 1


def statements() -> Iterator[Statement]:
    for file in FILES:
        source = file.read_bytes()
        for raw in parse_sql(source.decode()):
            yield Statement(file, source, raw.stmt)


STATEMENTS = list(statements())
GATE = "".join(file.read_text() for file in FILES if file.parent.name == "gate")


def printed(names: tuple[sql_ast.String, ...]) -> str:
    return ".".join(name.sval for name in names)


def types(arguments: tuple[sql_ast.TypeName, ...] | None) -> str:
    return ", ".join(spelled(argument) for argument in arguments or ())


@dataclass(frozen=True)
class Function:
    name: str
    signature: str
    statement: Statement

    def attributes(self) -> dict[str, sql_ast.DefElem]:
        return {option.defname: option for option in self.statement.node.options}

    @property
    def language(self) -> str:
        return str(self.attributes()["language"].arg.sval)

    @property
    def is_expression(self) -> bool:
        """Written as RETURN …: its names are looked up once, when it is created, and not in anybody's search_path."""
        return self.statement.node.sql_body is not None

    @property
    def body(self) -> str:
        return "" if self.is_expression else str(self.attributes()["as"].arg[0].sval)


INPUTS = {
    enums.FunctionParameterMode.FUNC_PARAM_DEFAULT,
    enums.FunctionParameterMode.FUNC_PARAM_IN,
    enums.FunctionParameterMode.FUNC_PARAM_INOUT,
    enums.FunctionParameterMode.FUNC_PARAM_VARIADIC,
}


def functions() -> Iterator[Function]:
    for statement in STATEMENTS:
        node = statement.node
        if isinstance(node, sql_ast.CreateFunctionStmt):
            inputs = tuple(each.argType for each in node.parameters or () if each.mode in INPUTS)
            yield Function(printed(node.funcname), f"{printed(node.funcname)}({types(inputs)})", statement)


FUNCTIONS = list(functions())
each_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.signature)


def commented(kind: enums.ObjectType) -> set[str]:
    found = set()
    for statement in STATEMENTS:
        node = statement.node
        if isinstance(node, sql_ast.CommentStmt) and node.objtype == kind and node.comment:
            target = node.object
            if isinstance(target, sql_ast.ObjectWithArgs):
                found.add(f"{printed(target.objname)}({types(target.objargs)})")
            else:
                found.add(target.sval if isinstance(target, sql_ast.String) else printed(target))
    return found


def test_the_files_of_sql_are_listed_once_and_in_order_of_the_parts() -> None:
    lines = (SQL / "parts").read_text().splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    assert sorted(listed) == [str(file.relative_to(SQL)) for file in FILES]
    assert listed[-1] == "privileges.sql"


def test_sql_lies_in_the_folder_of_its_feature() -> None:
    for file in SQL.rglob("*"):
        if file.is_dir():
            assert file.parent == SQL
            assert file.name in FEATURES
        else:
            assert file.suffix == ".sql" or file in (
                SQL / "parts",
                SQL / "gate" / "settings",
                SQL / "release" / "formats",
            )
            assert file.parent != SQL or file.name in ("parts", "privileges.sql")


def test_every_grant_is_in_one_file() -> None:
    grants = (sql_ast.GrantStmt, sql_ast.GrantRoleStmt, sql_ast.AlterDefaultPrivilegesStmt)
    assert {each.file.name for each in STATEMENTS if isinstance(each.node, grants)} == {"privileges.sql"}


def test_nothing_is_created_only_if_it_does_not_exist() -> None:
    # whoever planted it before would own it
    for statement in STATEMENTS:
        assert not getattr(statement.node, "if_not_exists", False), statement.file


def test_every_object_is_made_in_schema_discreet() -> None:
    for function in FUNCTIONS:
        assert function.name.startswith("discreet.")
    for statement in STATEMENTS:
        node = statement.node
        relation = getattr(node, "relation", None) or getattr(node, "view", None)
        if isinstance(node, sql_ast.CreateStmt | sql_ast.ViewStmt | sql_ast.IndexStmt):
            assert relation.schemaname == "discreet", statement.file  # type: ignore[union-attr]


@each_function
def test_every_function_has_a_comment(function: Function) -> None:
    assert function.signature in commented(enums.ObjectType.OBJECT_FUNCTION)


def test_every_aggregate_has_a_comment() -> None:
    aggregates = set()
    for statement in STATEMENTS:
        node = statement.node
        if isinstance(node, sql_ast.DefineStmt) and node.kind == enums.ObjectType.OBJECT_AGGREGATE:
            inputs = tuple(each.argType for each in node.args[0] or ())
            aggregates.add(f"{printed(node.defnames)}({types(inputs)})")
    assert aggregates <= commented(enums.ObjectType.OBJECT_AGGREGATE)


def test_every_table_view_language_role_and_schema_has_a_comment() -> None:
    made: dict[enums.ObjectType, set[str]] = {}
    for statement in STATEMENTS:
        node = statement.node
        if isinstance(node, sql_ast.CreateStmt):
            made.setdefault(enums.ObjectType.OBJECT_TABLE, set()).add(f"discreet.{node.relation.relname}")
        elif isinstance(node, sql_ast.ViewStmt):
            made.setdefault(enums.ObjectType.OBJECT_VIEW, set()).add(f"discreet.{node.view.relname}")
        elif isinstance(node, sql_ast.CreatePLangStmt):
            made.setdefault(enums.ObjectType.OBJECT_LANGUAGE, set()).add(node.plname)
        elif isinstance(node, sql_ast.CreateSchemaStmt):
            made.setdefault(enums.ObjectType.OBJECT_SCHEMA, set()).add(node.schemaname)
    roles = set(re.findall(r"'(discreet_\w+)'", (SQL / "core" / "schema.sql").read_text()))
    made[enums.ObjectType.OBJECT_ROLE] = roles - {
        "discreet_call_handler",
        "discreet_worker_call_handler",
        "discreet_caller",
    }
    for kind, names in made.items():
        assert names == commented(kind)


@each_function
def test_every_function_says_what_it_depends_on_and_where_it_may_run(function: Function) -> None:
    attributes = function.attributes()
    wanted = (
        {"language", "volatility", "parallel"}
        if function.is_expression
        else {"language", "volatility", "parallel", "as"}
    )
    if function.is_expression:
        assert "set" not in attributes, "PostgreSQL would not write it into the query"
    elif function.language != "c":
        wanted |= {"security"} if function.name in ASKERS_SEARCH_PATH else {"security", "set"}
    assert wanted <= set(attributes)
    if "set" in attributes:
        settings = [option.arg for option in function.statement.node.options if option.defname == "set"]
        paths = [[each.val.sval for each in setting.args] for setting in settings if setting.name == "search_path"]
        assert paths == ([] if function.name in ASKERS_SEARCH_PATH else [["pg_catalog", "pg_temp"]])


@each_function
def test_attributes_come_in_one_order_each_on_its_line(function: Function) -> None:
    options = function.statement.node.options
    names = [option.defname for option in options]
    assert names == sorted(names, key=ATTRIBUTES.index)
    lines = [function.statement.line_of(option.location) for option in options]
    assert lines == sorted(set(lines))


@each_function
def test_queries_of_the_catalog_are_not_compiled(function: Function) -> None:
    """JIT takes seconds for those that look large to the planner, and no cancel ends it. Releases read large tables."""
    if function.language != "discreet_python" or function.statement.file.parent.name == "release":
        return
    pinned = {option.arg.name for option in function.statement.node.options if option.defname == "set"}
    assert "jit" in pinned or function.attributes()["volatility"].arg.sval == "immutable"


@each_function
def test_whoever_acts_for_the_owner_is_volatile_or_reads_only_the_catalog(function: Function) -> None:
    attributes = function.attributes()
    if (
        function.language in ("discreet_python", "discreet_worker")
        and attributes.get("security")
        and attributes["security"].arg.boolval
    ):
        assert attributes["volatility"].arg.sval == "volatile"
        assert attributes["parallel"].arg.sval == "unsafe"


def test_bodies_of_python_functions_are_thin_and_call_an_entry_that_exists() -> None:
    decorated = {
        f"{module.stem}.{each.name}"
        for module in (ROOT / "plpython" / "src" / "discreet" / "server").glob("*.py")
        for each in ast.parse(module.read_text()).body
        if isinstance(each, ast.FunctionDef) and [ast.unparse(way) for way in each.decorator_list] == ["sql_errors"]
    }
    called = set()
    for function in FUNCTIONS:
        if "python" in function.language and function.name != STEP:
            body = THIN_BODY.match(function.body)
            assert body, f"{function.signature} is more than a call"
            assert function.body.count("\n") <= 7
            called.add(body[2])
    assert called == decorated


def test_python_functions_are_in_the_language_that_hides_tracebacks() -> None:
    """But for the step of a gate worker, which no user calls, and whose messages are of any size."""
    assert [function.name for function in FUNCTIONS if function.language.startswith("plpython")] == [STEP]


def test_functions_of_the_gate_worker_name_an_entry_that_exists() -> None:
    bodies = [function.body for function in FUNCTIONS if function.language == "discreet_worker"]
    assert sorted(bodies) == sorted(ENTRIES)


def test_a_function_without_underscore_is_for_somebody() -> None:
    granted = (SQL / "privileges.sql").read_text()
    for function in FUNCTIONS:
        short = function.name.removeprefix("discreet.")
        if not short.startswith("_"):
            assert f"{function.name}(" in granted, f"{function.signature} is public, but nobody may call it"


def keywords(text: str) -> Iterator[str]:
    for token in scan(text):
        if token.kind == "RESERVED_KEYWORD":
            yield text.encode()[token.start : token.end + 1].decode()


def test_keywords_are_in_upper_case() -> None:
    for file in FILES:
        assert not [word for word in keywords(file.read_text()) if word.islower() and word not in LIKE_NAMES], file
    for function in FUNCTIONS:
        if function.language == "sql":
            words = keywords(function.body)
            assert not [word for word in words if word.islower() and word not in LIKE_NAMES], function.signature


def test_every_function_of_the_gate_pins_the_settings() -> None:
    """One that does not would be a way round the others."""
    marked = re.findall(r"FUNCTION discreet\.(\w+)\((?:(?!FUNCTION).)*?/\* @PINNED_SETTINGS@ \*/", GATE, re.DOTALL)
    entering = re.findall(
        r"FUNCTION discreet\.(\w+)\((?:(?!FUNCTION).)*?LANGUAGE discreet_(?:python|worker)", GATE, re.DOTALL
    )
    assert sorted(marked) == sorted(name for name in entering if name != "exempt_view")  # which declares, asks nothing
    assert {"query", "query_json", "ask", "suggest_bounds"} <= set(marked)


def test_the_pinned_settings_are_settings() -> None:
    for file, one in (("gate/settings", "SET track_counts = off"), ("release/formats", "SET extra_float_digits = 3")):
        lines = (SQL / file).read_text().splitlines()
        assert all(re.fullmatch(r"SET [\w.]+ = \S.*", line) for line in lines)
        assert one in lines


def test_whatever_reads_texts_of_values_for_a_release_pins_how_they_are_written() -> None:
    """A class, or a key, that looked different in another session would be another one."""
    text = "".join(file.read_text() for file in FILES if file.parent.name == "release")
    found = re.findall(r"FUNCTION discreet\.(\w+)\((?:(?!FUNCTION).)*?/\* @PINNED_FORMATS@ \*/", text, re.DOTALL)
    assert set(found) == {
        "anonymize", "create_release_view", "best_ranges", "k_anonymity", "l_diversity", "t_closeness", "measure",
        "disclosure_risk", "suppress", "audit_cells", "controlled_round",
    }  # fmt: skip


TREES = (
    "indexprs|indpred|conbin|adbin|ev_action|ev_qual|prosqlbody|proargdefaults|typdefaultbin|tgqual|polqual|partexprs"
)


@pytest.mark.parametrize(
    "file", [*FILES, *sorted((ROOT / "plpython" / "src").rglob("*.py"))], ids=lambda file: file.name
)
def test_a_tree_of_the_catalogs_is_not_read_as_text(file: Path) -> None:
    """extension/core_trees.c reads them, by PostgreSQL's own reader of nodes."""
    text = file.read_text()
    assert not re.search(rf"\b({TREES})\s*::\s*(pg_catalog\.)?text\b|concat_ws\([^)]*\b({TREES})\b", text)
    assert not re.search(r":(varattno|varno|funcid|opno|relid|setOperations|aggfnoid|winfnoid)\b", text)
