"""What the shell offers after a tab: names, had without loading what they name."""

from collections.abc import Iterable

__all__ = [
    "SETTINGS",
    "complete_central",
    "complete_datasets",
    "complete_local",
    "complete_settings",
    "complete_targets",
]

# As the commands and estimators have them, which take a second to load.
CENTRAL = ("DPKMeans", "DPWaveCluster")
SETTINGS = {
    "method": ("auto", "lloyd", "grid", "lsh", "kccm"),
    "technique": ("oneshot", "thr", "thr-em", "qt", "baseline", "density"),
}


def complete_datasets(incomplete: str) -> list[str]:
    """Return the names of data sets.

    Parameters
    ----------
    incomplete : str
        What was typed so far.

    Returns
    -------
    names : list of str
        Those that begin like it.
    """
    from shoal.datasets.registry import REGISTRY  # noqa: PLC0415

    return _beginning(incomplete, (info.name for info in REGISTRY))


def complete_central(incomplete: str) -> list[str]:
    """Return the names of estimators over raw records.

    Parameters
    ----------
    incomplete : str
        What was typed so far.

    Returns
    -------
    names : list of str
        Those that begin like it.

    Examples
    --------
    >>> complete_central("DPW")
    ['DPWaveCluster']
    """
    return _beginning(incomplete, CENTRAL)


def complete_local(incomplete: str) -> list[str]:
    """Return the names of mechanisms, as :func:`complete_central` does."""
    return _beginning(incomplete, _packages("mechanisms", "remap"))


def complete_targets(incomplete: str) -> list[str]:
    """Return the names of estimators and mechanisms, as :func:`complete_central` does."""
    return complete_central(incomplete) + complete_local(incomplete)


def complete_settings(incomplete: str) -> list[str]:
    """Return the settings of estimators that are a choice of words.

    Parameters
    ----------
    incomplete : str
        What was typed so far.

    Returns
    -------
    settings : list of str
        As ``--set`` takes them.

    Examples
    --------
    >>> complete_settings("method=l")
    ['method=lloyd', 'method=lsh']
    """
    pairs = (f"{name}={word}" for name, words in SETTINGS.items() for word in words)
    return _beginning(incomplete, pairs)


def _packages(*packages: str) -> list[str]:
    # The table of the package's lazy names: looking a name up in it would load its package.
    from shoal._registry import PUBLIC  # noqa: PLC0415

    return [name for name, package in PUBLIC.items() if package in packages]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
