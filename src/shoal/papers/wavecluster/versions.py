"""The versions of a technique, as records name them."""

from shoal.papers.wavecluster import METHODS, Method

__all__ = ["PLAIN", "VERSIONS", "versions"]

PLAIN = "without privacy"
VERSIONS = {"published": "as published", "corrected": "corrected"}


def versions(technique: str) -> dict[str, Method]:
    """List the methods of a technique.

    Parameters
    ----------
    technique : str
        A technique of :class:`shoal.cluster.DPWaveCluster`.

    Returns
    -------
    methods : dict of str to Method
        By the name of the version; our own technique has been published nowhere.

    Examples
    --------
    >>> list(versions("thr")), list(versions("oneshot"))
    (['as published', 'corrected'], ['corrected'])
    """
    return {VERSIONS[one.source]: one for one in METHODS if one.technique == technique}
