"""Commands about model files that run no analysis, or only show one."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from kempe.cli.app import Allow, File, Json, app, explained, trusted
from kempe.disk import replacing
from kempe.errors import KempeError
from kempe.running.examples import Example

#: From where a mechanism in space is looked at.
View = Annotated[
    str | None, typer.Option("--view", help="In space: front, right, top, isometric ..., or azimuth,elevation.")
]


@app.command()
def check(file: File, as_json: Json = False, allow: Allow = None) -> None:
    """Say everything suspicious about a model file at once: mistakes, mobility, redundant constraints."""
    from kempe import running

    with explained():
        findings, mobility = running.check_file(file, trusted(file, allow))
    if as_json:
        typer.echo(json.dumps({"findings": findings, "mobility": mobility}, indent=1))
    else:
        typer.echo("\n".join([*([mobility] if mobility else []), *findings, *([] if findings else ["no findings"])]))
    raise typer.Exit(1 if any(f.startswith("error") for f in findings) else 0)


@app.command()
def draw(
    file: File,
    out: Annotated[Path, typer.Option(help="The picture to write.")] = Path("mechanism.png"),
    seen: View = None,
    allow: Allow = None,
) -> None:
    """Draw the mechanism of a model file with its names."""
    from kempe import running, view

    with explained():
        model = running.model_from(file, trusted(file, allow))
        typer.echo(view.save(view.draw(model, view=_view(seen)), out))


@app.command()
def animate(
    file: File,
    out: Annotated[Path, typer.Option(help="A .gif, .mp4 or .html file, or a folder for frames.")] = Path(
        "mechanism.gif"
    ),
    trace: Annotated[list[str] | None, typer.Option(help="A point or body whose path is drawn.")] = None,
    vector: Annotated[
        list[str] | None, typer.Option(help="What is shown as an arrow: B.force, motor.effort, foot.velocity ...")
    ] = None,
    seen: View = None,
    allow: Allow = None,
) -> None:
    """Animate the first motion of a model file."""
    from kempe import running

    with explained():
        trust = trusted(file, allow)
        written, error = running.animate_file(file, out, trace or [], vector or [], trust, _view(seen))
    typer.echo(written)
    if error:
        typer.echo(f"it ended early: {error}", err=True)
    raise typer.Exit(1 if error else 0)


@app.command("import")
def import_robot(
    file: Annotated[Path, typer.Argument(help="A URDF file, or an MJCF file of MuJoCo's.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The model file to write.")] = None,
    free_base: Annotated[bool, typer.Option(help="URDF: the root link is free, not part of the ground.")] = False,
    limits: Annotated[bool, typer.Option(help="Limits of joints become rigid stops.")] = False,
) -> None:
    """Make a model file of a robot described in URDF or MJCF, and say what it does not represent."""
    from kempe import running

    target = out or file.with_suffix(".kempe.yaml")
    with explained():
        written, told = running.import_file(file, target, fixed_base=not free_base, limits=limits)
    for sentence in told:
        typer.echo(sentence, err=True)
    typer.echo(written)


@app.command()
def show(
    file: File,
    trace: Annotated[list[str] | None, typer.Option(help="A point or body whose path is drawn.")] = None,
    port: Annotated[int, typer.Option(help="Where the browser finds it.")] = 8080,
    seen: View = None,
    allow: Allow = None,
) -> None:
    """Show the first motion of a model file in space live in a browser (needs viser), until interrupted."""
    from kempe import running

    with explained():
        live, error = running.show_file(file, trace or [], port, trusted(file, allow), _view(seen))
    if error:
        typer.echo(f"it ended early: {error}", err=True)
    typer.echo(f"{live.url} (Ctrl-C ends it)")
    live.wait()


def _view(words: str | None) -> Any:
    """A view as it is written in a command: a name, or azimuth and elevation as "-60,25"."""
    return words.split(",") if words and "," in words else words


@app.command()
def schema() -> None:
    """Print the JSON Schema of model files, for editors."""
    from kempe.model.schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=1))


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(help="An example to copy here; without it, all are listed.")] = None,
    as_json: Json = False,
) -> None:
    """List the examples, or copy one into this folder: its model file, its Python program, or both."""
    from kempe import running

    with explained():
        found = running.examples()
        if name is None:
            _list(list(found.values()), as_json)
            return
        if name not in found:
            raise KempeError(f"there is no example '{name}'{_near(name, found)}; kempe examples lists them")
        sources = found[name].files
        taken = [path.name for path in sources if (Path.cwd() / path.name).exists()]
        if taken:
            raise KempeError(f"{taken[0]} exists already in this folder")
        for source in sources:
            with replacing(Path.cwd() / source.name) as fresh:
                shutil.copyfile(source, fresh)
            way = "kempe run" if source.suffix == ".yaml" else "python"
            typer.echo(f"{source.name}: try {way} {source.name}")


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _list(found: list[Example], as_json: bool) -> None:
    """A line about each example, no longer than a terminal is wide."""
    if as_json:
        kinds = [["file" if path.suffix == ".yaml" else "python" for path in example.files] for example in found]
        rows = zip(found, kinds, strict=True)
        listed = [{"name": e.name, "title": e.title, "about": e.about, "as": kind} for e, kind in rows]
        typer.echo(json.dumps(listed, indent=1))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1000
    longest = max(len(example.name) for example in found)
    for example in found:
        kind = "" if any(path.suffix == ".yaml" for path in example.files) else "(in Python only) "
        line = f"{example.name:<{longest}}  {kind}{example.about}"
        typer.echo(line if len(line) <= width else line[: width - 1].rstrip() + "…")
