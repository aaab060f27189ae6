"""What analyses return."""

from kempe.results.result import Result

__all__ = ["Result"]
