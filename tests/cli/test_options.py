"""Completion in the shell, by the protocol the shell speaks: the right words, and little loaded."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest
import typer

from shoal._build import CENTRAL, LOCAL, LOCATIONS, load_class, parameter_names
from shoal._registry import METHODS, choices
from shoal.cli import COMMANDS, app
from shoal.cli._options import (
    complete_central,
    complete_local,
    complete_settings,
    complete_targets,
)
from shoal.datasets import list_datasets

KMEANS = {f"method={method}" for method in ("auto", *choices("DPKMeans", "method"))}
# Ends as the script of the package does, then says which of the large packages were loaded.
RUN = """
import sys
sys.argv[0] = "shoal"
from shoal.cli import main
try:
    main()
finally:
    print(sorted({"numpy", "scipy", "sklearn"} & set(sys.modules)), file=sys.stderr)
"""


def shell(*arguments, **variables):
    return subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        capture_output=True,
        text=True,
        check=False,
        # Otherwise typer asks which shell runs the tests, and takes no name.
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", **variables},
    )


def complete(typed):
    """Press tab after these words; give what is offered, and what was loaded for it."""
    words = typed.split()
    place = len(words) if typed.endswith(" ") else len(words) - 1
    result = shell(
        _SHOAL_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(place), SHELL="/bin/bash"
    )
    return set(result.stdout.split()), result.stderr.strip()


def test_commands():
    offered, loaded = complete("shoal ")
    assert offered >= set(COMMANDS)
    assert loaded == "[]"


def test_data_sets():
    offered, loaded = complete("shoal datasets s")
    assert offered == {info.name for info in list_datasets() if info.name.startswith("s")}
    assert "sklearn" not in loaded
    assert "scipy" not in loaded


def test_choices(subtests):
    for typed, offered in [
        ("shoal cluster people.csv --target ", set(CENTRAL)),
        ("shoal cluster --reports reports.csv --target D", {"Duchi"}),
        ("shoal perturb people.csv --target Pi", {"Piecewise"}),
        ("shoal cluster people.csv --set method", KMEANS),
        ("shoal datasets --d", {"--download"}),
        ("shoal perturb --ep", {"--epsilon"}),
        ("shoal studio --no", {"--no-browser"}),
    ]:
        with subtests.test(typed=typed, offered=offered):
            assert complete(typed) == (offered, "[]")


def test_names_are_those_of_the_commands():
    assert complete_central("") == sorted(CENTRAL)
    assert complete_local("") == sorted(LOCAL)
    assert complete_targets("") == sorted(CENTRAL) + sorted(LOCAL)


def test_settings_are_parameters_of_what_the_registry_names():
    known = {name: parameter_names(load_class(place)) for name, place in LOCATIONS.items()}
    for method in METHODS:
        assert set(method.kwargs) <= set(known[method.class_name])
        for name, value in method.kwargs.items():
            assert f"{name}={value}" in complete_settings(name)


def test_help_loads_nothing():
    result = shell("--help")
    assert result.returncode == 0
    assert result.stderr.strip() == "[]"


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_script(name):
    result = shell("--show-completion", name)
    assert result.returncode == 0, result.stderr
    assert "_SHOAL_COMPLETE=complete_" in result.stdout


def test_install(tmp_path):
    """What is installed goes to the home of the user and speaks of shoal."""
    (tmp_path / ".bashrc").write_text("# mine\n")
    result = shell("--install-completion", "bash", HOME=str(tmp_path))
    assert result.returncode == 0, result.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_SHOAL_COMPLETE=complete_bash" in path.read_text() for path in written)
    assert (tmp_path / ".bashrc").read_text().startswith("# mine\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_options_that_the_command_has(name):
    """What stands in backticks is a command of its own."""
    commands: Any = typer.main.get_command(app)
    command = commands.commands[name]
    own = {option for given in command.params for option in (*given.opts, *given.secondary_opts)}
    for given in command.params:
        words = re.sub("`[^`]*`", "", getattr(given, "help", None) or "")
        assert set(re.findall(r"--[a-z][a-z-]*", words)) <= own, given.name
