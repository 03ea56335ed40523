"""The gallery: every example reads alike, runs, and draws; its notebooks and pages can be made.

Nothing here asserts seconds: ``pytest tests/test_gallery.py --durations=0`` prints them.
"""

import ast
import functools
import importlib.util
import json
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from helpers.spark import SPARK, need_spark
from shoal.plotting import Picture

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "examples/gallery"
SETTINGS = ROOT / "docs/_ext/gallery.py"
SCRIPTS = sorted(GALLERY.glob("*/*.py"))
SPARK_JOB = GALLERY / "central/plot_spark_job.py"
LONG = [
    GALLERY / "central/plot_pipelines.py",
    GALLERY / "local/plot_two_rounds.py",
    GALLERY / "research/plot_compare_your_file.py",
]
TITLE = re.compile(r'\A# %% \[markdown\]\n"""\n(.+)\n(=+)\n\n((?:.+\n)+)"""\n\n# %%\n')
PROMISE = re.compile(r"(differential|metric) privacy with epsilon = ")
SAID = {  # what some examples are about
    "plot_audit_catches_a_bug": "BROKEN",
    "plot_compare_your_file": "At a worst-case epsilon of 4",
    "plot_quarterly_budget": "release 5 refused",
    "plot_spark_job": "the same bits from Spark: True",
}
# One a trust model, offered as notebooks; the rest can be converted in the same way.
NOTEBOOKS = (
    "central/plot_customer_segments.py",
    "local/plot_homes_on_a_map.py",
    "shuffled/plot_shuffled_batch.py",
)


def examples(*, run=False):
    """List the examples as parameters; those that take long are run by `make docs` too."""
    marks = {SPARK_JOB: [SPARK, pytest.mark.full]} | dict.fromkeys(LONG, pytest.mark.full)
    return [
        pytest.param(script, id=script.stem, marks=marks.get(script, ()) if run else ())
        for script in SCRIPTS
    ]


@functools.cache
def settings():
    """Load the settings of the gallery, as docs/conf.py does."""
    spec = importlib.util.spec_from_file_location("gallery", SETTINGS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script, monkeypatch, tmp_path):
    """Run an example in an empty folder; return its pictures."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = runpy.run_path(str(script), run_name="__main__")
    assert not list(folder.iterdir()), "an example leaves nothing behind"
    return [value for value in made.values() if isinstance(value, Picture)]


def test_the_gallery_has_every_example_in_order():
    listed = [f"{section}/{name}" for section, names in settings().ORDER.items() for name in names]
    assert sorted(listed) == [script.relative_to(GALLERY).as_posix() for script in SCRIPTS]
    assert len(listed) >= 15
    for section in settings().ORDER:
        assert (GALLERY / section / "GALLERY_HEADER.rst").exists()


@pytest.mark.parametrize("script", examples())
def test_an_example_says_what_the_reader_learns(script):
    text = script.read_text(encoding="utf-8")
    title, underline, intro = TITLE.match(text).groups()
    assert len(underline) == len(title)
    assert 2 <= len(re.findall(r"[.?](?=\s)", intro)) <= 3
    assert "You learn" in intro
    lines = [line for line in text.splitlines() if line and not line.startswith("# %%")]
    assert 25 <= len(lines) <= 70


@pytest.mark.parametrize("script", examples())
def test_noise_is_seeded_only_where_the_text_says_what_a_seed_does(script):
    text = script.read_text(encoding="utf-8")
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    seeded = [
        ast.unparse(call.func)
        for call in calls
        if any(one.arg in ("random_state", "seed") for one in call.keywords)
        and not ast.unparse(call.func).startswith("make_")  # makes up records
    ]
    assert not seeded or re.search(r"seed\b.*\bvoids?\b", text.replace("\n# ", " ")), seeded


@pytest.mark.parametrize("script", examples(run=True))
def test_an_example_runs_and_draws(script, capsys, monkeypatch, tmp_path):
    if script == SPARK_JOB:
        need_spark()
    pictures = run(script, monkeypatch, tmp_path)
    output = capsys.readouterr().out
    assert PROMISE.search(output) or script.stem == "plot_compare_your_file"  # releases nothing
    assert SAID.get(script.stem, "") in output
    assert pictures


def test_the_spark_job_says_what_is_missing(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert run(SPARK_JOB, monkeypatch, tmp_path)
    output = capsys.readouterr().out
    assert "Spark cannot run here" in output
    assert "Java" in output


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_an_example_becomes_a_notebook(name):
    """The code cells of the notebook are the code of the script, in order."""
    jupytext = pytest.importorskip("jupytext", reason="needs jupytext: pip install jupytext")
    text = (GALLERY / name).read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt="py")
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    words = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert "\n".join(cells).split() == _code_of(text).split()
    assert words[0].splitlines()[1].startswith("===")
    assert not any('"""' in one or one.startswith("#") for one in words)


def _code_of(text):
    """Return a script without its cells of text."""
    cells = re.split(r"^# %%", text, flags=re.MULTILINE)[1:]
    return "\n".join(cell for cell in cells if not cell.startswith(" [markdown]"))


CONF = """
import sys
sys.path[:0] = [{folder!r}]
import gallery
extensions = ["sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
sphinx_gallery_conf = {{
    **gallery.sphinx_gallery_conf,
    "examples_dirs": ["../examples"],
    "subsection_order": None,
    "within_subsection_order": "FileNameSortKey",
}}
"""
INDEX = """
Site
====

.. toctree::

   auto_examples/index

.. minigallery:: shoal.plotting.draw_bars
"""
EXAMPLE = '''# %% [markdown]
"""
Two pictures
============

One of records, one of a release. You learn nothing.
"""

# %%
from shoal.plotting import draw_bars, draw_scatter

print("epsilon")
records = draw_scatter({"records": [[0.0, 1.0], [1.0, 0.0], [0.4, 0.2]]})
records

# %% [markdown]
# Words between them.

# %%
released = draw_bars({"mechanism": ["Laplace"], "ami": [0.4]}, value="ami")
again = released
released
'''


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the pages of one example with Sphinx, and return their folder."""
    pytest.importorskip("sphinx_gallery", reason="needs sphinx-gallery: pip install --group docs")
    site = tmp_path_factory.mktemp("site")
    scripts, pages = site / "examples", site / "docs"
    scripts.mkdir()
    pages.mkdir()
    (scripts / "GALLERY_HEADER.rst").write_text("Examples\n========\n", encoding="utf-8")
    (scripts / "plot_two.py").write_text(EXAMPLE, encoding="utf-8")
    (pages / "conf.py").write_text(CONF.format(folder=str(SETTINGS.parent)), encoding="utf-8")
    (pages / "index.rst").write_text(INDEX, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", pages, pages / "html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return pages


@pytest.mark.full
def test_the_scraper_saves_each_picture_once(built):
    image = pytest.importorskip("PIL.Image")
    images = built / "auto_examples/images"
    names = {f"sphx_glr_plot_two_00{end}.png" for end in ("1", "1_2_00x", "2", "2_2_00x")}
    assert {file.name for file in images.glob("*.*")} == names
    assert (images / "thumb/sphx_glr_plot_two_thumb.png").exists()
    for number in "12":
        with (
            image.open(images / f"sphx_glr_plot_two_00{number}.png") as plain,
            image.open(images / f"sphx_glr_plot_two_00{number}_2_00x.png") as sharp,
        ):
            assert abs(2 * plain.width - sharp.width) <= 1
            assert plain.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.full
def test_pages_show_pictures_where_they_are_made(built):
    page = (built / "html/auto_examples/plot_two.html").read_text(encoding="utf-8")
    assert page.index("_001.png") < page.index("Words between them") < page.index("_002.png")
    assert "Picture(panels" not in page
    assert 'alt="Two pictures"' in page
    assert "plot_two.ipynb" in page
    front = (built / "html/index.html").read_text(encoding="utf-8")
    assert "sphx_glr_plot_two_thumb" in front, "a mini-gallery of what uses a function"
    notebook = json.loads((built / "auto_examples/plot_two.ipynb").read_text(encoding="utf-8"))
    assert any("draw_bars" in "".join(cell["source"]) for cell in notebook["cells"])
