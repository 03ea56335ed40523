"""The JavaScript client in Node: its own tests and its types."""

import json
import subprocess

import pytest

from helpers.javascript import CLIENT, node_or_skip

NEEDS_TOOLS = pytest.mark.skipif(
    not (CLIENT / "node_modules").is_dir(),
    reason="no node_modules in clients/js: types are not checked; run npm ci there",
)


def run(*command):
    done = subprocess.run(
        command, cwd=CLIENT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_in_node():
    """One process for all files: no test of one may see what another left."""
    files = sorted(path.name for path in (CLIENT / "test").glob("*.test.js"))
    imports = "".join(f"await import('./test/{name}');" for name in files)
    flags = ("--no-warnings", "--input-type=module", "--test-reporter=tap")
    report = run(node_or_skip(), *flags, "--eval", imports)
    assert "\n# fail 0\n" in report
    assert int(report.split("\n# pass ")[1].split("\n")[0]) > len(files)


@NEEDS_TOOLS
def test_types():
    node_or_skip()
    run(str(CLIENT / "node_modules/.bin/tsc"), "--noEmit")


@pytest.mark.full
@NEEDS_TOOLS
def test_the_built_modules_pass_the_tests_of_their_sources():
    node_or_skip()
    report = run("npm", "run", "--silent", "test:built")
    assert "fail 0\n" in report


def test_there_is_nothing_to_install():
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    lock = (CLIENT / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock, "addresses of registries are nobody's business"
    for module in (CLIENT / "src").glob("*.js"):
        text = module.read_text(encoding="utf-8")
        for forbidden in ("Math.random", "eval(", "Function("):  # the last two by pages
            assert forbidden not in text, module
