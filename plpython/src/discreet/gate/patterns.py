"""Regular expressions that are bounded in time, whatever the text is.

PostgreSQL compiles a pattern to an automaton, which looks at each character of a text once; but back references,
lookaround and repetition within repetition make it try ways that multiply with each character. Such patterns are
refused, so what is left takes at most a polynomial of the length of the text, which is cut. Whether PostgreSQL
understands a pattern is tried before anything is charged (worker/noisy.py).
"""

from __future__ import annotations

import re

from discreet.gate.refusal import refuse

LONGEST_PATTERN = 200
MOST_REPETITIONS = 100
# bytes of a text that a match looks at, and that is searched for the place of a match
LONGEST_MATCHED = 10_000
LONGEST_SEARCHED = 1_000

TIMES = re.compile(r"\{(\d{1,3})(?:(,)(\d{1,3})?)?\}\??|[*+?]\??")
CLASS = re.compile(r"\[\^?\]?(?:\[[:.=][^\]]*[:.=]\]|\\.|[^\]\\])*\]", re.DOTALL)
ANCHORS = re.compile(r"\\.|\[\^?\]?(?:\[[:.=][^\]]*[:.=]\]|\\.|[^\]\\])*\]", re.DOTALL)


def refuse_slow(pattern: str, node: object) -> None:
    """Refuses a pattern that is not known to be matched in bounded time."""
    if len(pattern) > LONGEST_PATTERN:
        refuse(f"a pattern of more than {LONGEST_PATTERN} characters", node)
    if pattern.startswith("***"):
        refuse("a pattern with a director such as ***=", node)
    # for each group that is open, and the whole: whether something in it is repeated
    repeats = [False]
    place, after_group, repeats_inside = 0, False, False
    while place < len(pattern):
        times = TIMES.match(pattern, place)
        if times is not None:
            if most_times(times, node) > 1:
                if after_group and repeats_inside:
                    refuse("a pattern that repeats what is repeated", node, "Write it without (…*)*.")
                repeats[-1] = True
            place, after_group = times.end(), False
            continue
        after_group = False
        letter = pattern[place]
        if letter == "{":
            refuse("a pattern with a { that is no number of times", node)
        if letter == "\\":
            if place + 1 == len(pattern) or pattern[place + 1].isdigit():
                refuse("a pattern with a back reference", node)
            place += 2
        elif letter == "[":
            found = CLASS.match(pattern, place)
            if found is None:
                refuse("a pattern with a [ that does not end", node)
            place = found.end()
        elif letter == "(":
            if pattern.startswith("(?", place) and not pattern.startswith("(?:", place):
                refuse("a pattern with lookaround or options", node)
            repeats.append(False)
            place += 3 if pattern.startswith("(?:", place) else 1
        elif letter == ")":
            if len(repeats) == 1:
                refuse("a pattern with a ) that closes nothing", node)
            repeats_inside = repeats.pop()
            repeats[-1] |= repeats_inside
            place, after_group = place + 1, True
        else:
            place += 1
    if len(repeats) > 1:
        refuse("a pattern with a ( that is not closed", node)


def most_times(times: re.Match[str], node: object) -> float:
    text = times[0]
    if not text.startswith("{"):
        return 1 if text[0] == "?" else float("inf")
    low, comma, high = times.groups()
    most = int(high or low)
    if most > MOST_REPETITIONS or (high and int(low) > int(high)):
        refuse(f"a pattern with more than {MOST_REPETITIONS} repetitions", node)
    return float("inf") if comma and not high else most


def is_whole_text(pattern: str) -> bool:
    """Whether it may mean the text from its beginning to its end, and so a value: ^7$."""
    plain = ANCHORS.sub(lambda found: "^" if found[0] == r"\A" else "$" if found[0] == r"\Z" else "", pattern)
    return "^" in plain and "$" in plain
