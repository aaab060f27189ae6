"""A model as one sparse system of compiled equations."""

from kempe.system.system import Row, System, compiled

__all__ = ["Row", "System", "compiled"]
