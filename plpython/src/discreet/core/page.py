"""What pages have in common: one HTML document that needs nothing but itself, with plots as inline SVG.

Texts are escaped here, so that no name can be read as markup. Colours are classes, for a light screen and a dark one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c2530;--soft:#5b6775;--main:#2f6f9f;--other:#b9c4cf;--warn:#c9632c;
--rest:#e9edf1}
@media (prefers-color-scheme:dark){:root{--paper:#12171d;--ink:#e6ebf0;--soft:#9aa7b4;--main:#5aa5dc;--other:#5c6976;
--warn:#e98a54;--rest:#26303a}}
body{font:15px/1.5 system-ui,sans-serif;max-width:640px;margin:2em auto;padding:0 1em;color:var(--ink);
background:var(--paper)}
h1{font-size:1.5em;margin:0}h2{font-size:1.1em;margin:2em 0 .3em}p{margin:.3em 0}
.facts{display:flex;gap:1.2em;margin:1em 0;flex-wrap:wrap}
.facts div{border-left:3px solid var(--main);padding-left:.6em}
.facts b{display:block;font-size:1.4em}.note{color:var(--soft)}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg{display:block}svg .main{fill:var(--main)}svg .other{fill:var(--other)}svg .warn{fill:var(--warn)}
svg .rest{fill:var(--rest)}svg .mark{stroke:var(--warn);stroke-dasharray:4 3;fill:none}svg text.soft{fill:var(--soft)}
"""


def document(title: str, parts: Iterable[str], style: str = "") -> str:
    """A whole page; `parts` are markup, `style` comes after that of all pages."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}{style}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def heading(words: str, level: int = 2) -> str:
    return f"<h{level}>{escape(words)}</h{level}>"


def paragraph(words: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(words)}</p>' if kind else f"<p>{escape(words)}</p>"


def facts(named: Iterable[tuple[str, str]]) -> str:
    """Numbers in a row, each above its name."""
    return (
        '<div class="facts">'
        + "".join(f"<div><b>{escape(value)}</b>{escape(name)}</div>" for name, value in named)
        + "</div>"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """The columns at the places `numbers` are set to the right."""
    kinds = [' class="number"' if place in numbers else "" for place in range(len(head))]

    def line(tag: str, cells: Sequence[str]) -> str:
        inside = (f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return "<tr>" + "".join(inside) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"


def svg(width: float, height: float, inside: Iterable[str], told: str) -> str:
    """`told`: what the picture shows, for who does not see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img"'
        f' aria-label="{escape(told)}" width="100%">' + "".join(inside) + "</svg>"
    )


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of_kind}>{escape(words)}</text>'


def bar(x: float, y: float, width: float, height: float, kind: str, told: str = "") -> str:
    title = f"<title>{escape(told)}</title>" if told else ""
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">{title}</rect>'


def path(way: str, kind: str) -> str:
    return f'<path class="{kind}" d="{way}"/>'


def shortened(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def percent(share: float) -> str:
    return f"{short(100 * share)} %"


def short(number: float) -> str:
    """Three digits of a number, written out: 0.0123, 12.3, 12,300."""
    return f"{float(f'{number:.3g}'):,.0f}" if abs(number) >= 100 else f"{number:.3g}"
