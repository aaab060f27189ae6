"""Triangles painted with hidden surfaces: a depth buffer, light from above the eye, dark outlines, without a screen."""

from __future__ import annotations

import numpy as np

from kempe.solvers.jit import compiled, entry

#: Light towards which surfaces are bright, in the axes of the picture (right, up, towards the eye).
LIGHT = np.array([-0.35, 0.6, 0.72]) / np.linalg.norm([-0.35, 0.6, 0.72])
#: Share of the colour in the dark, and by how much an outline is darker.
AMBIENT, OUTLINE = 0.52, 0.45


class Canvas:
    """Colours (height, width, 3), depths and whose surface is seen, several of them to a pixel each way."""

    def __init__(self, width: int, height: int, fine: int = 2) -> None:
        self.fine = fine
        shape = (height * fine, width * fine)
        self.colour = np.ones((*shape, 3), dtype=np.float32)
        self.depth = np.full(shape, -np.inf, dtype=np.float32)
        self.owner = np.zeros(shape, dtype=np.int32)

    def paint(
        self,
        corners: np.ndarray,
        normals: np.ndarray,
        triangles: np.ndarray,
        colours: np.ndarray,
        owners: np.ndarray,
        alphas: np.ndarray,
    ) -> None:
        """Paint triangles: corners (n, 3) in pixels from the upper left with their depth, towards the eye positive.

        Of each triangle, the colour (m, 3), an owner (m,), whose rim is outlined where it is above zero, and how
        opaque it is (m,). A corner without a normal is not shaded. What is translucent comes last, farthest first.
        """
        fine = corners * np.array([self.fine, self.fine, 1.0])
        solid = alphas >= 1.0
        rest = np.flatnonzero(~solid)
        rest = rest[np.argsort(fine[triangles[rest], 2].mean(axis=1))]
        for chosen in (np.flatnonzero(solid), rest):
            args = (triangles[chosen], colours[chosen], owners[chosen], alphas[chosen])
            _paint(fine, normals, *args, LIGHT, AMBIENT, self.colour, self.depth, self.owner)
            if chosen is not rest:
                _outline(self.colour, self.depth, self.owner, OUTLINE)

    def picture(self) -> np.ndarray:
        """The picture (height, width, 3) in bytes."""
        height, width, _ = self.colour.shape
        seen = np.empty((height // self.fine, width // self.fine, 3), dtype=np.uint8)
        _mean(self.colour, self.fine, seen)
        return seen


@entry
def _outline(colour, depth, owner, share):  # type: ignore[no-untyped-def]
    """Darken what lies beside the surface of another owner, on the nearer side."""
    height, width = depth.shape
    for y in range(height):
        for x in range(width):
            mine = owner[y, x]
            if mine <= 0:
                continue
            rim = False
            for side in range(4):
                oy, ox = y + (side == 0) - (side == 1), x + (side == 2) - (side == 3)
                if 0 <= oy < height and 0 <= ox < width and owner[oy, ox] != mine:
                    rim = rim or owner[oy, ox] <= 0 or depth[y, x] >= depth[oy, ox]
            if rim:
                for channel in range(3):
                    colour[y, x, channel] *= share


@entry
def _mean(colour, fine, seen):  # type: ignore[no-untyped-def]
    """The mean of the colours in each pixel."""
    height, width, _ = seen.shape
    for y in range(height):
        for x in range(width):
            for channel in range(3):
                total = 0.0
                for i in range(fine):
                    for j in range(fine):
                        total += min(max(colour[fine * y + i, fine * x + j, channel], 0.0), 1.0)
                seen[y, x, channel] = int(255.0 * total / (fine * fine) + 0.5)


@compiled
def _within(slope, value, low, high):  # type: ignore[no-untyped-def]
    """The part of an interval of x in which slope x + value is not negative."""
    if slope > 0.0:
        return max(low, -value / slope), high
    if slope < 0.0:
        return low, min(high, -value / slope)
    return (low, high) if value >= 0.0 else (high, low)


@entry
def _paint(corners, normals, triangles, colours, owners, alphas, light, ambient, colour, depth, owner):  # type: ignore[no-untyped-def]
    """Fill triangles row by row where nothing nearer is there already."""
    height, width = depth.shape
    for m in range(triangles.shape[0]):
        i, j, k = triangles[m, 0], triangles[m, 1], triangles[m, 2]
        ax, ay = corners[i, 0], corners[i, 1]
        bx, by = corners[j, 0] - ax, corners[j, 1] - ay
        cx, cy = corners[k, 0] - ax, corners[k, 1] - ay
        area = bx * cy - by * cx
        if abs(area) < 1e-9 or (alphas[m] < 1.0 and area > 0.0):  # of what is translucent only the front is seen
            continue
        top, bottom = max(ay + min(0.0, by, cy), 0.0), min(ay + max(0.0, by, cy), height - 1.0)
        for y in range(int(top), int(bottom) + 1):
            py = y + 0.5 - ay
            # the shares of the second and the third corner are linear along the row, and the first has the rest
            b0, db, c0, dc = -py * cx / area, cy / area, py * bx / area, -by / area
            low, high = _within(db, b0, -0.5 - ax, width - 0.5 - ax)
            low, high = _within(dc, c0, low, high)
            low, high = _within(-db - dc, 1.0 - b0 - c0, low, high)
            for x in range(max(int(np.ceil(low + ax - 0.5)), 0), min(int(np.ceil(high + ax - 0.5)), width)):
                px = x + 0.5 - ax
                b, c = b0 + db * px, c0 + dc * px
                a = 1.0 - b - c
                z = a * corners[i, 2] + b * corners[j, 2] + c * corners[k, 2]
                if z <= depth[y, x]:
                    continue
                nx = a * normals[i, 0] + b * normals[j, 0] + c * normals[k, 0]
                ny = a * normals[i, 1] + b * normals[j, 1] + c * normals[k, 1]
                nz = a * normals[i, 2] + b * normals[j, 2] + c * normals[k, 2]
                size = np.sqrt(nx * nx + ny * ny + nz * nz)
                bright, shine = 1.0, 0.0
                if size > 0.0:
                    side = 1.0 if nz >= 0.0 else -1.0
                    lit = side * (nx * light[0] + ny * light[1] + nz * light[2]) / size
                    bright = ambient + (1.0 - ambient) * max(lit, 0.0)
                    shine = 0.16 * max(2.0 * lit * side * nz / size - light[2], 0.0) ** 24
                for channel in range(3):
                    value = bright * colours[m, channel] + shine
                    colour[y, x, channel] += alphas[m] * (value - colour[y, x, channel])
                if alphas[m] >= 1.0:
                    depth[y, x] = z
                    owner[y, x] = owners[m]
