"""What can go wrong, in the user's own names."""

from __future__ import annotations

from typing import Any


class KempeError(Exception):
    """Base of every error that Kempe raises on purpose."""


class AccuracyWarning(UserWarning):
    """A run was less accurate than it was asked to be, or than a motion to be trusted is."""


class ModelWarning(UserWarning):
    """Something of a model is unusual, or could not be represented as it was given."""


class ModelError(KempeError, ValueError):
    """The description of the mechanism is wrong; ``findings`` lists each mistake."""

    def __init__(self, findings: str | list[str]) -> None:
        self.findings = [findings] if isinstance(findings, str) else list(findings)
        super().__init__("\n".join(self.findings))


class NoAttribute(ModelError, AttributeError):
    """What was asked for by a dot is not there."""


class FileError(KempeError, OSError):
    """A file cannot be read or written; what was in memory, and the file that was there before, are as they were."""


class AssemblyError(KempeError):
    """The parts cannot be put together; ``pose`` is the closest one, ``gaps`` says which joints stay open."""

    def __init__(self, message: str, pose: Any, gaps: dict[str, float]) -> None:
        super().__init__(message)
        self.pose = pose
        self.gaps = gaps


class SingularPositionError(KempeError):
    """A driven motion met a singular position; ``event`` describes it, ``result`` holds the motion up to it."""

    def __init__(self, message: str, event: Any, result: Any) -> None:
        super().__init__(message)
        self.event = event
        self.result = result


class ConvergenceError(KempeError):
    """An iteration did not converge; ``result`` holds what was computed before."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result
