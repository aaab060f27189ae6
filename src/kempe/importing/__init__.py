"""Descriptions of robots, URDF and MJCF, read into one neutral tree, of which mechanisms in space are made."""

from kempe.importing.building import build
from kempe.importing.mjcf import read_mjcf
from kempe.importing.tree import Coupling, Joint, Link, Loop, Tree
from kempe.importing.urdf import read_urdf
from kempe.importing.xml_reading import read_xml

__all__ = ["Coupling", "Joint", "Link", "Loop", "Tree", "build", "read_mjcf", "read_urdf", "read_xml"]
