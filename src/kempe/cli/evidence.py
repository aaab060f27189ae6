"""Commands that show what Kempe is worth: published cases, benchmarks, the installation itself."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from kempe.cli.app import Json, app, explained, table


@app.command()
def validate(
    cases: Annotated[list[str] | None, typer.Argument(help="Names of published cases; all when none is given.")] = None,
    as_json: Json = False,
    every: Annotated[bool, typer.Option("--all", help="Show every row, not only failures and a summary.")] = False,
) -> None:
    """Reproduce published cases: what was printed, what is true, what is computed now."""
    from kempe import validation

    with explained():
        rows = validation.validate(cases or ())
    failed = [row for row in rows if not row.ok]
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in rows], indent=1))
    else:
        shown = rows if every or cases else failed
        heads = ["quantity", "printed", "truth", "computed", "error", "tolerance", "verdict", "note"]
        table("Published cases", heads, [_validation_cells(row) for row in shown])
        typer.echo(f"{len(rows) - len(failed)} of {len(rows)} values within tolerance")
    raise typer.Exit(1 if failed else 0)


def _validation_cells(row: Any) -> list[str]:
    numbers = [_text(value) for value in (row.printed, row.truth, row.computed)]
    return [row.quantity, *numbers, f"{row.error:.1e}", f"{row.tolerance:.0e}", "ok" if row.ok else "FAILED", row.note]


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Names of benchmarks; all when none is given.")] = None,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for the documentation.")] = False,
) -> None:
    """Run benchmarks beside peers in the same run and print ratios (above 1: Kempe is better)."""
    from kempe import benchmarks

    with explained():
        if markdown:
            typer.echo(benchmarks.markdown(names or ()))
            return
        records = benchmarks.bench(names or ())
    if as_json:
        typer.echo(json.dumps([record.as_dict() for record in records], indent=1))
        return
    heads = ["quantity", "kempe", "peer", "peer's", "unit", "ratio", "conditions"]
    rows = [
        [r.quantity, f"{r.kempe:.4g}", r.peer, _short(r.peer_value), r.unit, _short(r.ratio), r.conditions]
        for r in records
    ]
    table("Benchmarks", heads, rows)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.16g}"


@app.command()
def doctor(
    as_json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Compile no more than the tests need.")] = False,
) -> None:
    """Test this installation, and compile the solvers of the common methods in advance."""
    from kempe.doctor import examine

    findings = examine(warm=not quick)
    if as_json:
        typer.echo(json.dumps([finding.as_dict() for finding in findings], indent=1))
    else:
        rows = [[f.subject, f.verdict, f.detail] for f in findings]
        table("This installation", ["", "verdict", ""], rows)
    raise typer.Exit(1 if any(f.verdict == "FAILED" for f in findings) else 0)
