"""Running a model file: its analyses one after another, and what it asks to be written."""

from kempe.running.checking import check_file
from kempe.running.entries import Run
from kempe.running.examples import Example, examples
from kempe.running.importing import import_file
from kempe.running.model_files import animate_file, model_from, plots_of, run_file, run_one, show_file

__all__ = [
    "Example",
    "Run",
    "animate_file",
    "check_file",
    "examples",
    "import_file",
    "model_from",
    "plots_of",
    "run_file",
    "run_one",
    "show_file",
]
