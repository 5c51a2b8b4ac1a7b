"""Names and texts as SQL, in the one way that has one meaning whatever the settings are. Imports nothing heavy."""

from __future__ import annotations


def identifier(name: str) -> str:
    """Always in quotes: no keyword, and no upper case, is a special case."""
    return '"' + name.replace('"', '""') + '"'


def element(text: str) -> str:
    """An element within the text of an array, and a name within the text of a label."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def literal(text: str) -> str:
    """Of one meaning, whatever standard_conforming_strings is."""
    quoted = "'" + text.replace("'", "''") + "'"
    return "E" + quoted.replace("\\", "\\\\") if "\\" in text else quoted
