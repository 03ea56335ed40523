"""Ready to publish: workflows, forms and files that must agree, and what an archive must hold."""

import csv
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import check_jsonschema
import pytest
import yaml
from click.testing import CliRunner

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from release import check, project, snippets  # noqa: E402

BIN = Path(sys.executable).parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
SCHEMAS = {
    "vendor.github-workflows": WORKFLOWS,
    "vendor.dependabot": [ROOT / ".github/dependabot.yml"],
    "vendor.github-issue-forms": [form for form in FORMS if form.stem != "config"],
    "vendor.github-issue-config": [form for form in FORMS if form.stem == "config"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
SYSTEMS = ["ubuntu-latest", "macos-latest", "windows-latest"]
# What no make target can do here: it speaks to an index, or to the page of a release.
NOT_MADE = ("npm publish ", "gh release create ", "mkdir dist && mv release/")


def load(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


JOBS = [
    pytest.param(job, id=f"{file.stem}:{name}")
    for file in WORKFLOWS
    for name, job in load(file)["jobs"].items()
]
STEPS = [step for job in JOBS for step in job.values[0]["steps"]]


def validate(schema, *files):
    """Run the command in this process: starting another one takes longer than its work."""
    words = ["--builtin-schema", schema, *map(str, files)]
    return CliRunner().invoke(check_jsonschema.main, words)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_are_what_their_schema_says(schema):
    assert SCHEMAS[schema]
    done = validate(schema, *SCHEMAS[schema])
    assert done.exit_code == 0, done.output


def test_a_wrong_workflow_would_be_seen(tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("on: push\njobs: {one: {steps: []}}\n", encoding="utf-8")
    assert "'runs-on' is a required property" in validate("vendor.github-workflows", wrong).output


def zizmor(*inputs):
    command = [BIN / "zizmor", "--offline", "--quiet", "--persona=auditor", "--no-progress"]
    return subprocess.run([*command, *inputs], capture_output=True, text=True, check=False)


def test_zizmor_finds_nothing():
    done = zizmor(ROOT / ".github")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("good", "bad", "finding"),
    [
        (r"@[0-9a-f]{40} # v[\d.]+", "@v6", "unpinned-uses"),
        (r"          persist-credentials: false\n", "", "artipacked"),
        (r"permissions: \{\}", "permissions: write-all", "excessive-permissions"),
        ("run: make lint", "run: make ${{ github.head_ref }}", "template-injection"),
    ],
)
def test_zizmor_would_find_it(tmp_path, good, bad, finding):
    text = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    worse = re.sub(good, bad, text)
    assert worse != text
    file = tmp_path / "worse.yml"
    file.write_text(worse.replace("\n        with:\n      -", "\n      -"), encoding="utf-8")
    assert finding in zizmor(file).stdout


def test_nothing_is_allowed_that_is_not_needed():
    for file in WORKFLOWS:
        assert load(file)["permissions"] == {}, file.name
    writing = {
        (file.stem, name, right)
        for file in WORKFLOWS
        for name, job in load(file)["jobs"].items()
        for right, level in job["permissions"].items()
        if level == "write"
    }
    assert writing == {
        ("docs", "publish", "pages"),
        ("docs", "publish", "id-token"),
        ("publish", "attest", "attestations"),
        ("publish", "attest", "id-token"),
        ("publish", "pypi", "id-token"),
        ("publish", "npm", "id-token"),
        ("publish", "announce", "contents"),
    }


def test_no_workflow_knows_a_secret():
    for file in WORKFLOWS:
        assert "secrets." not in file.read_text(encoding="utf-8"), file.name


@pytest.mark.parametrize("job", JOBS)
def test_jobs_end_and_name_their_rights(job):
    assert job["timeout-minutes"] <= 60
    assert job["permissions"]


def test_who_may_publish_runs_no_code_of_ours():
    """A job with a right to write checks nothing out, and installs nothing."""
    for file in WORKFLOWS:
        for name, job in load(file)["jobs"].items():
            if "write" in job["permissions"].values():
                used = [step.get("uses", "") + step.get("run", "") for step in job["steps"]]
                assert not [one for one in used if re.search("checkout|make |pip|npm ci", one)], (
                    name
                )


def test_workflows_call_targets_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = " ".join(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE))
    called = set()
    for step in STEPS:
        command = step.get("run", "make").removeprefix("sudo ")
        if not command.startswith(NOT_MADE):
            target = re.fullmatch(
                r"make(?: ([\w-]+))?(?: PYTHON=python)?(?: READY=--ready)?", command
            )
            assert target, command
            called.add(target[1])
    assert called - {None} <= set(phony.split())
    assert {"check-release", "docs", "lint", "quick-tests", "sbom", "test-lowest"} <= called


def test_every_python_and_system_is_tested_and_named():
    matrix = load(ROOT / ".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert (matrix["python"], matrix["system"]) == (PYTHONS, SYSTEMS)
    for folder in (ROOT, ROOT / "clients/python"):
        stated = project.settings(folder)["project"]
        named = [line.split(" :: ")[-1] for line in stated["classifiers"] if ":: 3." in line]
        assert named == PYTHONS
        assert stated["requires-python"] == f">={PYTHONS[0]}"
        assert sum(line.startswith("Operating System") for line in stated["classifiers"]) == 3


def test_pre_commit_fetches_nothing():
    settings = load(ROOT / ".pre-commit-config.yaml")
    assert {repo["repo"] for repo in settings["repos"]} == {"local"}
    for hook in settings["repos"][0]["hooks"]:
        tool = hook["entry"].split()[0]
        assert hook["language"] == "system"
        assert re.fullmatch(r"[\w-]+", tool), "found on the path, of whatever environment"
        assert shutil.which(tool, path=str(BIN)), tool


def test_dependabot_looks_at_every_kind_of_package():
    updates = load(ROOT / ".github/dependabot.yml")["updates"]
    assert {one["package-ecosystem"] for one in updates} == {"pip", "npm", "github-actions"}


def test_the_version_has_one_source():
    import shoal

    assert project.version() == shoal.__version__
    assert set(project.repeated_versions().values()) == {shoal.__version__}
    for folder in (ROOT, ROOT / "clients/python"):
        assert project.settings(folder)["project"]["dynamic"] == ["version", "readme"]


def texts():
    """Read every file of the project that may name its address."""
    kinds = (".md", ".toml", ".yml", ".yaml", ".json", ".cff", ".html", ".py", ".js", ".rst")
    names = [name for name in project.tracked_files() if name.endswith(kinds)]
    # These tell of other addresses: of none, and of examples.
    skipped = ("tools/release/", "tests/test_release.py", "docs/releasing.md")
    return {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in names
        if not name.startswith(skipped) and (ROOT / name).is_file()
    }


def test_all_files_agree_on_the_address():
    found, address = texts(), project.address()
    assert project.other_addresses(sorted(found), found) == {}
    with_it = {name for name, text in found.items() if address in text}
    assert {
        ".github/ISSUE_TEMPLATE/config.yml",
        "CITATION.cff",
        "SECURITY.md",
        "clients/js/package.json",
        "clients/python/pyproject.toml",
        "pyproject.toml",
    } <= with_it


@pytest.mark.parametrize(
    "link", ["https://github.com/somebody/shoal/issues", "https://repository.invalid/school"]
)
def test_another_address_would_be_seen(link):
    assert project.other_addresses(["page"], {"page": f"see {link}"}).keys() == {"page"}
    same = f"{project.address()}/blob/main/README.md"
    assert project.other_addresses(["page"], {"page": same}) == {}


def test_no_release_without_an_address(monkeypatch):
    monkeypatch.setattr(project, "address", lambda: project.NO_ADDRESS)
    with pytest.raises(check.ReleaseError, match="no public address"):
        check.check_ready()


def test_no_release_of_another_tag_or_without_a_date(monkeypatch, tmp_path):
    monkeypatch.setattr(project, "address", lambda: "https://example.org/shoal")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text("## [Unreleased]\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_REF_NAME", "v99.0.0")
    with pytest.raises(check.ReleaseError, match=r"got 'v99.0.0'"):
        check.check_ready()
    monkeypatch.setenv("GITHUB_REF_NAME", f"v{project.version()}")
    with pytest.raises(check.ReleaseError, match="with its date"):
        check.check_ready()
    changes.write_text(f"## [{project.version()}] - 2030-01-31\n", encoding="utf-8")
    check.check_ready()


def test_the_changelog_keeps_its_form():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    for line in versions[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", line), line
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds


@pytest.mark.parametrize("page", ["SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"])
def test_links_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if not link.startswith("http")]
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize(("folder", "links"), [(".", 20), ("clients/python", 2)])
def test_descriptions_have_no_relative_links(tmp_path, folder, links):
    """As PyPI shows them: in the metadata of the wheel, built by hatchling in this process."""
    from hatchling.builders.wheel import WheelBuilder

    wheel = next(WheelBuilder(str(ROOT / folder)).build(directory=str(tmp_path)))
    with zipfile.ZipFile(wheel) as held:
        (name,) = [name for name in held.namelist() if name.endswith(".dist-info/METADATA")]
        text = held.read(name).decode()
    assert "Description-Content-Type: text/markdown" in text
    found = re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=[\"']([^\"']+)", text)
    targets = [markdown or plain for markdown, plain in found]
    assert [target for target in targets if not re.match(r"https?://|#", target)] == []
    ours = [target for target in targets if target.startswith(project.address())]
    assert len(ours) >= links
    for target in ours:
        kind, _, path = target.removeprefix(f"{project.address()}/").partition("/main/")
        assert kind == ("raw" if path.endswith((".png", ".svg")) else "blob")
        assert (ROOT / path.partition("#")[0]).exists(), target


def test_files_of_a_wheel_are_sources_and_pages():
    held = project.wheel_files(project.tracked_files())
    assert {Path(name).suffix for name in held} <= set(check.SUFFIXES)
    assert {"shoal/py.typed", "shoal/browser_client/shoal-report.js"} <= held
    assert [name for name in held if name.endswith(".html")]
    assert not [name for name in held if re.search(r"test|\.csv$|\.md$|notes", name)]


def test_what_slipped_in_or_is_missing_is_said():
    check.compare("the wheel", {"a.py"}, {"a.py"})
    with pytest.raises(check.ReleaseError, match=r"1 files too many, \['notes.md'\]"):
        check.compare("the wheel", {"a.py", "notes.md"}, {"a.py"})
    with pytest.raises(check.ReleaseError, match=r"lacks \['page.html'\]"):
        check.compare("the wheel", {"a.py"}, {"a.py", "page.html"})


def test_the_archive_has_what_tests_read():
    kept = project.archive_files(["src/a.py", ".ci/run", ".github/a.yml", "tests/b.py", "Makefile"])
    assert kept == {"src/a.py", ".github/a.yml", "tests/b.py", "Makefile"}


def test_every_extra_is_measured():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = ["none", *settings["project"]["optional-dependencies"]]
    assert set(check.LOADED) == {*extras, "client"}
    rows = check.read_table(check.TABLE.read_text(encoding="utf-8"))
    assert [row.extra for row in rows if row.distribution == "shoal"] == extras
    assert rows[-1].distribution == "shoal-client"


def test_the_page_shows_the_table():
    text = check.TABLE.read_text(encoding="utf-8")
    rows = check.read_table(text)
    assert check.render(rows) in check.PAGE.read_text(encoding="utf-8")
    assert text.startswith("# written by: make release-sizes\n")
    header = next(csv.reader(text.splitlines()[1:]))
    assert tuple(header) == check.Row._fields


def test_blocks_of_a_page():
    page = "```python\na = 1\n```\n\n```console\n$ b\n```\n"
    page += "\n```{code-block} python\n:name: c\nc = 1\n```\n"
    assert snippets.blocks(page) == ["a = 1\n", "c = 1\n"]
