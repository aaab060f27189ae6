"""Commands that run analyses: all those of a model file, or one of them with options of its own.

A command for one analysis begins with the file's first entry of that kind, where there is one, and changes in it what
the options say. It prints what it found, and writes files only where ``--out`` names a folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from kempe.cli.app import Allow, File, Json, Quiet, app, explained, trusted
from kempe.errors import ModelError

Out = Annotated[Path | None, typer.Option(help="Folder for data, pictures and reports; without it, none are written.")]
Set = Annotated[list[str] | None, typer.Option("--set", help='A parameter, as in "rod length=0.3".')]
End = Annotated[float | None, typer.Option(help="The end time.")]
Steps = Annotated[int | None, typer.Option(min=1, help="How many equal steps of output there are.")]
OnSingular = Annotated[str | None, typer.Option(help="At a singular position: raise, stop or cross.")]
Branches = Annotated[list[int] | None, typer.Option("--branch", help="The branch behind each bifurcation, in order.")]
Method = Annotated[str | None, typer.Option(help="The formulation; kempe.METHODS lists them.")]
Tolerance = Annotated[float | None, typer.Option(help="The local error allowed, in mechanism sizes.")]
Step = Annotated[float | None, typer.Option(help="Take fixed steps of this length.")]
MaxStep = Annotated[float | None, typer.Option(help="The longest step allowed.")]
Velocities = Annotated[
    list[str] | None, typer.Option("--velocity", help='A rate at the start, as in "crank.omega=12".')
]
Compile = Annotated[
    str | None, typer.Option(help="Compile the equations into single functions: auto, never or always.")
]
Options = Annotated[list[str] | None, typer.Option("--option", help='An option of the method, as in "radius=0.8".')]
Period = Annotated[float | None, typer.Option(help="The period of what drives the machine.")]
Periods = Annotated[int | None, typer.Option(min=1, help="How many periods are computed.")]
Skip = Annotated[float | None, typer.Option(min=0.0, help="The time at the start that is left out.")]
Time = Annotated[float | None, typer.Option(help="The time at which laws of time stand still.")]


@app.command()
def run(
    file: File,
    out: Annotated[Path | None, typer.Option(help="Folder for what is written (default: out/NAME).")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    allow: Allow = None,
) -> None:
    """Run the analyses of a model file; write results, plots, animations and reports."""
    from kempe import running

    with explained():
        runs = running.run_file(file, out, False if quiet or as_json else None, trusted(file, allow))
    _tell(runs, as_json, quiet, running.plots_of(file), as_list=True)


@app.command()
def simulate(
    file: File, end: End = None, steps: Steps = None, sets: Set = None, velocities: Velocities = None,
    method: Method = None, tolerance: Tolerance = None, step: Step = None, max_step: MaxStep = None,
    compile: Compile = None, options: Options = None,
    checkpoint: Annotated[Path | None, typer.Option(help="A file to go on from with kempe resume.")] = None,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Simulate the motion under forces."""
    with explained():
        changes = _motion(end, steps, method, tolerance, step, max_step, velocities, options, compile)
        changes["checkpoint"] = True if checkpoint else None
        _run_one(file, "simulate", changes, sets, out, as_json, quiet, allow, checkpoint)


@app.command()
def kinematics(
    file: File, end: End = None, steps: Steps = None, sets: Set = None, on_singular: OnSingular = None,
    branch: Branches = None, compile: Compile = None, out: Out = None, as_json: Json = False, quiet: Quiet = False,
    allow: Allow = None,
) -> None:  # fmt: skip
    """Follow the motion of a driven mechanism."""
    changes = {**_times(end, steps), "on_singular": on_singular, "branch": branch or None, "compile": compile}
    with explained():
        _run_one(file, "kinematics", changes, sets, out, as_json, quiet, allow)


@app.command("inverse-dynamics")
def inverse_dynamics(
    file: File, end: End = None, steps: Steps = None, sets: Set = None, on_singular: OnSingular = None,
    branch: Branches = None, compile: Compile = None, out: Out = None, as_json: Json = False, quiet: Quiet = False,
    allow: Allow = None,
) -> None:  # fmt: skip
    """Find the efforts of drivers, and the reactions, that a driven motion takes."""
    changes = {**_times(end, steps), "on_singular": on_singular, "branch": branch or None, "compile": compile}
    with explained():
        _run_one(file, "inverse_dynamics", changes, sets, out, as_json, quiet, allow)


@app.command()
def equilibrium(
    file: File, sets: Set = None, time: Time = None,
    hold: Annotated[list[str] | None, typer.Option(help="A coordinate that stays where it is drawn.")] = None,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="The equilibrium nearest to the sketch, stable or not.")
    ] = False,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Find the pose in which all forces balance."""
    changes = {"time": time, "hold": hold or None, "stable": False if nearest else None}
    with explained():
        _run_one(file, "equilibrium", changes, sets, out, as_json, quiet, allow)


@app.command()
def linearise(
    file: File, sets: Set = None, time: Time = None, velocities: Velocities = None,
    coordinate: Annotated[list[str] | None, typer.Option(help="An independent coordinate to use.")] = None,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Linearise about the equilibrium, or with velocities about the motion in the drawn pose."""
    with explained():
        changes = {"time": time, "velocities": _numbers(velocities, "--velocity"), "coordinates": coordinate or None}
        _run_one(file, "linearise", changes, sets, out, as_json, quiet, allow)


@app.command()
def modes(
    file: File, sets: Set = None, time: Time = None,
    count: Annotated[int | None, typer.Option(min=1, help="How many modes, the slowest first.")] = None,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Find natural frequencies, damping ratios and mode shapes about the equilibrium."""
    with explained():
        _run_one(file, "modes", {"time": time, "count": count}, sets, out, as_json, quiet, allow)


@app.command()
def sweep(
    file: File,
    vary: Annotated[
        list[str] | None, typer.Option(help='A parameter and its values, as in "L=0.2,0.3,0.5" or "L=0.2:0.5:7".')
    ] = None,
    record: Annotated[list[str] | None, typer.Option(help="A quantity to record, such as slider.x.")] = None,
    combine: Annotated[bool, typer.Option("--combine", help="Every value with every other.")] = False,
    end: End = None, steps: Steps = None, sets: Set = None, velocities: Velocities = None,
    method: Method = None, tolerance: Tolerance = None, step: Step = None, max_step: MaxStep = None,
    compile: Compile = None, options: Options = None,
    workers: Annotated[int | None, typer.Option(min=1, help="How many cores are used (default: all).")] = None,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Simulate a table of designs."""
    with explained():
        changes = _motion(end, steps, method, tolerance, step, max_step, velocities, options, compile)
        changes["designs"] = {name: _values(text) for name, text in _pairs(vary, "--vary").items()} or None
        changes |= {"quantities": record or None, "combine": combine or None, "workers": workers}
        _run_one(file, "sweep", changes, sets, out, as_json, quiet, allow)


@app.command()
def response(
    file: File, period: Period = None, periods: Periods = None, skip: Skip = None, steps: Steps = None,
    sets: Set = None, velocities: Velocities = None, method: Method = None, tolerance: Tolerance = None,
    max_step: MaxStep = None, out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Say what a machine does period by period: contacts, losses, efforts, and whether it repeats itself."""
    with explained():
        changes: dict[str, Any] = {"period": period, "periods": periods, "skip": skip, "steps": steps, "method": method}
        changes |= {"tolerance": tolerance, "max_step": max_step, "velocities": _numbers(velocities, "--velocity")}
        _run_one(file, "response", changes, sets, out, as_json, quiet, allow)


@app.command()
def lyapunov(
    file: File, period: Period = None, periods: Periods = None, skip: Skip = None, sets: Set = None,
    velocities: Velocities = None, method: Method = None, tolerance: Tolerance = None, max_step: MaxStep = None,
    separation: Annotated[float | None, typer.Option(help="How far neighbours are apart, in sizes.")] = None,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Find the largest Lyapunov exponent: how fast neighbouring motions part."""
    with explained():
        changes: dict[str, Any] = {
            "period": period,
            "periods": periods,
            "skip": skip,
            "separation": separation,
            "method": method,
        }
        changes |= {"tolerance": tolerance, "max_step": max_step, "velocities": _numbers(velocities, "--velocity")}
        _run_one(file, "lyapunov", changes, sets, out, as_json, quiet, allow)


@app.command()
def horizon(
    file: File, end: End = None, steps: Steps = None, sets: Set = None, velocities: Velocities = None,
    record: Annotated[list[str] | None, typer.Option(help="A quantity to compare, such as slider.x.")] = None,
    method: Method = None, max_step: MaxStep = None,
    agreement: Annotated[float | None, typer.Option(help="Runs agree to this share of how far it moves.")] = None,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Find until when a motion is known: where runs with smaller tolerances part."""
    with explained():
        changes = {**_times(end, steps), "quantities": record or None, "method": method, "max_step": max_step}
        changes |= {"agreement": agreement, "velocities": _numbers(velocities, "--velocity")}
        _run_one(file, "horizon", changes, sets, out, as_json, quiet, allow)


@app.command()
def optimise(
    file: File,
    minimise: Annotated[str | None, typer.Option(help='What is made small, as in "maximum(B.force)".')] = None,
    subject_to: Annotated[
        list[str] | None, typer.Option(help='A requirement, as in "final(crank.omega) <= 0.3".')
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="A parameter to choose (default: those with bounds).")] = None,
    method: Annotated[
        str | None, typer.Option(help="The optimiser: slsqp, trust-constr, ipopt or steepest-descent.")
    ] = None,
    starts: Annotated[int | None, typer.Option(min=1, help="How many designs the search begins at.")] = None,
    seed: Annotated[int | None, typer.Option(help="What the other starts are drawn by.")] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, help="The most iterations of a search.")] = None,
    accuracy: Annotated[float | None, typer.Option(help="How closely requirements and conditions are met.")] = None,
    end: End = None, steps: Steps = None, sets: Set = None, velocities: Velocities = None,
    formulation: Annotated[str | None, typer.Option(help="The method that computes motions.")] = None,
    tolerance: Tolerance = None, step: Step = None, max_step: MaxStep = None, compile: Compile = None,
    workers: Annotated[int | None, typer.Option(min=1, help="How many cores are used (default: all).")] = None,
    out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Find the design whose motion has the least value of a functional and meets the requirements."""
    with explained():
        changes: dict[str, Any] = {"minimise": minimise, "subject_to": subject_to or None, "by": by or None}
        changes |= {"method": method, "starts": starts, "seed": seed, "max_iterations": max_iterations}
        changes |= {"accuracy": accuracy, "formulation": formulation, "workers": workers, **_times(end, steps)}
        changes |= {"tolerance": tolerance, "step": step, "max_step": max_step, "compile": compile}
        changes["velocities"] = _numbers(velocities, "--velocity")
        _run_one(file, "optimise", changes, sets, out, as_json, quiet, allow)


@app.command()
def resume(
    file: File,
    checkpoint: Annotated[Path, typer.Argument(help="The checkpoint that a simulation left.")],
    compile: Compile = None, out: Out = None, as_json: Json = False, quiet: Quiet = False, allow: Allow = None,
) -> None:  # fmt: skip
    """Go on with a simulation from its checkpoint."""
    with explained():
        changes = {"checkpoint": checkpoint.name, "compile": compile}
        _run_one(file, "resume", changes, None, out, as_json, quiet, allow, checkpoint)


def _run_one(
    file: Path,
    kind: str,
    changes: dict[str, Any],
    sets: list[str] | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    allow: list[str] | None,
    checkpoint: Path | None = None,
) -> None:
    """Run one analysis, print what it found, and end with its exit code."""
    from kempe import running

    changes = {**changes, "parameters": _numbers(sets, "--set")}
    asked = {key: value for key, value in changes.items() if value is not None}
    progress = False if quiet or as_json else None
    done = running.run_one(file, kind, asked, checkpoint, out, progress, trusted(file, allow))
    _tell([done], as_json, quiet, running.plots_of(file))


def _tell(runs: list[Any], as_json: bool, quiet: bool, plots: list[str], as_list: bool = False) -> None:
    """Print what analyses found, for programs or for people, and end with the exit code."""
    from kempe.running.summaries import lines_of, row_of

    if as_json:
        rows = [row_of(run) for run in runs]
        typer.echo(json.dumps(rows if as_list else rows[0], indent=1))
    elif not quiet:
        for run in runs:
            typer.echo("\n".join(lines_of(run, plots)))
    for run in runs:
        if run.error:
            typer.echo(f"{run.name} ended early: {run.error}", err=True)
    raise typer.Exit(1 if any(run.error for run in runs) else 0)


def _times(end: float | None, steps: int | None) -> dict[str, Any]:
    """The end time replaces the times of the file; the number of steps alone changes theirs."""
    return {"times": end, "steps": steps}


def _motion(
    end: float | None,
    steps: int | None,
    method: str | None,
    tolerance: float | None,
    step: float | None,
    max_step: float | None,
    velocities: list[str] | None,
    options: list[str] | None,
    compile: str | None,
) -> dict[str, Any]:
    """What the options of a simulation say."""
    said = {**_times(end, steps), "method": method, "tolerance": tolerance, "step": step, "max_step": max_step}
    said["compile"] = compile
    given = {name: _plain(text) for name, text in _pairs(options, "--option").items()}
    return {**said, "velocities": _numbers(velocities, "--velocity"), "options": given or None}


def _pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    """NAME=VALUE, the name being all before the last sign of equality."""
    found = {}
    for text in texts or []:
        name, sign, value = text.rpartition("=")
        if not sign or not name.strip() or not value.strip():
            raise ModelError(f"{option} takes NAME=VALUE, not '{text}'")
        found[name.strip()] = value.strip()
    return found


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ModelError(f"{option}: '{text}' is not a number") from None


def _numbers(texts: list[str] | None, option: str) -> dict[str, float] | None:
    return {name: _number(text, option) for name, text in _pairs(texts, option).items()} or None


def _plain(text: str) -> Any:
    """A truth value or number as the options of methods have them."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.lstrip("+-").isdigit() else _number(text, "--option")


def _values(text: str) -> Any:
    """Values in a list, or START:END:COUNT."""
    if ":" not in text:
        return [_number(item, "--vary") for item in text.split(",")]
    start, end, *more = text.split(":")
    if len(more) != 1 or not more[0].strip().isdigit():
        raise ModelError(f"--vary takes values like 0.2,0.3 or START:END:COUNT, not '{text}'")
    return {"start": _number(start, "--vary"), "end": _number(end, "--vary"), "count": int(more[0])}
