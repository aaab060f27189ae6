"""A motion in space live in a browser, by viser: turned, paused and gone through with a slider."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from scipy.spatial.transform import Rotation

from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.view.camera import View, camera, level
from kempe.view.meshes import Mesh, placed
from kempe.view.photograph import floor_of
from kempe.view.pictures import history, in_space, motion_scene
from kempe.view.scene import Label, Piece, Scene
from kempe.view.style import colour


def show(
    model: Model,
    result: Result,
    *,
    trace: Sequence[str] | str = (),
    view: View = None,
    seconds: float = 6.0,
    port: int = 8080,
    wait: bool | None = None,
) -> Live:
    """Show a motion in space at http://localhost:8080 (or the next free port), until ``stop()`` is called.

    ``trace`` names points whose paths are drawn, ``view`` is the first view, as in :func:`draw`; the whole motion takes
    ``seconds``. It needs the package viser: ``pip install kempe[viser]``. With ``wait`` the call returns when the
    program is interrupted.
    """
    if not in_space(model):
        raise ModelError(f"'{model.name}' is in the plane: show is for mechanisms in space; use animate or report")
    paths = [history(result, name, model) for name in ([trace] if isinstance(trace, str) else trace)]
    live = Live(_viser(), motion_scene(model, result), result.t, paths, model.name, view, seconds, port)
    if wait:
        live.wait()
    return live


def _viser() -> Any:
    try:
        import viser
    except ImportError as error:
        raise ModelError("show needs the package viser, which is not installed: pip install kempe[viser]") from error
    return viser


class Live:
    """A scene on a server: ``go(row)`` shows an instant, ``stop()`` ends it."""

    def __init__(
        self,
        viser: Any,
        scene: Scene,
        t: np.ndarray,
        paths: Sequence[np.ndarray],
        title: str,
        view: View,
        seconds: float,
        port: int,
    ) -> None:
        self.scene, self.t, self.seconds = scene, t, seconds
        self.row = 0
        self._ended = threading.Event()
        self.server = viser.ViserServer(host="127.0.0.1", port=port, label=title, verbose=False)
        self._set(view, paths)
        self._rigid = [_is_rigid(scene.frames[:, k]) for k in range(scene.frames.shape[1])]
        self._frames: dict[int, Any] = {}
        self._soft: list[tuple[Any, Piece]] = []
        for k, piece in enumerate(scene.pieces):
            self._add(k, piece)
        self._names = [self._name(k, label) for k, label in enumerate(scene.labels)]
        self._controls()
        self.go(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it is seen."""
        return f"http://localhost:{self.server.get_port()}"

    # --- what is there --------------------------------------------------------------------------------------------

    def _set(self, view: View, paths: Sequence[np.ndarray]) -> None:
        """The upright direction, the floor, the paths, and where the eye is."""
        scene, extent = self.scene, self.scene.extent
        self.server.scene.set_up_direction(scene.up)
        lines = np.stack(floor_of(scene, level(scene.up), extent).lines())
        self.server.scene.add_line_segments("/floor", lines, (215, 217, 222), thickness=1.0, thickness_units="screen")
        for k, path in enumerate(paths):
            strokes = np.stack([path[:-1], path[1:]], axis=1)
            self.server.scene.add_line_segments(
                f"/path {k}", strokes, _bytes(colour(k)), thickness=2.0, thickness_units="screen"
            )
        middle = (extent.min(axis=0) + extent.max(axis=0)) / 2.0
        eye = camera(view, scene.up, middle).axes[2]
        start = self.server.initial_camera
        start.look_at = middle
        start.position = middle + 1.1 * float(np.linalg.norm(np.ptp(extent, axis=0))) * eye

    def _add(self, k: int, piece: Piece) -> None:
        """A solid on the frame of its part; one whose frame is stretched is made anew at every instant."""
        mesh = placed(self.scene.meshes[piece.mesh], piece.place)
        if self._rigid[piece.frame]:
            if piece.frame not in self._frames:
                self._frames[piece.frame] = self.server.scene.add_frame(f"/frame {piece.frame}", show_axes=False)
            self._mesh(f"/frame {piece.frame}/{k}", mesh, piece)
        else:
            self._soft.append((self._mesh(f"/soft {k}", mesh, piece), piece))

    def _mesh(self, name: str, mesh: Mesh, piece: Piece) -> Any:
        return self.server.scene.add_mesh_simple(
            name,
            mesh.vertices.astype(np.float32),
            mesh.triangles.astype(np.uint32),
            color=_bytes(piece.colour),
            opacity=None if piece.alpha >= 1.0 else piece.alpha,
            side="double",
        )

    def _name(self, k: int, label: Label) -> tuple[Any, int, str]:
        handle = self.server.scene.add_label(f"/name {k}", label.text, visible=label.kind == "part")
        return handle, label.points[0], label.kind

    def _controls(self) -> None:
        gui, last = self.server.gui, max(len(self.t) - 1, 1)
        self._playing = gui.add_checkbox("play", initial_value=len(self.t) > 1)
        self._slider = gui.add_slider("row", min=0, max=last, step=1, initial_value=0)
        self._speed = gui.add_slider("speed", min=0.1, max=4.0, step=0.1, initial_value=1.0)
        self._clock = gui.add_text("t", initial_value="", disabled=True)
        names = gui.add_checkbox("names", initial_value=True)
        joints = gui.add_checkbox("joints", initial_value=False)

        @self._slider.on_update
        def _(event: Any) -> None:
            if event.client is not None:  # a person's hand, not the player's
                self._playing.value = False
                self.go(int(self._slider.value))

        for box, part in ((names, True), (joints, False)):
            box.on_update(lambda _, box=box, part=part: self._label(box.value, part))

    def _label(self, seen: bool, parts: bool) -> None:
        for handle, _, kind in self._names:
            if (kind == "part") == parts:
                handle.visible = seen

    # --- time -----------------------------------------------------------------------------------------------------

    def go(self, row: int) -> None:
        """Show an instant."""
        self.row = int(np.clip(row, 0, len(self.t) - 1))
        frames = self.scene.frames[self.row]
        with self.server.atomic():
            for number, handle in self._frames.items():
                handle.position = frames[number, :, 3]
                handle.wxyz = Rotation.from_matrix(frames[number, :, :3]).as_quat(scalar_first=True)
            for handle, piece in self._soft:
                frame = frames[piece.frame]
                there = frame[:, :3] @ piece.place
                there[:, 3] += frame[:, 3]
                handle.vertices = placed(self.scene.meshes[piece.mesh], there).vertices.astype(np.float32)
            for handle, point, _ in self._names:
                handle.position = self.scene.where(point)[self.row]
            self._clock.value = f"{self.t[self.row]:.6g}"

    def _run(self) -> None:
        """Play until it is stopped, as often as the motion ends."""
        began, now = time.monotonic(), float(self.t[0])
        span = float(self.t[-1] - self.t[0])
        while not self._ended.wait(1.0 / 30.0):
            passed, began = time.monotonic() - began, time.monotonic()
            if not self._playing.value or span <= 0.0:
                now = float(self.t[self.row])
                continue
            now += self._speed.value * passed * span / self.seconds
            if now > self.t[-1]:
                now = float(self.t[0])
            row = int(np.abs(self.t - now).argmin())
            if row != self.row:
                self.go(row)
                self._slider.value = row

    def wait(self) -> None:
        """Stay until the program is interrupted."""
        try:
            while not self._ended.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        """End it."""
        self._ended.set()
        self._thread.join(timeout=2.0)
        self.server.stop()

    def _repr_html_(self) -> str:
        look = "width:100%;height:600px;border:1px solid #ccc;border-radius:8px"
        return f'<iframe src="{self.url}" style="{look}"></iframe>'


def _is_rigid(frames: np.ndarray) -> bool:
    """Whether the axes of a frame stay orthogonal and of unit length."""
    axes = frames[:, :, :3]
    return bool(np.abs(np.einsum("tij,tik->tjk", axes, axes) - np.eye(3)).max() < 1e-3)


def _bytes(hue: str) -> tuple[int, int, int]:
    red, green, blue = (round(255 * c) for c in to_rgb(hue))
    return red, green, blue
