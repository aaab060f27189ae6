"""Sphinx configuration."""

import kempe

project = "Kempe"
author = "the Kempe developers"
release = kempe.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
html_theme = "pydata_sphinx_theme"
html_title = "Kempe"
exclude_patterns = ["_build"]
autodoc_typehints = "description"
suppress_warnings = ["myst.header"]
