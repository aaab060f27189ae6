"""Vectors and turns in NumPy, for the independent computation of spatial motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Vector = Sequence[float] | np.ndarray


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The vector product of the last axes (``np.cross`` is ten times slower on small arrays)."""
    (a0, a1, a2), (b0, b1, b2) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The scalar product of the last axes."""
    return np.sum(a * b, axis=-1)


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrices of quaternions (w, x, y, z) of any length."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0) / np.linalg.norm(quaternion, axis=-1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """A unit quaternion (w, x, y, z) of a rotation matrix: the eigenvector of Bar-Itzhack's matrix."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    return np.linalg.eigh(K, UPLO="U")[1][:, -1]


def turned(quaternion: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Quaternions after a turn by rotation vectors in world axes."""
    angle = np.linalg.norm(by, axis=-1, keepdims=True)
    half = np.concatenate([np.cos(angle / 2), np.sinc(angle / (2 * np.pi)) / 2 * by], axis=-1)
    return product(half, quaternion)


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The product of quaternions."""
    scalar = p[..., :1] * q[..., :1] - dot(p[..., 1:], q[..., 1:])[..., None]
    vector = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + cross(p[..., 1:], q[..., 1:])
    return np.concatenate([scalar, vector], axis=-1)


def about(axis: Vector, angle: float) -> np.ndarray:
    """The rotation matrix of a turn about an axis."""
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return rotation_of(np.array([np.cos(angle / 2), *(np.sin(angle / 2) * n)]))


def across(axis: Vector) -> tuple[np.ndarray, np.ndarray]:
    """Two directions that make a right-handed frame with an axis."""
    w = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    u = np.eye(3)[np.argmin(np.abs(w))]
    u = u - (u @ w) * w
    u = u / np.linalg.norm(u)
    return u, np.cross(w, u)
