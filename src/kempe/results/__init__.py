"""What analyses return."""

from kempe.results.energy import Energies
from kempe.results.reactions import Reaction
from kempe.results.result import VIEWS, Motion, Result

__all__ = ["VIEWS", "Energies", "Motion", "Reaction", "Result"]
