"""Whether an installation works: versions, compiler, caches, a motion against its exact solution, files, pictures."""

from __future__ import annotations

import io
import os
import platform
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic

import numpy as np

from kempe.api import Mechanism
from kempe.results import Result
from kempe.simulation.progress import reporting

#: What Kempe stands on.
PACKAGES = ("numpy", "scipy", "casadi", "numba", "llvmlite", "xarray", "h5netcdf", "matplotlib", "pydantic", "rich")
#: Methods that are compiled in advance, beside those that the first motion needs.
COMMON = ("projection", "radau", "alpha", "bdf")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: "ok", "FAILED", or "note" where something is missing that is not needed."""

    subject: str
    verdict: str
    detail: str

    def as_dict(self) -> dict[str, str]:
        """The finding as plain data."""
        return asdict(self)


def examine(warm: bool = True) -> list[Finding]:
    """Look at everything, one thing after the other; ``warm`` compiles the solvers of the common methods, too."""
    wanted = [*_CHECKS, *((f"method {name}", _method(name)) for name in (COMMON if warm else ()))]
    found = []
    with reporting(None, "examining the installation") as report:
        for k, (subject, check) in enumerate(wanted):
            if report:
                report(k, len(wanted))
            found.append(_looked_at(subject, check))
    return found


def _looked_at(subject: str, check: Callable[[], str]) -> Finding:
    """What a check finds; whatever it raises is a finding."""
    try:
        detail = check()
    except Exception as error:
        words = str(error).strip().partition("\n")[0] or type(error).__name__
        return Finding(subject, "FAILED", words[:200])
    return Finding(subject, "note" if detail.startswith("not ") else "ok", detail)


def _versions() -> str:
    import kempe

    return f"kempe {kempe.__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}"


def _packages() -> str:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            raise RuntimeError(f"{name} is not installed") from None
    return ", ".join(found)


def _compiler() -> str:
    """A function written by Kempe's own compiler, called by its address."""
    import casadi as ca
    import llvmlite.binding as llvm

    from kempe.kernels import compile_function

    x = ca.SX.sym("x", 2)
    kernel = compile_function(x, ca.sin(x[0]) * x[1])
    value = float(kernel(np.array([0.5, 3.0]))[0])
    if value != float(np.sin(0.5) * 3.0):
        raise RuntimeError(f"sin(0.5) * 3 is {value!r}")
    return f"LLVM {'.'.join(map(str, llvm.llvm_version_info))} for {llvm.get_host_cpu_name()}"


def _caches() -> str:
    """Folders in which compiled code is kept."""
    from kempe.kernels.compiler import cache_directory
    from kempe.solvers.driver import advance
    from kempe.solvers.jit import PLAIN, kept_in

    if PLAIN:
        return "not used: NUMBA_DISABLE_JIT is set, everything runs as plain Python, slowly"
    kernels, solvers = cache_directory(), kept_in(advance)
    if kernels is None:
        return f"not kept: kernels, for KEMPE_CACHE is empty; solvers in {solvers}"
    with tempfile.TemporaryFile(dir=kernels):
        pass  # can be written to
    if solvers is None:
        raise RuntimeError("compiled solvers cannot be kept: set NUMBA_CACHE_DIR to a folder that can be written to")
    return f"kernels in {kernels}, solvers in {solvers}"


def _oscillator() -> Mechanism:
    """A mass on a spring: x = cos(3 t)."""
    m = Mechanism("oscillator")
    mass = m.point("mass", at=(3.0, 0.0), fixed="y", mass=2.0)
    m.spring("spring", m.ground, mass, stiffness=18.0, length=2.0)
    return m


def _exact(method: str, tolerance: float) -> str:
    began = monotonic()
    result = _oscillator().simulate(2.0, method=method, tolerance=1e-9)
    error = float(np.abs(result.array("mass.x") - 2.0 - np.cos(3.0 * result.t)).max())
    if not error < tolerance:
        raise RuntimeError(f"the motion of a mass on a spring is off by {error:.1e}")
    return f"a mass on a spring to {error:.0e} of its exact motion, in {monotonic() - began:.1f} s"


def _method(name: str) -> Callable[[], str]:
    return lambda: _exact(name, 1e-4)


def _kinematics() -> str:
    """A crank that turns once, with the continuation of driven motions."""
    m = Mechanism("crank")
    crank = m.body("crank", at=(1.0, 0.0))
    m.revolute("pin", m.ground, crank, at=(0, 0))
    m.driver("motor", crank.angle, lambda t: t)
    result = m.kinematics(6.0)
    error = float(np.abs(result.array("crank.x") - np.cos(result.t)).max())
    if not error < 1e-12:
        raise RuntimeError(f"a crank that turns is off by {error:.1e}")
    return f"a crank to {error:.0e} of its exact motion"


def _files() -> str:
    """A result written and read back, with its model."""
    result = _oscillator().simulate(0.1, steps=5)
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "r.nc")
        again = Result.load(Path(folder) / "r.nc")
    if not all(np.array_equal(again.array(name), result.array(name)) for name in result.names):
        raise RuntimeError("a result that was written and read back is another")
    return "a result written to NetCDF and read back is the same"


def _pictures() -> str:
    image = io.BytesIO()
    _oscillator().draw().savefig(image, format="png")
    return f"a drawing of {len(image.getvalue())} bytes"


def _browser() -> str:
    names = ("chromium", "chromium-browser", "google-chrome", "firefox")
    found = next((path for path in map(shutil.which, names) if path), None)
    return f"{found}" if found else "not found here; reports open in any browser, elsewhere too"


def _cores() -> str:
    return f"{os.cpu_count()} for run_many and sweeps"


_CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("versions", _versions),
    ("packages", _packages),
    ("compiler", _compiler),
    ("kinematics", _kinematics),
    ("simulate", lambda: _exact("auto", 1e-7)),
    ("caches", _caches),
    ("result files", _files),
    ("pictures", _pictures),
    ("browser", _browser),
    ("cores", _cores),
)
