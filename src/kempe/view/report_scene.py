"""What the page of a report is given of a mechanism in space: its surfaces once, the scene of each of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_hex

from kempe.view.camera import level
from kempe.view.photograph import floor_of
from kempe.view.scene import Label, Piece, Scene, outermost


def scene_told(scene: Scene) -> dict[str, Any]:
    """A scene without what moves: its solids, names, floor, and what can be traced."""
    axes, extent = level(scene.up), scene.extent
    floor = floor_of(scene, axes, extent)
    seen = np.concatenate([extent, *floor.lines()])
    return {
        "corners": [rounded(corner) for corner in outermost(seen)],
        "level": axes.tolist(),
        "size": scene.size,
        "thick": scene.thick,
        "floor": {
            "height": floor.height,
            "pitch": floor.pitch,
            "lines": rounded(np.concatenate(floor.lines()).ravel()),
        },
        "pieces": [_piece(piece) for piece in scene.pieces],
        "points": [[frame, *rounded(at)] for frame, at in scene.points],
        "names": [_name(label) for label in scene.labels if label.kind != "vector"],
        "traces": {name: k for name, k in scene.paths.items() if _moves(scene, k)},
        "pins": sorted({label.points[0] for label in scene.labels if label.kind == "joint"}),
        "supports": [],
        "blocks": [],
        "colours": scene.colours,
    }


def meshes_told(scenes: Iterable[Scene], block: Any) -> dict[str, dict[str, list[int]]]:
    """The surfaces that scenes use, each once; their numbers go into the block."""
    told: dict[str, dict[str, list[int]]] = {}
    for scene in scenes:
        used = {"cylinder", "cone", *(piece.mesh for piece in scene.pieces)}
        for name in sorted(used - set(told)):
            mesh = scene.meshes[name]
            parts = {"vertices": mesh.vertices, "normals": mesh.normals, "triangles": mesh.triangles}
            told[name] = {key: block.add(values) for key, values in parts.items()}
    return told


def _piece(piece: Piece) -> dict[str, Any]:
    """A solid; its place column by column."""
    told = {"mesh": piece.mesh, "frame": piece.frame, "place": rounded(piece.place.T.ravel()), "layer": piece.layer}
    return told | {"colour": to_hex(piece.colour), "alpha": piece.alpha, "owner": piece.owner}


def _name(label: Label) -> dict[str, Any]:
    told: dict[str, Any] = {"text": label.text, "at": label.points}
    return told | ({"colour": "dark", "joint": True} if label.kind != "part" else {"colour": to_hex(label.colour)})


def _moves(scene: Scene, point: int) -> bool:
    return float(np.ptp(scene.where(point), axis=0).max()) > 1e-9 * scene.size


def rounded(numbers: Sequence[float] | np.ndarray) -> list[float]:
    """Numbers to seven digits."""
    return [float(f"{value:.7g}") for value in numbers]
