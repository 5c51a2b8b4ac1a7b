"""The SQLSTATEs of discreet: what each means and what to do. Lint, report and docs/reference.md tell it from here.

`CODES` are discreet's own, of class DP; `STANDARD` are those of PostgreSQL that its errors have.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """A refusal as every client sees it: the SQLSTATE of the error, whatever its message says."""

    sqlstate: str
    meaning: str
    what_to_do: str


TOUCHED_DATA = Code(
    "DP000",
    "an error after the data was touched",
    "The reason is in the server's log only, since it could depend on the data. What the question costs is paid.",
)
REFUSED_SHAPE = Code(
    "DP001",
    "a shape that cannot be answered privately",
    "The refusal names the construct: ask without it.",
)
TRACKER = Code(
    "DP002",
    "a question that singles out a person",
    "Leave out the column that names people, or one of those that are unique together.",
)
EXHAUSTED = Code(
    "DP003",
    "the budget is exhausted",
    "Ask for less, or a curator for more: discreet.budget_status shows what is left.",
)
NO_ACCESS = Code(
    "DP004",
    "no budget, or no right to read the table",
    "A curator can give a budget with discreet.grant_budget(); dp_ aggregates want SELECT on the table.",
)
MISSING_BOUNDS = Code(
    "DP005",
    "bounds are missing",
    "A curator declares them with discreet.describe_column().",
)
AUDIT_DENIAL = Code(
    "DP006",
    "an exact answer would disclose a person",
    "Ask about more people, or about the same as before: discreet.explain() tells beforehand.",
)
LEDGER_UNREACHABLE = Code(
    "DP007",
    "the ledger cannot be reached",
    "No charge, no answer: try again. discreet.check_installation() says what is wrong.",
)
UNSAFE_RELEASE = Code(
    "DP008",
    "a release that gives people away",
    "Nothing is published. Publish with the same levels as before, or fewer columns.",
)

CODES = {
    code.sqlstate: code
    for code in (
        TOUCHED_DATA,
        REFUSED_SHAPE,
        TRACKER,
        EXHAUSTED,
        NO_ACCESS,
        MISSING_BOUNDS,
        AUDIT_DENIAL,
        LEDGER_UNREACHABLE,
        UNSAFE_RELEASE,
    )
}

STANDARD = {
    "22023": "invalid_parameter_value",
    "23514": "check_violation",
    "42501": "insufficient_privilege",
    "42703": "undefined_column",
    "42704": "undefined_object",
    "42710": "duplicate_object",
    "42809": "wrong_object_type",
    "42P03": "duplicate_cursor",
    "42P17": "invalid_object_definition",
    "54000": "program_limit_exceeded",
}
