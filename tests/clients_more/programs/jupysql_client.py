"""JupySQL: magics in IPython, saved snippets, plots."""

import os

import matplotlib

matplotlib.use("Agg")
from IPython.core.interactiveshell import InteractiveShell
from phases import play

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sql")
shell.run_line_magic("config", "SqlMagic.displaycon = False")
where = f"host={os.environ['PGHOST']}&port={os.environ['PGPORT']}"
shell.run_line_magic("sql", f"postgresql+psycopg://{os.environ['PGUSER']}@/store?{where}")


def cell(text: str, options: str = "") -> str:
    return str(shell.run_cell_magic("sql", options, text))


def line(magic: str, text: str) -> str:
    return str(shell.run_line_magic(magic, text))


play(
    look={
        "tables": lambda: line("sqlcmd", "tables --schema store"),
        "columns": lambda: line("sqlcmd", "columns --table customer --schema store"),
        "saved": lambda: cell("SELECT * FROM store.customer", "--save people --no-execute"),
    },
    ask={
        "groups": lambda: cell("SELECT city, count(*) AS n FROM store.customer GROUP BY city ORDER BY city"),
        "snippet": lambda: (
            cell("SELECT * FROM store.customer", "--save people --no-execute"),
            cell("SELECT segment, count(*) FROM people GROUP BY 1", "--with people"),
        ),
        "bars": lambda: line("sqlplot", "bar --table store.customer --column city"),
        "histogram": lambda: line("sqlplot", "histogram --table store.customer --column rating --bins 5"),
    },
    rows={
        "%sqlcmd profile": lambda: line("sqlcmd", "profile --table customer --schema store"),
        "%sqlcmd explore": lambda: line("sqlcmd", "explore --table store.customer"),
    },
)
