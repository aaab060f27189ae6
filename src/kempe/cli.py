"""The command line: ``kempe validate``, ``kempe bench``.

Exit codes: 0 all well, 1 a value is outside its tolerance, 2 the command was not understood.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from kempe.errors import KempeError

app = typer.Typer(help="Dynamic analysis and design of constrained mechanical systems.", no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of a table.")]


@app.callback()
def _main() -> None:
    """Dynamic analysis and design of constrained mechanical systems."""


@app.command()
def validate(
    cases: Annotated[list[str] | None, typer.Argument(help="Names of published cases; all when none is given.")] = None,
    as_json: _Json = False,
    every: Annotated[bool, typer.Option("--all", help="Show every row, not only failures and a summary.")] = False,
) -> None:
    """Reproduce published cases: what was printed, what is true, what is computed now."""
    from kempe import validation

    try:
        rows = validation.validate(cases or ())
    except KempeError as error:
        _stop(str(error))
    failed = [row for row in rows if not row.ok]
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in rows], indent=1))
    else:
        shown = rows if every or cases else failed
        _table(
            "Published cases",
            ["quantity", "printed", "truth", "computed", "error", "tolerance", "verdict", "note"],
            [
                [
                    row.quantity,
                    _text(row.printed),
                    _text(row.truth),
                    _text(row.computed),
                    f"{row.error:.1e}",
                    f"{row.tolerance:.0e}",
                    "ok" if row.ok else "FAILED",
                    row.note,
                ]
                for row in shown
            ],
        )
        typer.echo(f"{len(rows) - len(failed)} of {len(rows)} values within tolerance")
    raise typer.Exit(1 if failed else 0)


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Names of benchmarks; all when none is given.")] = None,
    as_json: _Json = False,
) -> None:
    """Run benchmarks beside peers in the same run and print ratios (above 1: Kempe is better)."""
    from kempe import benchmarks

    try:
        records = benchmarks.bench(names or ())
    except KempeError as error:
        _stop(str(error))
    if as_json:
        typer.echo(json.dumps([record.as_dict() for record in records], indent=1))
        return
    _table(
        "Benchmarks",
        ["quantity", "kempe", "peer", "peer's", "unit", "ratio", "conditions"],
        [
            [r.quantity, f"{r.kempe:.4g}", r.peer, "-" if r.peer_value is None else f"{r.peer_value:.4g}", r.unit,
             "-" if r.ratio is None else f"{r.ratio:.3g}", r.conditions]
            for r in records
        ],
    )  # fmt: skip


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.16g}"


def _stop(message: str) -> Any:
    typer.echo(message, err=True)
    raise typer.Exit(2)


def _table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    # Piped output is not cut to a terminal's width.
    console = Console(width=None if sys.stdout.isatty() else 240)
    table = Table(*heads, title=title, show_lines=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    app()
