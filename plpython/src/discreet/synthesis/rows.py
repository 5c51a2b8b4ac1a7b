"""Rows of a synthetic table as PostgreSQL reads them: a text of an array for each column.

Codes come from the model; what they are written as was told beforehand, from declarations and released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from discreet.core.quoting import element
from discreet.core.syntax import Json
from discreet.synthesis.model import Codes

Numbers = npt.NDArray[np.int64]
# texts of one column, for the codes of its attribute and the numbers of the rows' keys
Column = Callable[[Codes | None, Numbers], list[str]]

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
# of numbers with a fraction; doubles hold about as many
MOST_PLACES = 15


def array(texts: Sequence[str]) -> str:
    return "{" + ",".join(texts) + "}"


def column(told: Mapping[str, Json], random: np.random.Generator) -> Column:
    """How a column is written, of which columns.as_json() has told."""
    return WRITERS[told["kind"]](told, random)


def _category(told: Mapping[str, Json], random: np.random.Generator) -> Column:
    texts = [element(text) for text in told["texts"]] + (["NULL"] if told["null"] else [])

    def written(codes: Codes | None, numbers: Numbers) -> list[str]:
        assert codes is not None
        return [texts[code] for code in codes.tolist()]

    return written


def _dependent(told: Mapping[str, Json], random: np.random.Generator) -> Column:
    """`of`: the code of each code of the column that it follows from."""
    texts = [element(text) for text in told["texts"]] + (["NULL"] if told["null"] else [])
    mapped = [texts[code] for code in told["of"]]

    def written(codes: Codes | None, numbers: Numbers) -> list[str]:
        assert codes is not None
        return [mapped[code] for code in codes.tolist()]

    return written


def _number(told: Mapping[str, Json], random: np.random.Generator) -> Column:
    bins = np.array(told["bins"])
    weights = np.array(told["weights"])
    coarse = int(bins[-1]) + 1
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    firsts = np.searchsorted(bins, np.arange(coarse))
    lasts = np.searchsorted(bins, np.arange(coarse), side="right")
    width = (told["upper"] - told["lower"]) / len(bins)
    text = FAMILIES[told["family"]](told, width)

    def written(codes: Codes | None, numbers: Numbers) -> list[str]:
        assert codes is not None
        known = np.minimum(codes, coarse - 1)
        low, high = ends[firsts[known]], ends[lasts[known]]
        fine = np.searchsorted(ends, low + random.random(len(codes)) * (high - low), side="right") - 1
        fine = np.clip(fine, firsts[known], lasts[known] - 1)
        values = told["lower"] + (fine + random.random(len(codes))) * width
        texts = text(values)
        for place in np.flatnonzero(codes >= coarse).tolist():
            texts[place] = "NULL"
        return texts

    return written


def _whole(told: Mapping[str, Json]) -> Callable[[npt.NDArray[np.float64]], Numbers]:
    """The nearest whole number, of those between the bounds, which lie half a step outside."""
    lower, upper = round(told["lower"] + 0.5), round(told["upper"] - 0.5)
    return lambda values: np.clip(np.rint(values), lower, upper).astype(np.int64)


def _integers(told: Mapping[str, Json], width: float) -> Callable[[npt.NDArray[np.float64]], list[str]]:
    whole = _whole(told)
    return lambda values: list(map(str, whole(values).tolist()))


def _dates(told: Mapping[str, Json], width: float) -> Callable[[npt.NDArray[np.float64]], list[str]]:
    whole = _whole(told)
    return lambda values: np.datetime_as_string(whole(values).astype("datetime64[D]")).tolist()


def _timestamps(told: Mapping[str, Json], width: float) -> Callable[[npt.NDArray[np.float64]], list[str]]:
    zone = "+00" if told["family"] == "timestamptz" else ""
    first, last = math.ceil(told["lower"]), math.floor(told["upper"])

    def text(values: npt.NDArray[np.float64]) -> list[str]:
        seconds = np.clip(np.floor(values), first, max(first, last)).astype(np.int64).astype("datetime64[s]")
        return [f'"{moment}{zone}"' for moment in np.datetime_as_string(seconds).tolist()]

    return text


def _decimals(told: Mapping[str, Json], width: float) -> Callable[[npt.NDArray[np.float64]], list[str]]:
    places = told["scale"]
    if places is None:
        places = max(0, 2 - math.floor(math.log10(width))) if width > 0 else 6
    places = min(places, MOST_PLACES)
    scale = 10.0**places
    first, last = math.ceil(told["lower"] * scale) / scale, math.floor(told["upper"] * scale) / scale

    def text(values: npt.NDArray[np.float64]) -> list[str]:
        clipped = np.clip(np.round(values, places), first, max(first, last))
        return [f"{value:.{max(places, 0)}f}" for value in clipped.tolist()]

    return text


def _filler(told: Mapping[str, Json], random: np.random.Generator) -> Column:
    before, after, length = told["before"], told["after"], told["length"]

    def one(number: int) -> str:
        text = f"{before}{number}{after}"
        return text if length is None or len(text) <= length else in_letters(number)[-length:]

    return lambda codes, numbers: [element(one(number)) for number in numbers.tolist()]


def _key(told: Mapping[str, Json], random: np.random.Generator) -> Column:
    if told["type"] == "uuid":
        return lambda codes, numbers: [f"00000000-0000-4000-8000-{number:012x}" for number in numbers.tolist()]
    return lambda codes, numbers: list(map(str, numbers.tolist()))


def in_letters(number: int) -> str:
    text = ""
    while number or not text:
        number, digit = divmod(number, len(DIGITS))
        text = DIGITS[digit] + text
    return text


WRITERS: Mapping[str, Callable[[Mapping[str, Json], np.random.Generator], Column]] = {
    "category": _category,
    "dependent": _dependent,
    "number": _number,
    "filler": _filler,
    "key": _key,
}
FAMILIES: Mapping[str, Callable[[Mapping[str, Json], float], Callable[[npt.NDArray[np.float64]], list[str]]]] = {
    "int": _integers,
    "date": _dates,
    "timestamp": _timestamps,
    "timestamptz": _timestamps,
    "numeric": _decimals,
    "float": _decimals,
}
