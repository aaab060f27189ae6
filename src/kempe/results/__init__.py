"""What analyses return."""

from kempe.results.result import VIEWS, Motion, Result

__all__ = ["VIEWS", "Motion", "Result"]
