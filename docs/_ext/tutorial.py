"""Runs the code of the tutorial before its page is built: the pictures it shows are those that the code writes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def blocks(page: Path) -> list[str]:
    """The Python code of a page, block by block."""
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def draw(app: Sphinx) -> None:
    """Run the tutorial in a folder of its own, unless that was done with the same code before."""
    page, folder = Path(app.srcdir, "tutorial.md"), Path(app.srcdir, "tutorial_out")
    code = "\n".join(blocks(page))
    digest, mark = hashlib.sha256(code.encode()).hexdigest(), folder / "digest"
    if mark.exists() and mark.read_text() == digest:
        return
    folder.mkdir(exist_ok=True)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, str(page), "exec"), {"__name__": "tutorial"})
    mark.write_text(digest)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect it to Sphinx."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True}
