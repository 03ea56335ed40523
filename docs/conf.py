"""The site: ``make docs`` builds it, offline; SHOAL_DOCS_ONLINE=1 also links to other projects."""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from gallery import sphinx_gallery_conf  # noqa: E402, F401
from reference import codes, examples_by_name, full_names, kinds  # noqa: E402

import shoal  # noqa: E402
from shoal._api import PAGES  # noqa: E402

ONLINE = os.environ.get("SHOAL_DOCS_ONLINE") == "1"

project = "shoal"
author = "The shoal developers"
project_copyright = "The shoal developers"
version = release = shoal.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "shoal_site",
    *(["sphinx.ext.intersphinx"] if ONLINE else []),
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_ext", "_templates"]
templates_path = ["_templates"]
nitpicky = True
# Types of other projects have pages there, which only an online build can find.
nitpick_ignore_regex = [] if ONLINE else [(r"py:\w+", r"numpy(\..*)?")]

# One page for each public name, from the template of its kind.
autosummary_generate = True
autosummary_imported_members = True
autosummary_context = {
    "api": {page.module: {**kinds(page), "codes": codes(page)} for page in PAGES},
    "examples": examples_by_name(),
}
autodoc_typehints = "none"  # types are in the sections of numpydoc
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False  # members are written in full on the page of their class
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {**full_names(), "bool": "python:bool"}

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# From npm, one file that fetches nothing else (`make docs` puts it there).
mathjax_path = "tex-svg.js"
html_static_path = ["_static", "../build/mathjax"]
html_css_files = ["shoal.css"]
html_theme = "pydata_sphinx_theme"
html_title = "shoal"
html_logo = html_favicon = "../src/shoal/studio/pages/shoal.svg"  # as the studio's
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"start": [], "choose": [], "benchmarks": [], "experiments": []}
html_theme_options = {
    "logo": {"text": "shoal"},
    "header_links_before_dropdown": 9,
    "navbar_align": "left",
    "show_nav_level": 1,
    "navigation_depth": 3,
    "collapse_navigation": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

linkcheck_anchors = False
linkcheck_retries = 2
linkcheck_timeout = 20

if ONLINE:
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "polars": ("https://docs.pola.rs/api/python/stable", None),
        "opendp": ("https://docs.opendp.org/en/stable", None),
    }
