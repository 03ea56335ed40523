"""What the published noise of DP-KCCM costs, whatever epsilon was asked for.

One record changes one count by 1 and each column of one sum by at most r, so the L1 sensitivity of
a round is Delta = d r + 1 (add/remove) and Laplace noise of scale s costs Delta / s. The source
gives two scales for round t: Delta t in its pseudo-code, which costs 1/t, and Delta / t in its
text, which costs t.
"""

import math
from typing import Any, Literal, cast

from shoal import _numbers
from shoal.exceptions import ParameterError

__all__ = ["FORMULAS", "Formula", "check_formula", "real_rho", "real_spend", "round_cost"]

Formula = Literal["pseudo-code", "text"]
#: The two places in which the source states its scale of the noise; they contradict each other.
FORMULAS: tuple[Formula, ...] = ("pseudo-code", "text")


def real_spend(formula: Formula = "pseudo-code", rounds: int = 12) -> float:
    """Return the epsilon that the published Laplace noise really costs over all rounds.

    Parameters
    ----------
    formula : {"pseudo-code", "text"}, default="pseudo-code"
        Which of the two scales of the source to take.
    rounds : int, default=12
        Number of rounds T.

    Returns
    -------
    epsilon : float
        1 + 1/2 + ... + 1/T for the pseudo-code, 1 + 2 + ... + T for the text. It would hold if the
        noise were exact; it is no guarantee, because the noise is drawn in floating point.

    Examples
    --------
    >>> round(real_spend("pseudo-code"), 2), real_spend("text")
    (3.1, 78.0)
    """
    check_formula(formula)
    return math.fsum(
        round_cost(formula, turn) for turn in range(1, _numbers.count("rounds", rounds) + 1)
    )


def real_rho(formula: Formula = "pseudo-code", rounds: int = 12, *, columns: int) -> float:
    """Return the rho of zCDP that the published Gaussian noise really costs over all rounds.

    The source uses Delta t or Delta / t as the standard deviation. Pure epsilon does not hold for
    Gaussian noise; with the L2 sensitivity sqrt(d r^2 + 1), zCDP does.

    Parameters
    ----------
    formula : {"pseudo-code", "text"}, default="pseudo-code"
        Which of the two scales of the source to take.
    rounds : int, default=12
        Number of rounds T.
    columns : int
        Number of columns d, each in [-1, 1].

    Returns
    -------
    rho : float
        Half the sum of (sensitivity / deviation)^2.

    Examples
    --------
    >>> round(real_rho("pseudo-code", columns=4), 3), real_rho("text", columns=4)
    (0.156, 65.0)
    """
    check_formula(formula)
    wide = 1 + _numbers.count("columns", columns)  # Delta, and the square of the L2 sensitivity
    turns = range(1, _numbers.count("rounds", rounds) + 1)
    return math.fsum(round_cost(formula, turn) ** 2 for turn in turns) / (2 * wide)


def round_cost(formula: Formula, turn: int) -> float:
    """Return the epsilon of one round of published Laplace noise."""
    return 1.0 / turn if formula == "pseudo-code" else float(turn)


def check_formula(formula: Any) -> Formula:
    """Return ``formula`` if the source has it."""
    if formula not in FORMULAS:
        raise ParameterError(f"formula must be 'pseudo-code' or 'text', got {formula!r}")
    return cast(Formula, formula)
