"""What was met on the way, as a list that a notebook shows as a table."""

from __future__ import annotations

from html import escape
from typing import Any


class Events(list[Any]):
    """The singular positions and switches of a result, in order."""

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no events</p>"
        cells = [(f"{e.t:.6g}", e.kind, e.message) if hasattr(e, "t") else ("", "", str(e)) for e in self]
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        return f"<table><tr><th>t</th><th>kind</th><th>what happens</th></tr>{rows}</table>"
