"""Descriptions of robots read: URDF and MJCF, by way of one neutral tree."""

from kempe.importing.mjcf import read_mjcf
from kempe.importing.tree import Coupling, Joint, Link, Loop, Tree
from kempe.importing.urdf import read_urdf

__all__ = ["Coupling", "Joint", "Link", "Loop", "Tree", "read_mjcf", "read_urdf"]
