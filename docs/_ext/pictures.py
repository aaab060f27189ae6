"""What the gallery shows of an example: the pictures and animations that it writes to ``out/``, and its place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageChops
from sphinx_gallery.scrapers import figure_rst

OUT = Path(__file__).parents[2] / "examples" / "out"

#: What comes first, in this order; the others follow by name.
FIRST = ("scissor_lift", "toggle_clamp", "excavator", "cam_lift_off", "v_twin_engine", "jansen_leg", "four_bar")


def _written() -> dict[Path, float]:
    return {path: path.stat().st_mtime for path in OUT.glob("*") if path.suffix in (".gif", ".png")}


class Pictures:
    """Collects what was written since it looked last, animations first."""

    def __init__(self) -> None:
        self.seen = _written()

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        """The new pictures, copied to where the gallery wants them, as RST."""
        now = _written()
        new = [path for path, time in now.items() if self.seen.get(path) != time]
        self.seen = now
        targets = []
        for path in sorted(new, key=lambda path: (path.suffix, path.name)):
            target = Path(next(block_vars["image_path_iterator"])).with_suffix(path.suffix)
            shutil.copyfile(path, target)
            if path.suffix == ".gif":
                _still(target)
            targets.append(str(target))
        return figure_rst(targets, gallery_conf["src_dir"])


def _still(animation: Path) -> None:
    """One frame beside an animation, without title and axes, of which the gallery makes its thumbnail.

    (Thirty of them moving on one page are too many.)
    """
    with Image.open(animation) as film:
        film.seek(film.n_frames // 3)
        frame = film.convert("RGB")
    inked = np.asarray(frame.convert("L")) < 230
    lines = [max(_runs(column), key=len, default=column[:0]) for column in inked[:, : frame.width // 2].T]
    axis = max(range(len(lines)), key=lambda k: len(lines[k]))  # the vertical axis: the longest line on the left
    above = int(lines[axis][-1]) - 8  # (the unit at the end of the other axis is as high as this)
    inside = frame.crop((axis + 3, int(lines[axis][0]), frame.width, above))
    drawn = ImageChops.difference(inside, Image.new("RGB", inside.size, "white")).getbbox()
    inside.crop(drawn).save(animation.with_suffix(".png"))


def _runs(column: np.ndarray) -> list[np.ndarray]:
    """Rows of a column that are inked without a gap."""
    rows = np.flatnonzero(column)
    return np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)


collect = Pictures()


def place(filename: str) -> tuple[int, str]:
    """Where an example stands in the gallery."""
    stem = Path(filename).stem
    return FIRST.index(stem) if stem in FIRST else len(FIRST), stem
