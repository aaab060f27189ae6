"""The program: commands run, and whatever goes wrong told in a sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from kempe.cli.app import app
from kempe.errors import KempeError


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
