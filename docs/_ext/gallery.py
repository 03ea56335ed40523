"""The gallery of examples: settings of sphinx-gallery, and the scraper of our pictures.

``docs/conf.py`` puts this folder on ``sys.path``, adds ``"sphinx_gallery.gen_gallery"`` to its
extensions, and takes ``sphinx_gallery_conf`` from here. The gallery is ``auto_examples/index``, and
``.. minigallery:: shoal.DPKMeans`` on any page shows the examples that use an object.

A code block shows each :class:`shoal.plotting.Picture` that is new in it, as a PNG image: pictures
of records may be saved in no other way, and the white ground that an image brings along is right in
light and in dark.
"""

import io
from pathlib import Path
from typing import Any

from shoal.plotting import Picture

__all__ = ["ORDER", "position_in_order", "scrape_pictures", "sphinx_gallery_conf"]

EXAMPLES = "../examples/gallery"  # as seen from docs/
SHARP = 2.0  # pixels of a Picture's PNG for each unit of its chart

# Sections, and their examples, as a reader meets them.
ORDER = {
    "central": (
        "plot_customer_segments.py",
        "plot_what_epsilon_buys.py",
        "plot_quarterly_budget.py",
        "plot_city_shapes.py",
        "plot_spirals.py",
        "plot_word_topics.py",
        "plot_private_copy.py",
        "plot_pipelines.py",
        "plot_spark_job.py",
    ),
    "local": ("plot_homes_on_a_map.py", "plot_two_rounds.py", "plot_collector.py"),
    "shuffled": ("plot_shuffled_batch.py",),
    "audits": ("plot_audit_catches_a_bug.py", "plot_membership_attack.py"),
    "research": ("plot_compare_your_file.py", "plot_published_and_corrected.py"),
}
_POSITIONS = {name: at for at, name in enumerate(sum(ORDER.values(), ()))}


def position_in_order(name: str) -> int:
    """Return where an example stands; one that is not in the list fails the build."""
    return _POSITIONS[name]


def scrape_pictures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the pictures that a code block made, and return the text that shows them.

    Parameters
    ----------
    block : tuple
        The code block; what it made is known from its variables.
    block_vars : dict
        Of sphinx-gallery: variables of the example, and paths for its images.
    gallery_conf : dict
        Of sphinx-gallery: where the pages are.

    Returns
    -------
    rst : str
        A directive for each image, empty where there is none.
    """
    from PIL import Image  # noqa: PLC0415  comes with sphinx-gallery, which alone calls this
    from sphinx_gallery.scrapers import figure_rst  # noqa: PLC0415

    variables = block_vars["example_globals"]
    shown = variables.setdefault("__shown_pictures__", [])
    text = ""
    for value in list(variables.values()):
        if not isinstance(value, Picture) or any(value is one for one in shown):
            continue
        shown.append(value)
        plain = Path(next(block_vars["image_path_iterator"])).with_suffix(".png")
        sharp = plain.with_name(f"{plain.stem}_2_00x.png")
        sharp.write_bytes(value.to_png())
        with Image.open(io.BytesIO(sharp.read_bytes())) as image:
            size = (round(image.width / SHARP), round(image.height / SHARP))
            image.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(plain)
        paths = [{0: str(plain), SHARP: str(sharp)}]
        title = _title(block_vars["src_file"])
        text += figure_rst([str(plain)], gallery_conf["src_dir"], title, paths)
    return text


def _title(file: str) -> str:
    """Return the title of an example: the first line of its text, for readers who see no image."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line and not line.startswith(("#", '"')))


# Functions are named, not passed: Sphinx keeps the settings of the last build to compare them.
sphinx_gallery_conf = {
    "examples_dirs": [EXAMPLES],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"[/\\]plot_",
    "subsection_order": [f"{EXAMPLES}/{section}" for section in ORDER],
    "within_subsection_order": "gallery.position_in_order",
    "image_scrapers": ["gallery.scrape_pictures"],
    "image_srcset": ["2x"],
    "capture_repr": (),  # a Picture is shown, not printed
    "reset_modules": (),
    "abort_on_example_error": True,
    "doc_module": ("shoal",),
    "backreferences_dir": "auto_examples/backreferences",
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "thumbnail_size": (400, 280),
    "download_all_examples": True,
    "min_reported_time": 0,
    "write_computation_times": False,
    "notebook_extensions": {".py"},
    "first_notebook_cell": '# in a clone: pip install ".[plot]", and the extra that is named',
}
