"""The application that commands belong to, the options they share, and how mistakes are told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from kempe.errors import KempeError

app = typer.Typer(
    help="Dynamic analysis and design of constrained mechanical systems.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
File = Annotated[Path, typer.Argument(help="A .kempe.yaml model file.")]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", help="A module, beside the file or installed, whose element classes the file may use."),
]


def _version(wanted: bool) -> None:
    if wanted:
        import kempe

        typer.echo(f"kempe {kempe.__version__}")
        raise typer.Exit()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Dynamic analysis and design of constrained mechanical systems."""


@contextmanager
def explained() -> Iterator[None]:
    """An error of the user's is a sentence and exit code 2, not a traceback."""
    try:
        yield
    except KempeError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"{error.filename or ''}: {error.strerror or error}", err=True)
        raise typer.Exit(2) from None


def trusted(file: Path, modules: list[str] | None) -> list[str]:
    """The modules that a file may use; they are found beside it, too."""
    if modules:
        sys.path.insert(0, str(file.parent.resolve()))
    return modules or []


def table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    """Print a table."""
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    # Piped output is not cut to a terminal's width.
    console = Console(width=None if sys.stdout.isatty() else 240)
    shown = Table(*heads, title=title, show_lines=False)
    for row in rows:
        shown.add_row(*row)
    console.print(shown)
