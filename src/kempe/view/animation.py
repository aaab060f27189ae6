"""A motion as an animated GIF, a film, or a folder of pictures."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from kempe.disk import as_path, replacing, told
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.view.camera import View
from kempe.view.drawing import Drawing
from kempe.view.margin import Clock, room, write_length, write_scales
from kempe.view.painter import Painter, canvas
from kempe.view.pictures import history, in_space, motion_drawing, motion_scene, plane_only
from kempe.view.report import motion_page
from kempe.view.shown import ShownFile
from kempe.view.space_loads import add_space_vectors
from kempe.view.space_pictures import frames as space_frames
from kempe.view.style import colour, filled
from kempe.view.vectors import add_vectors, vectors_of


def animate(
    model: Model,
    result: Result,
    path: str | Path,
    *,
    trace: Sequence[str] | str = (),
    frames: int = 90,
    seconds: float = 3.0,
    vectors: Sequence[str] | str = (),
    scale: Mapping[str, float] | None = None,
    dpi: float = 96,
    title: str = "",
    view: View = None,
) -> Path:
    """A motion as a GIF, as an MP4 (with ffmpeg), or as numbered PNG files in a folder when ``path`` has no suffix.

    With the suffix .html it is a page that plays it and needs no network; a mechanism in space can be turned there.

    ``trace`` names points whose paths are drawn (as in :func:`path`). ``vectors`` are shown as arrows: "B.force" is
    what a joint, spring, load or driver exerts on its second part, "B.moment" its moment, "foot" (or "foot.velocity")
    the velocity of a point, body or joint, "foot.acceleration" its acceleration. Arrows of one kind have one scale,
    which stands below; ``scale`` may say how long one unit is drawn ({"force": 1e-3}). Of the result at most ``frames``
    times are shown, evenly spread, in ``seconds`` altogether. ``title`` stands above (the model's name if not given).
    ``view`` says from where a mechanism in space is seen, as in :func:`draw`.
    """
    target = as_path(path)
    plane_only(model, view)
    names = [trace] if isinstance(trace, str) else list(trace)
    if target.suffix.lower() == ".html":
        forces = bool(vectors_of(model, result, vectors))
        seen: dict[str, Any] = {"traces": names, "forces": forces, "view": view}
        return motion_page(model, filled(result), target, seconds=seconds, title=title, **seen)
    write = _writer(target)
    if not (frames >= 1 and seconds > 0):
        raise ModelError(f"animate: frames and seconds must be above zero, not {frames!r} and {seconds!r}")
    rows, pace = _chosen(filled(result).t, int(frames), float(seconds))
    paths = [history(result, name, model) for name in names]
    if in_space(model):
        scene = motion_scene(model, result)
        add_space_vectors(scene, vectors_of(model, result, vectors), scale)
        scene.keep(rows)
        write(target, space_frames(model, scene, result, result.t[rows], title or model.name, view, paths, dpi), pace)
        return ShownFile(target)
    # guides and arrows are as long as the whole motion needs, so everything is placed before frames are chosen
    drawing = motion_drawing(model, result)
    add_vectors(drawing, vectors_of(model, result, vectors), scale)
    drawing.points = drawing.points[rows]
    write(target, _pictures(model, drawing, title or model.name, paths, result, rows, dpi), pace)
    return ShownFile(target)


def _chosen(t: np.ndarray, frames: int, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows evenly spread in time, and for how many hundredths of a second each is shown."""
    rows = np.arange(len(t))
    if frames < len(t):
        wanted = np.linspace(t[0], t[-1], frames)
        after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
        rows = np.unique(after - (wanted - t[after - 1] < t[after] - wanted))
    hold = np.diff(t[rows])
    hold = np.append(hold, hold.mean()) if len(hold) and hold.sum() > 0 else np.ones(len(rows))
    ticks = np.round(np.concatenate([[0.0], np.cumsum(hold)]) / hold.sum() * seconds * 100.0).astype(int)
    return rows, np.fmax(np.diff(ticks), 1)


def _pictures(
    model: Model,
    drawing: Drawing,
    title: str,
    paths: Sequence[np.ndarray],
    result: Result,
    rows: np.ndarray,
    dpi: float,
) -> Iterator[Image.Image]:
    """One picture per frame: what stands still is drawn once, what moves is drawn over it."""
    figure, axes, unit = canvas(drawing, title, np.concatenate(paths) if paths else None, room(drawing, clock=True))
    figure.set_dpi(dpi)
    agg = FigureCanvasAgg(figure)
    for k, where in enumerate(paths):
        axes.plot(*where.T, color=colour(k), linewidth=1.0, alpha=0.8, zorder=0.9)
    painter = Painter(axes, drawing, unit)
    write_length(axes, model)
    write_scales(axes, drawing, result)
    clock = Clock(axes, result)
    clock.show(float(result.t[-1]))  # it takes as much room as it will need
    moving: list[Any] = sorted([*painter.artists, clock.text], key=lambda artist: artist.get_zorder())
    for artist in moving:
        artist.set_animated(True)
    agg.draw()
    figure.set_layout_engine("none")
    still = agg.copy_from_bbox(figure.bbox)
    for frame, t in enumerate(result.t[rows]):
        agg.restore_region(still)
        painter.show(frame)
        clock.show(float(t))
        for artist in moving:
            axes.draw_artist(artist)
        yield Image.fromarray(np.asarray(agg.buffer_rgba())[..., :3].copy())


# --- writing ----------------------------------------------------------------------------------------------------------

Writer = Callable[[Path, Iterable[Image.Image], np.ndarray], None]


def _writer(target: Path) -> Writer:
    """What writes a path with this suffix; errors come before any work."""
    kind = target.suffix.lower()
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise ModelError(f"'{target.name}' needs the program ffmpeg, which is not installed; write a .gif instead")
    if kind == "" and target.exists() and not target.is_dir():
        raise ModelError(f"'{target}' is a file; frames need a folder")
    writers: dict[str, Writer] = {".gif": _gif, ".mp4": _film, "": _folder}
    if kind not in writers:
        raise ModelError(
            f"cannot animate to '{target.name}': use .gif, .mp4, .html, or no suffix for a folder of PNG frames"
        )
    return writers[kind]


def _gif(target: Path, pictures: Iterable[Image.Image], pace: np.ndarray) -> None:
    """One palette for all frames, that of the first, so that nothing flickers."""
    palette = np.zeros((0, 3))
    table = np.full(1 << 24, 255, dtype=np.uint8)  # which entry stands for a colour, filled as colours are met
    flat: list[Image.Image] = []
    for picture in pictures:
        page = _codes(picture)
        if not flat:
            palette = _palette(page)
        unmet = np.unique(page[table[page] == 255])
        if len(unmet):
            table[unmet] = ((_channels(unmet)[:, None] - palette[None]) ** 2).sum(axis=2).argmin(axis=1)
        image = Image.frombytes("P", picture.size, table[page].tobytes())
        image.putpalette(palette.astype(np.uint8).tobytes())
        flat.append(image)
    with replacing(target) as fresh:
        durations = [int(10 * hundredths) for hundredths in pace]
        flat[0].save(
            fresh, format="GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0, optimize=False
        )


def _codes(picture: Image.Image) -> np.ndarray:
    """Each pixel's colour as one number."""
    pixels = np.asarray(picture).astype(np.int32)
    return pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]


def _channels(codes: np.ndarray) -> np.ndarray:
    return np.column_stack([codes >> 16, codes >> 8 & 255, codes & 255])


def _palette(codes: np.ndarray) -> np.ndarray:
    """At most 255 colours: the commonest as they are, and the best for all the shades between."""
    seen, counts = np.unique(codes, return_counts=True)
    common = _channels(seen[np.argsort(counts)[::-1][:64]])
    shades = Image.fromarray(_channels(seen).astype(np.uint8)[None]).quantize(190).getpalette() or []
    return np.unique(np.concatenate([common, np.reshape(shades, (-1, 3))]), axis=0)[:255]


def _folder(target: Path, pictures: Iterable[Image.Image], pace: np.ndarray) -> None:
    """Numbered pictures; the frames of an earlier, longer run do not stay behind."""
    with told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=".kempe-frames-"))
        try:
            for k, picture in enumerate(pictures):
                picture.save(fresh / f"frame_{k:04d}.png")
            target.mkdir(exist_ok=True)
            for old in target.glob("frame_[0-9][0-9][0-9][0-9].png"):
                old.unlink()
            for picture_file in sorted(fresh.iterdir()):
                os.replace(picture_file, target / picture_file.name)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _film(target: Path, pictures: Iterable[Image.Image], pace: np.ndarray) -> None:
    """Frames piped to ffmpeg, even in time; H.264 in a form that every player shows."""
    rate = len(pace) / (float(pace.sum()) / 100.0)
    with replacing(target) as fresh:
        command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "image2pipe", "-c:v", "png", "-framerate", f"{rate:.6f}"]
        command += ["-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-c:v", "libx264"]
        command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", str(fresh)]
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
            assert process.stdin is not None
            try:
                for picture in pictures:
                    picture.save(process.stdin, format="png", compress_level=1)
                process.stdin.close()
            except BrokenPipeError:
                pass
            if process.wait() != 0:
                said.seek(0)
                raise ModelError(
                    f"ffmpeg could not write '{target.name}': {said.read().decode(errors='replace')[-500:]}"
                )
