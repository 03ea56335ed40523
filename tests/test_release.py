"""Ready to publish: workflows, forms and files that must agree, and what an archive must hold."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import check_jsonschema
import pytest
import yaml
from click.testing import CliRunner

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import release  # noqa: E402

BIN = Path(sys.executable).parent
VERSION = release.version()
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
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
# What no make target can do here: it speaks to an index, or to the page of a release.
NOT_MADE = ("npm publish ", "gh release create ", "mkdir dist && mv release/")


def load(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


JOBS = {
    f"{file.stem}:{name}": job for file in WORKFLOWS for name, job in load(file)["jobs"].items()
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_are_what_their_schema_says(schema):
    words = ["--builtin-schema", schema, *map(str, SCHEMAS[schema])]
    done = CliRunner().invoke(check_jsonschema.main, words)
    assert done.exit_code == 0, done.output


def test_zizmor_finds_nothing():
    command = [BIN / "zizmor", "--offline", "--quiet", "--persona=auditor", "--no-progress"]
    done = subprocess.run([*command, ROOT / ".github"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_is_allowed_that_is_not_needed():
    """Jobs end, name their rights and know no secret; one that may write runs no code of ours."""
    writing = set()
    for file in WORKFLOWS:
        assert load(file)["permissions"] == {}, file.name
        assert "secrets." not in file.read_text(encoding="utf-8"), file.name
    for name, job in JOBS.items():
        assert job["timeout-minutes"] <= 60
        assert job["permissions"]
        rights = {right for right, level in job["permissions"].items() if level == "write"}
        writing |= {(name, right) for right in rights}
        used = [step.get("uses", "") + step.get("run", "") for step in job["steps"]]
        ours = [one for one in used if re.search("checkout|make |pip|npm ci", one)]
        assert not rights or not ours, name
    assert writing == {
        ("docs:publish", "pages"),
        ("docs:publish", "id-token"),
        ("publish:attest", "attestations"),
        ("publish:attest", "id-token"),
        ("publish:pypi", "id-token"),
        ("publish:npm", "id-token"),
        ("publish:announce", "contents"),
    }


def test_what_is_published_was_uploaded_before_packages_of_others_ran():
    """Whatever a dependency does while shoal is checked, files are taken by their first number."""
    jobs = load(ROOT / ".github/workflows/publish.yml")["jobs"]
    commands = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert commands == ["make release-files PYTHON=python READY=--ready"]
    assert re.search(r"^release-files: \$\(VENV\)/\.release node$", MAKEFILE, re.MULTILINE)
    assert re.search(r"^\$\(VENV\)/\.release: \$\(VENV\)/\.made pyproject", MAKEFILE, re.MULTILINE)
    for name in ("check", "attest", "pypi", "npm", "announce"):
        taken = [
            step["with"]["artifact-ids"]
            for step in jobs[name]["steps"]
            if "download-artifact" in step.get("uses", "")
        ]
        assert taken == ["${{ needs.build.outputs.files }}"], name
    assert set(jobs["attest"]["needs"]) == {"build", "check"}


def test_workflows_call_targets_of_make():
    phony = set(" ".join(re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)).split())
    commands = [step.get("run", "make") for job in JOBS.values() for step in job["steps"]]
    for command in commands:
        if not command.startswith(NOT_MADE):
            words = command.removeprefix("sudo ").split()
            assert words[0] == "make", command
            assert {word for word in words[1:] if "=" not in word} <= phony, command


def test_every_python_and_system_is_tested_and_named():
    matrix = load(ROOT / ".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix == {
        "python": PYTHONS,
        "system": ["ubuntu-latest", "macos-latest", "windows-latest"],
    }
    for folder in (ROOT, ROOT / "clients/python"):
        stated = release.settings(folder)
        named = [line.split(" :: ")[-1] for line in stated["classifiers"] if ":: 3." in line]
        assert named == PYTHONS
        assert stated["requires-python"] == f">={PYTHONS[0]}"
        assert sum(line.startswith("Operating System") for line in stated["classifiers"]) == 3


def test_pre_commit_fetches_nothing():
    (repository,) = load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        assert shutil.which(hook["entry"].split()[0], path=str(BIN)), hook["id"]


def test_the_version_has_one_source():
    lock = load(ROOT / "clients/js/package-lock.json")  # JSON is YAML
    repeated = [
        load(ROOT / "CITATION.cff")["version"],
        load(ROOT / "clients/js/package.json")["version"],
        *(lock["version"], lock["packages"][""]["version"]),
    ]
    assert set(repeated) == {VERSION}
    for folder in (ROOT, ROOT / "clients/python"):
        assert release.settings(folder)["dynamic"] == ["version", "readme"]


def test_all_files_agree_on_the_address():
    address = release.settings()["urls"]["Repository"]
    for name in (
        ".github/ISSUE_TEMPLATE/config.yml",
        "CITATION.cff",
        "SECURITY.md",
        "clients/js/package.json",
        "clients/python/pyproject.toml",
    ):
        text = (ROOT / name).read_text(encoding="utf-8")
        links = re.findall(
            r"https?://(?!pypi|www\.npmjs)[\w.-]+(?:/[\w.-]+)*?/shoal(?![\w-])", text
        )
        assert set(links) == {address}, name


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"texts": {"a": b"https://repository.invalid/shoal"}}, "no public address in a"),
        ({"texts": {"b": b"git+https://repository.invalid/x.git"}}, "no public address in b"),
        ({"tag": "v99.0.0"}, "the tag must be"),
        ({"changes": f"## [{VERSION}] - not yet published\n"}, "with its date"),
    ],
)
def test_what_must_not_be_published_yet(change, reason):
    ready = {
        "tag": f"v{VERSION}",
        "changes": f"## [{VERSION}] - 2030-01-31\n",
        "texts": {"a": b"https://example.org/shoal"},
    }
    reasons = release.reasons_to_wait(**{**ready, **change})
    assert len(reasons) == (reason is not None)
    assert reason is None or reason in reasons[0]


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
    address = release.settings()["urls"]["Repository"]
    ours = [target for target in targets if target.startswith(address)]
    assert len(ours) >= links
    for target in ours:
        kind, _, path = target.removeprefix(f"{address}/").partition("/main/")
        assert kind == ("raw" if path.endswith((".png", ".svg")) else "blob")
        assert (ROOT / path.partition("#")[0]).exists(), target


TRACKED = (
    *("src/shoal/__init__.py", "src/shoal/client/a.py", "clients/js/src/index.js", "tests/b.py"),
    *("clients/python/LICENSE", ".github/a.yml", ".gitignore", ".ci/run", ".dockerignore"),
)
BUILT = {
    f"shoal_dp-{VERSION}-py3-none-any.whl": {
        *("shoal/__init__.py", "shoal/client/a.py", "shoal/browser_client/index.js"),
    },
    f"shoal_dp-{VERSION}.tar.gz": {*TRACKED[:-2], "PKG-INFO"},
    f"shoal_device-{VERSION}-py3-none-any.whl": {"shoal/client/a.py"},
    f"shoal_device-{VERSION}.tar.gz": {"LICENSE", "src/shoal/client/a.py", ".gitignore"},
    f"shoal-device-{VERSION}.tgz": {
        *("LICENSE", "README.md", "package.json", "src/index.js", "dist/types/index.d.ts"),
        *("dist/shoal-device.js", "dist/shoal-device.node.js"),
    },
}


def pack(folder, built):
    for name, files in built.items():
        if name.endswith(".whl"):
            with zipfile.ZipFile(folder / name, "w") as wheel:
                for file in files:
                    wheel.writestr(file, "")
        else:
            with tarfile.open(folder / name, "w:gz") as archive:
                for file in files:
                    archive.addfile(tarfile.TarInfo(f"package/{file}"))


def test_archives_hold_what_is_committed(tmp_path):
    pack(tmp_path, BUILT)
    release.check_files(tmp_path, TRACKED)


@pytest.mark.parametrize("name", BUILT)
def test_a_note_that_slipped_in_is_seen(tmp_path, name):
    pack(tmp_path, {**BUILT, name: BUILT[name] | {"src/notes.md"}})
    with pytest.raises(release.ReleaseError, match=r"has \['src/notes.md'\] too many"):
        release.check_files(tmp_path, TRACKED)


@pytest.mark.parametrize(
    "name", [name for name in BUILT if "device-" not in name or "whl" not in name]
)
def test_a_file_that_is_missing_is_seen(tmp_path, name):
    left = max(BUILT[name] - {"PKG-INFO"}, key=lambda file: "types" not in file)
    pack(tmp_path, {**BUILT, name: BUILT[name] - {left}})
    with pytest.raises(release.ReleaseError, match=rf"lacks .*{re.escape(left)}"):
        release.check_files(tmp_path, TRACKED)


def test_files_of_other_kinds_are_seen(tmp_path):
    name = f"shoal_dp-{VERSION}-py3-none-any.whl"
    pack(tmp_path, {**BUILT, name: BUILT[name] | {"shoal/people.csv"}})
    with pytest.raises(release.ReleaseError, match=r"new kind: \['.csv'\]"):
        release.check_files(tmp_path, [*TRACKED, "src/shoal/people.csv"])
