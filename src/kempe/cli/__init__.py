"""The command line.

Exit codes: 0 all well; 1 a value is outside its tolerance, a check found an error, or an analysis ended early (what
exists was written); 2 the command, or a file given to it, was not understood.
"""

from kempe.cli import analyses, evidence, models
from kempe.cli.app import app
from kempe.cli.program import main

__all__ = ["analyses", "app", "evidence", "main", "models"]
