"""The documentation site: python -m sphinx -W --keep-going -n docs build/docs."""

from __future__ import annotations

import noiseclean_scrapy

project = "noiseclean_scrapy"
copyright = "the noiseclean_scrapy maintainers"
release = noiseclean_scrapy.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
# Links to a heading work as they do on GitHub.
myst_heading_anchors = 4

# Docstrings are written for readers of the code: `name` is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True
# Names of other projects are not linked, so that the site is built without a network.
nitpick_ignore_regex = [("py:.*", r"(?!noiseclean_scrapy\.).*")]

copybutton_prompt_text = "$ "
html_theme = "furo"
html_title = "noiseclean_scrapy"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
