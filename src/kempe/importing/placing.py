"""Frames in frames, and the ways in which descriptions of robots write a turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Placement:
    """A frame as seen from another: where its origin is, and its axes as columns."""

    position: np.ndarray
    rotation: np.ndarray

    @classmethod
    def none(cls) -> Placement:
        """The other frame itself."""
        return cls(np.zeros(3), np.eye(3))

    def __matmul__(self, inner: Placement) -> Placement:
        return Placement(self.point(inner.position), self.rotation @ inner.rotation)

    def point(self, place: np.ndarray) -> np.ndarray:
        """A point of this frame as the other sees it."""
        return self.position + self.rotation @ place

    def inverse(self) -> Placement:
        """The other frame as seen from this one."""
        return Placement(-self.rotation.T @ self.position, self.rotation.T)


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    """The rotation by an angle about an axis, by Rodrigues's formula."""
    n = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def euler(letters: str, angles: np.ndarray) -> np.ndarray:
    """Turns about axes one after the other: lower case letters are axes that turn along, upper case fixed ones."""
    rotation = np.eye(3)
    for letter, angle in zip(letters, angles, strict=True):
        turn = about(np.eye(3)["xyz".index(letter.lower())], float(angle))
        rotation = rotation @ turn if letter.islower() else turn @ rotation
    return rotation


def quaternion(values: np.ndarray) -> np.ndarray:
    """The rotation of a quaternion (w, x, y, z) of any length."""
    w, x, y, z = values / np.linalg.norm(values)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def axes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The rotation whose first two axes are along x and, made perpendicular to it, y."""
    first = x / np.linalg.norm(x)
    second = y - (first @ y) * first
    second = second / np.linalg.norm(second)
    return np.column_stack([first, second, np.cross(first, second)])


def along(z: np.ndarray) -> np.ndarray:
    """The shortest rotation that brings the third axis along z."""
    n = z / np.linalg.norm(z)
    axis = np.array([-n[1], n[0], 0.0])
    sine = float(np.linalg.norm(axis))
    return about(axis if sine > 1e-10 else np.array([1.0, 0.0, 0.0]), float(np.arctan2(sine, n[2])))
