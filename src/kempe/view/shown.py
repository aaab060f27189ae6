"""Files that a notebook shows by themselves."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path


class ShownFile(type(Path())):  # type: ignore[misc]
    """The path of a report, an animation or a picture, which a notebook shows as what is in the file."""

    def _repr_html_(self) -> str:
        kind = self.suffix.lower()
        if kind == ".html":
            look = "width:100%;height:780px;border:1px solid #ccc;border-radius:8px"
            return f'<iframe srcdoc="{escape(self.read_text(encoding="utf-8"))}" style="{look}"></iframe>'
        types = {".gif": "image/gif", ".png": "image/png", ".mp4": "video/mp4"}
        if kind not in types:  # a folder of frames
            return f"<code>{escape(str(self))}</code>"
        data = f"data:{types[kind]};base64,{base64.b64encode(self.read_bytes()).decode('ascii')}"
        return f'<video src="{data}" controls loop></video>' if kind == ".mp4" else f'<img src="{data}">'
