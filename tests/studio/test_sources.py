"""The sources of the pages: nothing that a strict policy refuses, and every import is there."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from helpers.studio import ROOT
from shoal.studio.static_files import PAGE_NAMES

PAGES = ROOT / "src/shoal/studio/pages"
CLIENT = ROOT / "clients/js/src"
MODULES = sorted(PAGES.glob("*.js"))
# What would read text as HTML or code, or needs a policy with `unsafe`.
FORBIDDEN = {
    "HTML from text": r"\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|setHTML"
    r"|createContextualFragment|DOMParser|srcdoc",
    "code from text": r"\beval\b|new Function|\bFunction\(|set(Timeout|Interval)\(\s*[\"'`]",
    "a style in an attribute": r"setAttribute\(\s*[\"']style|\bstyle\s*:\s*[\"'`{]|cssText",
    "an address of another host": r"[\"'`](https?:)?//(?!www\.w3\.org/|collect\.example)[a-z]",
    "what is kept by the browser": r"\bsessionStorage\b|\bindexedDB\b|document\.cookie",
    "a message to another window": r"postMessage\([^)]*[\"']\*[\"']",
}
IMPORT = re.compile(
    r"""(?:\bimport\b|\bfrom\b|\bmodule:|\bimport\()\s*["'](/(?:static|client)/[^"']+)["']"""
)
RELATIVE = re.compile(r"""(?:\bimport\b|\bfrom\b|\bimport\()\s*["'](\.[^"']+)["']""")


@pytest.mark.parametrize("name", FORBIDDEN)
def test_no_page_has(name):
    found = {
        f"{file.name}:{number}": line.strip()
        for file in MODULES
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if re.search(FORBIDDEN[name], line.partition(" // ")[0])
        and not line.lstrip().startswith(("//", "*", "/*"))
    }
    assert found == {}


def test_what_is_forbidden_is_found():
    for name, planted in {
        "HTML from text": "box.innerHTML = name;",
        "code from text": 'setTimeout("go()", 1);',
        "a style in an attribute": 'element("p", { style: "color: red" });',
        "an address of another host": 'fetch("https://cdn.example/x.js");',
        "what is kept by the browser": 'sessionStorage.setItem("a", record);',
        "a message to another window": 'parent.postMessage(rows, "*");',
    }.items():
        assert re.search(FORBIDDEN[name], planted)
    assert not re.search(FORBIDDEN["a style in an attribute"], "box.style.width = `${share}%`;")


def test_the_address_of_a_new_campaign_has_no_signing_key():
    text = (PAGES / "campaignForm.js").read_text()
    (listed,) = re.findall(r"const FIELDS = \[([^]]*)\]", text)
    fields = re.findall(r'"(\w+)"', listed)
    assert {"title", "purpose", "url"} <= set(fields)
    assert "key" not in fields
    reads = [line for line in text.splitlines() if "controls.key.value" in line]
    assert [line for line in reads if "await post(PATH" not in line] == []  # sent, and no more


def test_only_the_theme_is_kept_by_the_browser():
    assert {file.name for file in MODULES if "localStorage" in file.read_text()} == {
        "early.js",
        "theme.js",
    }


def test_documents_have_no_script_or_style_of_their_own():
    for file in PAGES.glob("*.html"):
        text = file.read_text()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text), file.name
        assert not re.search(r"https?://", text), file.name


def test_every_module_that_is_imported_is_there():
    imported = set()
    for file in MODULES:
        text = file.read_text()
        assert not RELATIVE.search(text), f"{file.name} imports by a relative path"
        imported |= set(IMPORT.findall(text))
    assert "/static/api.js" in imported
    imported |= set(
        re.findall(r'(?:src|href)="(/static/[^"]+)"', (PAGES / "index.html").read_text())
    )
    folders = {"static": PAGES, "client": CLIENT}
    missing = set()
    for path in imported:
        _, folder, name = path.split("/", 2)
        if not (folders[folder] / name).is_file():
            missing.add(path)
    assert missing == set()


def test_every_page_of_the_list_is_served_and_there():
    text = (PAGES / "studio.js").read_text()
    listed = re.findall(r'path: "/([^"]*)", name: "[^"]*", tag: "([^"]*)", module: "([^"]*)"', text)
    assert {path for path, _, _ in listed} == set(PAGE_NAMES)
    for _, tag, module in listed:
        source = (PAGES / module.removeprefix("/static/")).read_text()
        assert f'customElements.define("{tag}"' in source


def test_every_module_is_valid():
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node 20 or later")
    check = "import { readFileSync } from 'node:fs'; import vm from 'node:vm'; for (const file of "
    check += "process.argv.slice(1)) new vm.SourceTextModule(readFileSync(file, 'utf8'));"
    subprocess.run(
        [node, "--experimental-vm-modules", "--input-type=module", "-e", check, *map(str, MODULES)],
        check=True,
        capture_output=True,
        text=True,
    )


def test_the_sheet_names_no_other_host_and_no_font_of_one():
    sheet = (PAGES / "studio.css").read_text()
    assert not re.search(r"@import|url\((?!['\"]?data:)|https?:", sheet)


def test_the_wheel_carries_pages_and_client(wheel):
    def names(folder):
        return {file.name for file in folder.iterdir() if file.is_file()}

    assert names(wheel / "shoal/studio/pages") == names(PAGES)
    assert names(wheel / "shoal/browser_client") == names(CLIENT)
    (packed,) = wheel.parent.glob("*.whl")
    with zipfile.ZipFile(packed) as archive:
        sizes = [
            one.compress_size
            for one in archive.infolist()
            if one.filename.startswith(("shoal/studio/pages/", "shoal/browser_client/"))
        ]
    assert sum(sizes) < 300_000  # no library, picture or font has come in by mistake


def test_no_test_reads_pages_of_another_tree():
    """Modules of the package come from where the pages are checked."""
    import shoal

    assert Path(shoal.__file__).is_relative_to(ROOT), sys.path
