"""The command line.

Exit codes: 0 all well; 1 a value is outside its tolerance, a check found an error, or an analysis ended early (what
exists was written); 2 the command, or a file given to it, was not understood.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from kempe.disk import replacing
from kempe.errors import KempeError

app = typer.Typer(
    help="Dynamic analysis and design of constrained mechanical systems.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
_File = Annotated[Path, typer.Argument(help="A .kempe.yaml model file.")]


@app.callback()
def _main() -> None:
    """Dynamic analysis and design of constrained mechanical systems."""


@contextmanager
def _explained() -> Iterator[None]:
    """An error of the user's is a sentence and exit code 2, not a traceback."""
    try:
        yield
    except KempeError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"{error.filename or ''}: {error.strerror or error}", err=True)
        raise typer.Exit(2) from None


@app.command()
def run(
    file: _File,
    out: Annotated[Path | None, typer.Option(help="Folder for what is written (default: out/NAME).")] = None,
    as_json: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Run the analyses of a model file; write results, plots, an animation and a report."""
    from kempe import running

    with _explained():
        if not quiet and running.compiles_first(file):
            typer.echo("compiling the solvers: first use on this machine, about half a minute", err=True)
    with _explained(), _progress(quiet or as_json) as progress:
        runs = running.run_file(file, out, progress)
    if as_json:
        rows = [
            {
                "analysis": r.name, "status": r.result.status, "message": r.result.message, "points": len(r.result),
                "events": [e.message for e in r.result.events], "files": [str(f) for f in r.files],
                "start": _start(r.result), "energy_error": _imbalance(r.result), "stats": r.result.stats,
            }
            for r in runs
        ]  # fmt: skip
        typer.echo(json.dumps(rows, indent=1))
    elif not quiet:
        for r in runs:
            typer.echo(f"{r.name}: {r.result.status}, {len(r.result)} points; {r.result.message}")
            if _start(r.result):
                typer.echo(f"  at the start: {_start(r.result)}")
            typer.echo("".join(f"  {event.message}\n" for event in r.result.events), nl=False)
            if _imbalance(r.result) is not None:
                typer.echo(f"  energy: out of balance by at most {_imbalance(r.result):.2g} of the largest energy")
            typer.echo("".join(f"  {path}\n" for path in r.files), nl=False)
    for r in runs:
        if r.error:
            typer.echo(f"{r.name} ended early: {r.error}", err=True)
    raise typer.Exit(1 if any(r.error for r in runs) else 0)


def _start(result: Any) -> str:
    """By how much the start of a motion differs from what was asked for; nothing if it does not."""
    start = result.initial
    return str(start) if start is not None and (start.moved or start.changed) else ""


def _imbalance(result: Any) -> float | None:
    return result.energy.error if "energy.kinetic" in result.series else None


@contextmanager
def _progress(silent: bool) -> Iterator[Any]:
    """A progress bar on a terminal, nothing otherwise."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(name: str, done: float, wanted: float) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=wanted)
            bar.update(tasks[name], completed=done)

        yield show


@app.command()
def check(file: _File, as_json: _Json = False) -> None:
    """Say everything suspicious about a model file at once: mistakes, mobility, redundant constraints."""
    from kempe import running

    with _explained():
        findings, mobility = running.check_file(file)
    if as_json:
        typer.echo(json.dumps({"findings": findings, "mobility": mobility}, indent=1))
    else:
        typer.echo("\n".join([*([mobility] if mobility else []), *findings, *([] if findings else ["no findings"])]))
    raise typer.Exit(1 if any(f.startswith("error") for f in findings) else 0)


@app.command()
def draw(file: _File, out: Annotated[Path, typer.Option(help="The picture to write.")] = Path("mechanism.png")) -> None:
    """Draw the mechanism of a model file with its names."""
    from kempe import running, view

    with _explained():
        typer.echo(view.save(view.draw(running.model_from(file)), out))


@app.command()
def animate(
    file: _File,
    out: Annotated[Path, typer.Option(help="A .gif or .mp4 file, or a folder for frames.")] = Path("mechanism.gif"),
    trace: Annotated[list[str] | None, typer.Option(help="A point or body whose path is drawn.")] = None,
    vector: Annotated[
        list[str] | None, typer.Option(help="What is shown as an arrow: B.force, motor.effort, foot.velocity ...")
    ] = None,
) -> None:
    """Animate the first analysis of a model file."""
    from kempe import running, view
    from kempe.model import files

    with _explained():
        document = files.read(file)
        if not document.data.analyses:
            raise KempeError(f"{file}: there is no analysis to animate")
        model = running.model_from(file)
        done = running.analyse(model, document.data.analyses[0], "animation", None)
        traces = trace or document.data.outputs.traces
        typer.echo(view.animate(model, done.result, out, trace=traces, vectors=vector or ()))
    raise typer.Exit(1 if done.error else 0)


@app.command()
def schema() -> None:
    """Print the JSON Schema of model files, for editors."""
    from kempe.model.schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=1))


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(help="An example to copy here; without it, all are listed.")] = None,
    as_json: _Json = False,
) -> None:
    """List the examples, or copy one into this folder."""
    from kempe import running

    with _explained():
        folder = running.examples_folder()
        found = {path.name.removesuffix(".kempe.yaml"): path for path in sorted(folder.glob("*.kempe.yaml"))}
        if name is None:
            typer.echo(json.dumps(list(found), indent=1) if as_json else "\n".join(found))
            return
        if name not in found:
            raise KempeError(f"there is no example '{name}'; there are {', '.join(found)}")
        target = Path.cwd() / found[name].name
        if target.exists():
            raise KempeError(f"{target.name} exists already in this folder")
        with replacing(target) as fresh:
            shutil.copyfile(found[name], fresh)
        typer.echo(f"{target.name}: try kempe run {target.name}")


@app.command()
def validate(
    cases: Annotated[list[str] | None, typer.Argument(help="Names of published cases; all when none is given.")] = None,
    as_json: _Json = False,
    every: Annotated[bool, typer.Option("--all", help="Show every row, not only failures and a summary.")] = False,
) -> None:
    """Reproduce published cases: what was printed, what is true, what is computed now."""
    from kempe import validation

    with _explained():
        rows = validation.validate(cases or ())
    failed = [row for row in rows if not row.ok]
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in rows], indent=1))
    else:
        shown = rows if every or cases else failed
        heads = ["quantity", "printed", "truth", "computed", "error", "tolerance", "verdict", "note"]
        _table("Published cases", heads, [_validation_cells(row) for row in shown])
        typer.echo(f"{len(rows) - len(failed)} of {len(rows)} values within tolerance")
    raise typer.Exit(1 if failed else 0)


def _validation_cells(row: Any) -> list[str]:
    numbers = [_text(value) for value in (row.printed, row.truth, row.computed)]
    return [row.quantity, *numbers, f"{row.error:.1e}", f"{row.tolerance:.0e}", "ok" if row.ok else "FAILED", row.note]


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Names of benchmarks; all when none is given.")] = None,
    as_json: _Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for the documentation.")] = False,
) -> None:
    """Run benchmarks beside peers in the same run and print ratios (above 1: Kempe is better)."""
    from kempe import benchmarks

    with _explained():
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
    _table("Benchmarks", heads, rows)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.16g}"


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


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The program: whatever was not understood or went wrong is a sentence and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that a terminal cannot show is no error
    try:
        code = app(None if arguments is None else list(arguments), prog_name="kempe", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("kempe: interrupted", err=True)
        code = 130
    except Exception as error:
        if os.environ.get("KEMPE_DEBUG", "") not in ("", "0"):
            raise
        typer.echo(_sentence(error), err=True)
        code = getattr(error, "exit_code", 2)
    sys.exit(code if isinstance(code, int) else 0)


def _sentence(error: Exception) -> str:
    """What went wrong: with a command line as it says itself, otherwise as a mistake of the program's."""
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":
            return str(error.format_message())
        command = context.command_path if context is not None else "kempe"
        return f"kempe: {' '.join(error.format_message().split())} (see {command} --help)"
    if isinstance(error, KempeError):
        return str(error)
    first = str(error).strip().partition("\n")[0][:300]
    words = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return f"kempe: {words} (a mistake of Kempe's, not yours: please report it; KEMPE_DEBUG=1 shows where it was made)"


if __name__ == "__main__":
    main()
