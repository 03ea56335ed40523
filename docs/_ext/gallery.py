"""How the examples become a gallery."""

sphinx_gallery_conf = {
    "examples_dirs": "_ext/sample",
    "gallery_dirs": "auto_examples",
    "plot_gallery": False,
    "reset_modules": (),
}
