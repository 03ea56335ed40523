"""Shadow models, through adversarial-robustness-toolbox.

R. Shokri, M. Stronati, C. Song & V. Shmatikov, "Membership inference attacks against machine
learning models" (IEEE S&P 2017), as the kd-Laplace thesis uses it: shadow models are trained on
plain records; a second forest tells their members from the rest by the probabilities they give and
the true class.

On import the toolbox writes to the user's home and warns: its module ``art.config`` makes a folder
``.art`` in the home directory when it is first run. Here that one module is run first, with another
home, and then the rest as usual; a user who has such a folder already keeps their settings.
"""

import importlib.util
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal._optional import require
from shoal._typing import Floats, Ints
from shoal.audit.attacks._forests import Forest, Scorer

__all__ = ["SHADOW_THRESHOLD", "Toolbox", "learn_shadow_attack", "load_toolbox"]

EXTRA = "attacks"
PACKAGE, CONFIG = "art", "art.config"
HOMES = ("HOME", "USERPROFILE")  # where the home directory is read from, on Unix and on Windows


class Toolbox(NamedTuple):
    """The parts of the toolbox that the attacks use."""

    ScikitlearnClassifier: Any
    ShadowModels: Any
    MembershipInferenceBlackBox: Any


def load_toolbox() -> Toolbox:
    """Import adversarial-robustness-toolbox without letting it write to the home directory.

    Returns
    -------
    toolbox : Toolbox
        The classes of the toolbox that are used here.

    Raises
    ------
    MissingPackageError
        If the toolbox is not installed.

    Examples
    --------
    >>> load_toolbox().ShadowModels.__name__
    'ShadowModels'
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


#: Lowest score for which the shadow attack calls a record a member; just above one half, which the
#: toolbox rounds down to "not a member".
SHADOW_THRESHOLD = float(np.nextafter(0.5, 1.0))


def learn_shadow_attack(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> Scorer:
    """Train shadow models, and the model that tells their members from other records.

    Parameters
    ----------
    records : ndarray of shape (n, d)
        Records that the attacker has; the target was not trained on any of them.
    labels : ndarray of shape (n,)
        Classes of these records.
    n_classes : int
        Number of classes.
    shadow_models : int
        Number of shadow models, each trained on half of the records.
    seed : int
        Seed of all random choices.

    Returns
    -------
    scorer : callable
        Returns the probability that a record was in the training set of a model, to be compared
        with ``SHADOW_THRESHOLD``.

    Raises
    ------
    MissingPackageError
        If the toolbox is not installed.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    >>> score = learn_shadow_attack(X, y, 2, shadow_models=1, seed=0)
    >>> score(Forest(2, 1, seed=0).fit(X, y), X, y).shape
    (40,)
    """
    toolbox = load_toolbox()
    template = toolbox.ScikitlearnClassifier(Forest(n_classes, records.shape[1], seed=seed))
    shadows = toolbox.ShadowModels(template, num_shadow_models=shadow_models, random_state=seed)
    one_hot = np.eye(n_classes)[labels]
    (inside, inside_y, inside_p), (outside, outside_y, outside_p) = shadows.generate_shadow_dataset(
        records, one_hot
    )
    attack = toolbox.MembershipInferenceBlackBox(template, attack_model_type="rf")
    attack.attack_model.set_params(random_state=seed)
    attack.fit(inside, inside_y, outside, outside_y, inside_p, outside_p)

    def score(model: Forest, X: Floats, y: Ints) -> Floats:
        probabilities = attack.infer(
            None, np.eye(n_classes)[y], pred=model.predict_proba(X), probabilities=True
        )
        return np.asarray(probabilities, dtype=np.float64).ravel()

    return score
