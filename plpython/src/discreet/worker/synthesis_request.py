"""What discreet.synthesize was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from discreet.core.declarations import given, given_name
from discreet.core.errors import InvalidParameterError
from discreet.synthesis.columns import parsed_dependencies
from discreet.synthesis.plan import MOST_TABLES

MOST_MODEL_MB = 64
MOST_RESULT = 20_000_000


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    relations: tuple[str, ...]
    releases: tuple[str, ...]
    epsilon: Decimal
    delta: Decimal | None
    columns: tuple[str, ...] | None
    rows: int | None
    target: str | None
    dependencies: Mapping[str, str]
    most_mb: float

    @classmethod
    def of(
        cls,
        relations: Sequence[str | None] | None,
        releases: Sequence[str | None] | None,
        epsilon: Decimal | None,
        delta: Decimal | None,
        columns: Sequence[str | None] | None,
        rows: int | None,
        target: str | None,
        dependencies: Sequence[str] | None,
        max_model_mb: Decimal | None,
    ) -> Request:
        sources = [given("relations", each) for each in given("relations", relations)]
        targets = [given_name("releases", each) for each in given("releases", releases)]
        if not 1 <= len(sources) <= MOST_TABLES or len(set(sources)) < len(sources):
            raise InvalidParameterError(
                f"relations must name from 1 to {MOST_TABLES} tables, each once", "Name the table of the people first."
            )
        if len(targets) != len(sources):
            raise InvalidParameterError(
                f"{len(sources)} relations have {len(targets)} releases", "Name a release for each relation."
            )
        if rows is not None and not 1 <= rows <= MOST_RESULT:
            raise InvalidParameterError(f"rows is {rows}", f"Give a number from 1 to {MOST_RESULT:,}.")
        size = given("max_model_mb", max_model_mb)
        if not size.is_finite() or not Decimal("0.01") <= size <= MOST_MODEL_MB:
            raise InvalidParameterError(f"max_model_mb is {size}", f"Give a number from 0.01 to {MOST_MODEL_MB}.")
        named = None if columns is None else tuple(given("columns", each) for each in columns)
        return cls(
            tuple(sources), tuple(targets), given("epsilon", epsilon), delta, named, rows, target,
            parsed_dependencies(dependencies), float(size),
        )  # fmt: skip

    def text(self) -> str:
        """As the log of charges shows it."""
        shown = ", ".join(f"{source} as {target}" for source, target in zip(self.relations, self.releases, strict=True))
        return f"discreet.synthesize: {shown}"
