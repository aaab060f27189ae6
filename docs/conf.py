"""Sphinx configuration."""

import sys
from pathlib import Path

import kempe

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Kempe"
author = "the Kempe developers"
copyright = "the Kempe developers"
release = kempe.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "methods",
    "tutorial",
]
exclude_patterns = ["_build"]
suppress_warnings = ["myst.header"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # signatures show them
autodoc_member_order = "bysource"
autosummary_generate = False
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "ignore_pattern": r"demo\.py",
    "image_scrapers": ("pictures.collect",),
    "within_subsection_order": "pictures.place",
    "copyfile_regex": r"^$",
    "reset_modules": (),
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "thumbnail_size": (400, 300),
}

html_theme = "pydata_sphinx_theme"
html_title = "Kempe"
html_static_path = ["_static"]
html_css_files = ["kempe.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
