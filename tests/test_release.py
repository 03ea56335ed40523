"""Ready to publish: workflows, forms and files that must agree, and what an archive must hold."""

import csv
import re
import shutil
import subprocess
import sys
import tarfile
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


def test_what_is_published_was_uploaded_before_packages_of_others_ran():
    """Whatever a dependency does while shoal is checked, files are taken by their first number."""
    jobs = load(ROOT / ".github/workflows/publish.yml")["jobs"]
    commands = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert commands == ["make release-files PYTHON=python READY=--ready"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^release-files: \$\(VENV\)/\.build node$", makefile, re.MULTILINE)
    assert re.search(r"^\$\(VENV\)/\.build: \$\(VENV\)/\.made pyproject", makefile, re.MULTILINE)
    for name in ("check", "attest", "pypi", "npm", "announce"):
        taken = [
            step["with"]["artifact-ids"]
            for step in jobs[name]["steps"]
            if "download-artifact" in step.get("uses", "")
        ]
        assert taken[0] == "${{ needs.build.outputs.files }}", name
        assert taken[1:] in ([], ["${{ needs.check.outputs.bills }}"]), name
    assert set(jobs["attest"]["needs"]) == {"build", "check"}


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
    assert {
        "check-built",
        "check-release",
        "docs",
        "lint",
        "quick-tests",
        "sbom",
        "test-lowest",
    } <= called


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
    return {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in names
        if not name.startswith(project.TELL_OF_IT) and (ROOT / name).is_file()
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


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (project.NO_ADDRESS, True),
        ("https://repository.invalid/", True),
        ("git+https://repository.invalid/shoal.git", True),
        ("https://example.org/shoal", False),
    ],
)
def test_no_release_without_an_address(monkeypatch, tmp_path, text, left):
    (tmp_path / "SECURITY.md").write_text(f"report to {text}", encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(f"## [{project.version()}] - 2030-01-31\n", "utf-8")
    version = project.version()
    monkeypatch.setattr(project, "version", lambda: version)
    for module in (check, project):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.delenv("GITHUB_REF_NAME", raising=False)
    if left:
        with pytest.raises(check.ReleaseError, match=r"no public address.* in SECURITY.md$"):
            check.check_ready()
    else:
        check.check_ready()


def test_no_release_of_another_tag_or_without_a_date(monkeypatch, tmp_path):
    monkeypatch.setattr(project, "files_without_address", list)
    monkeypatch.setattr(check, "ROOT", tmp_path)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(f"## [{project.version()}] - not yet published\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_REF_NAME", "v99.0.0")
    with pytest.raises(check.ReleaseError, match=r"got 'v99.0.0'"):
        check.check_ready()
    monkeypatch.setenv("GITHUB_REF_NAME", f"v{project.version()}")
    with pytest.raises(check.ReleaseError, match="with its date"):
        check.check_ready()
    changes.write_text(f"## [{project.version()}] - 2030-01-31\n", encoding="utf-8")
    check.check_ready()


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


def test_archives_of_clients_hold_what_is_committed():
    tracked = ["clients/python/LICENSE", "clients/python/light_files.py", "src/shoal/client/a.py"]
    assert project.light_archive_files(tracked, {"shoal/client/a.py"}) == {
        *(".gitignore", "LICENSE", "light_files.py", "src/shoal/client/a.py")
    }
    wanted, made = project.npm_files(["clients/js/src/index.js", "clients/js/test/a.test.js"])
    entries = {"dist/shoal-device.js", "dist/shoal-device.node.js"}
    assert wanted == {"LICENSE", "README.md", "package.json", "src/index.js", *entries}
    assert made == {"dist/index.js", "dist/types/index.d.ts"}


def pack(file, *names):
    with tarfile.open(file, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"package/{name}"))
    return file


@pytest.mark.parametrize("kind", ["client.tar.gz", "npm.tgz"])
@pytest.mark.parametrize("note", [None, "src/notes.md", "LICENSE.key", "dist/records.csv"])
def test_a_note_in_an_archive_of_a_client_is_seen(monkeypatch, tmp_path, kind, note):
    tracked = [name for name in project.tracked_files() if (ROOT / name).is_file()]
    monkeypatch.setattr(project, "tracked_files", lambda: tracked)
    wheel, light = project.wheel_files(tracked), {"shoal/__init__.py"}
    built = {
        "shoal.tar.gz": pack(tmp_path / "shoal.tgz", *project.archive_files(tracked)),
        "client.tar.gz": project.light_archive_files(tracked, light),
        "npm.tgz": project.npm_files(tracked)[0],
    }
    for name in ("client.tar.gz", "npm.tgz"):
        extra = [note] if note and name == kind else []
        built[name] = pack(tmp_path / name, *built[name], *extra)
    for name, inside in (("shoal.whl", wheel), ("client.whl", light)):
        built[name] = tmp_path / name
        with zipfile.ZipFile(built[name], "w") as archive:
            for one in inside:
                archive.writestr(one, "")
    if note is None:
        check.check_files(built)
    else:
        with pytest.raises(check.ReleaseError, match=f"1 files too many, .*{re.escape(note)}"):
            check.check_files(built)


def test_bills_of_materials_are_of_the_built_wheels(monkeypatch, tmp_path):
    version, installed = project.version(), []
    monkeypatch.setattr(check, "OUT", tmp_path)
    monkeypatch.setattr(check, "ROOT", tmp_path)
    with pytest.raises(check.ReleaseError, match="run make release-files"):
        check.write_sbom()
    for name in (
        f"shoal_dp-{version}-py3-none-any.whl",
        f"shoal_device-{version}-py3-none-any.whl",
    ):
        (tmp_path / name).touch()
    for name in (f"shoal_dp-{version}.tar.gz", f"shoal_device-{version}.tar.gz"):
        (tmp_path / name).touch()
    (tmp_path / f"shoal-device-{version}.tgz").touch()

    def install(folder, what):
        folder.mkdir()
        (folder / "direct_url.json").touch()
        installed.append(what)
        return folder / "python"

    def listed(*words):
        python, target = words[-1], Path(words[-2])
        assert not (python.parent / "direct_url.json").exists(), "it names a folder"
        target.write_text(
            '{"components": [{"name": "shoal-dp"}, {"name": "shoal-device"}]}', "utf-8"
        )

    monkeypatch.setattr(check, "install", install)
    monkeypatch.setattr(check, "run", listed)
    monkeypatch.setattr(check, "tool", str)  # it is not run
    check.write_sbom()
    assert installed == [
        f"{tmp_path.as_posix()}/shoal_dp-{version}-py3-none-any.whl[all]",
        str(tmp_path / f"shoal_device-{version}-py3-none-any.whl"),
    ]


def test_the_archive_has_what_tests_read():
    kept = project.archive_files(["src/a.py", ".ci/run", ".github/a.yml", "tests/b.py", "Makefile"])
    assert kept == {"src/a.py", ".github/a.yml", "tests/b.py", "Makefile"}


def test_every_extra_is_measured():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = ["none", *settings["project"]["optional-dependencies"]]
    assert set(check.LOADED) == {*extras, "client"}
    rows = check.read_table(check.TABLE.read_text(encoding="utf-8"))
    assert [row.extra for row in rows if row.distribution == "shoal-dp"] == extras
    assert rows[-1].distribution == "shoal-device"


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
