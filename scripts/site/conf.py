# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Sphinx configuration of the documentation site; scripts/build_site calls it."""

import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))

project = "mixcert"
author = "the mixcert authors"
release = re.search(r"VERSION\s+(\d+\.\d+\.\d+)", (here.parents[1] / "CMakeLists.txt").read_text()).group(1)
version = release
copyright = "the mixcert authors, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.mathjax", "theory_pages"]
myst_heading_anchors = 4
smartquotes = False
highlight_language = "none"
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
exclude_patterns = []

html_theme = "furo"
html_title = "mixcert"
html_static_path = [str(here / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG"
mathjax_options = {"defer": "defer"}
mathjax2_config = {
    "showProcessingMessages": False,
    "messageStyle": "none",
    "tex2jax": {"inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]], "processClass": "math",
                "ignoreClass": "document"},
    "SVG": {"linebreaks": {"automatic": True, "width": "86% container"}, "blacker": 1, "scale": 96},
    "menuSettings": {"zoom": "None"},
    "showMathMenu": False,
    "displayAlign": "left",
    "displayIndent": "1em",
}  # fmt: skip
