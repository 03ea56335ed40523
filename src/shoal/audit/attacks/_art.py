"""The door to adversarial-robustness-toolbox, which on import writes to the user's home and warns.

Its module ``art.config`` makes a folder ``.art`` in the home directory when it is first run. Here
that one module is run first, with another home, and then the rest as usual; a user who has such a
folder already keeps their settings.
"""

import importlib.util
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from shoal._optional import require

__all__ = ["Toolbox", "load_toolbox"]

EXTRA = "attacks"
PACKAGE, CONFIG = "art", "art.config"
HOMES = ("HOME", "USERPROFILE")  # where the home directory is read from, on Unix and on Windows


class Toolbox(NamedTuple):
    """The parts of the toolbox that the attacks use."""

    ScikitlearnClassifier: Any
    ShadowModels: Any
    MembershipInferenceBlackBox: Any


def load_toolbox() -> Toolbox:
    """Import the toolbox without leaving anything in the home directory.

    Returns
    -------
    toolbox : Toolbox
        Its classes.

    Raises
    ------
    MissingPackageError
        If it is not installed.
    """
    _run_config_elsewhere()
    with warnings.catch_warnings():
        # Forests need no PyTorch.
        warnings.filterwarnings("ignore", message="PyTorch not found", category=UserWarning)
        inference = require(f"{PACKAGE}.attacks.inference.membership_inference", extra=EXTRA)
        wrappers = require(f"{PACKAGE}.estimators.classification.scikitlearn", extra=EXTRA)
    # An import would have done so; a module that was run before its package is not yet part of it.
    vars(sys.modules[PACKAGE])["config"] = sys.modules[CONFIG]
    return Toolbox(
        ScikitlearnClassifier=wrappers.ScikitlearnClassifier,
        ShadowModels=inference.ShadowModels,
        MembershipInferenceBlackBox=inference.MembershipInferenceBlackBox,
    )


def _run_config_elsewhere() -> None:
    own = Path("~", ".art").expanduser()
    if PACKAGE in sys.modules or CONFIG in sys.modules or own.exists():
        return
    package = importlib.util.find_spec(PACKAGE)
    folders = (package and package.submodule_search_locations) or []
    files = [path for folder in folders if (path := Path(folder, "config.py")).is_file()]
    spec = importlib.util.spec_from_file_location(CONFIG, files[0]) if files else None
    if spec is None or spec.loader is None:
        return  # not installed, or another package of that name: the import that follows says so
    config = importlib.util.module_from_spec(spec)
    with tempfile.TemporaryDirectory() as home:
        before = {name: os.environ[name] for name in HOMES if name in os.environ}
        os.environ.update(dict.fromkeys(HOMES, home))
        try:
            spec.loader.exec_module(config)
        finally:
            for name in HOMES:
                del os.environ[name]
            os.environ.update(before)
    # Where the toolbox itself would put data, if it is ever asked to.
    vars(config)["ART_DATA_PATH"] = str(own / "data")
    sys.modules[CONFIG] = config
