"""Shadow models: learn from models of one's own how a model treats the records it was trained on.

R. Shokri, M. Stronati, C. Song & V. Shmatikov, "Membership inference attacks against machine
learning models" (IEEE S&P 2017), through adversarial-robustness-toolbox, as the kd-Laplace thesis
uses it: shadow models are trained on plain records; a second forest tells their members from the
rest by the probabilities they give and the true class.
"""

import numpy as np

from shoal._typing import Floats, Ints
from shoal.audit.attacks._art import load_toolbox
from shoal.audit.attacks._forest import Forest, Scorer

__all__ = ["THRESHOLD", "learn_shadow_attack"]

# The toolbox rounds a probability of one half down: not a member.
THRESHOLD = float(np.nextafter(0.5, 1.0))


def learn_shadow_attack(
    records: Floats, labels: Ints, n_classes: int, *, shadow_models: int, seed: int
) -> Scorer:
    """Train shadow models and the model that tells their members apart.

    Parameters
    ----------
    records : ndarray of shape (n, d)
        Records that the attacker has; none of them is in the target.
    labels : ndarray of shape (n,)
        Their classes.
    n_classes : int
        Number of classes.
    shadow_models : int
        Number of shadow models, each trained on half of the records.
    seed : int
        Fixes all of it.

    Returns
    -------
    scorer : callable
        Probability that a record was in the training set of a model; compare with THRESHOLD.
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
