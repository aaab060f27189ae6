"""The directive ``methods``: a table of the methods of ``simulate``, made of ``kempe.METHODS``."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import kempe


class Methods(SphinxDirective):
    """Name, what it is, and its options with their defaults."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        rows = ["| `method=` | what it is | options |", "|---|---|---|"]
        for method in kempe.METHODS.values():
            options = ", ".join(f"`{key}={value!r}`" for key, value in method.options.items())
            rows.append(f"| `{method.name}` | {method.summary} | {options or '-'} |")
        return self.parse_text_to_nodes("\n".join(rows))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect it to Sphinx."""
    app.add_directive("methods", Methods)
    return {"parallel_read_safe": True}
