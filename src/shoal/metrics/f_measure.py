"""The clustering F-measure: how well each true cluster is found by its best private cluster.

Chen, Yu and Chirkova, "WaveCluster with Differential Privacy" (2015), compare their measures with
it in section 7.3 and take the true WaveCluster result as the known classes.
"""

from typing import Any

import numpy as np

from shoal.exceptions import ParameterError
from shoal.metrics._contingency import Contingency, as_label_pair


def f_measure(true_labels: Any, private_labels: Any, *, noise_is_cluster: bool = False) -> float:
    """Average over the true clusters, weighted by size, of the best F against a private cluster.

    With C a true and D a private cluster, recall is |C and D| / |C|, precision is
    |C and D| / |D| and F, their harmonic mean, is 2 |C and D| / (|C| + |D|).
    Several true clusters may have the same best private cluster, and many private clusters may be
    nobody's best: that is why the source finds this measure too kind and prefers
    :func:`~shoal.metrics.dsg`.

    Parameters
    ----------
    true_labels, private_labels : array-like of integers, of one shape
        Labels of the same records or cells; -1 is noise. The names of clusters do not matter.
    noise_is_cluster : bool, default=False
        The source does not say what becomes of noise. False: noise is no cluster on either side, as
        in :func:`~shoal.metrics.dsg`, so records that the private result takes for noise lower
        recall, and true noise in a private cluster lowers precision. True: noise is one more
        cluster on both sides.

    Returns
    -------
    similarity : float
        From 0 to 1, which stands for the same clusters. Without any true cluster 1 if there is no
        private one either, and 0 if there is.

    Raises
    ------
    ParameterError
        If the two are not arrays of integers of one shape, or `noise_is_cluster` is not a bool.

    Examples
    --------
    The first true cluster finds 2 of its 3 members alone (F = 0.8), the second finds both of its
    members in a cluster of 3 (F = 0.8).

    >>> f_measure([0, 0, 0, 1, 1], [5, 5, 7, 7, 7])
    0.8
    >>> round(f_measure([0, 0, 0, -1], [5, 5, -1, -1]), 3)
    0.8
    >>> round(f_measure([0, 0, 0, -1], [5, 5, -1, -1], noise_is_cluster=True), 3)
    0.767
    """
    true, private = as_label_pair("labels", true_labels, private_labels)
    if not isinstance(noise_is_cluster, bool):
        raise ParameterError(f"noise_is_cluster must be True or False, got {noise_is_cluster!r}")
    clusters = Contingency.of(true, private)
    if not noise_is_cluster:
        clusters = clusters.without_noise()
    true_sizes, private_sizes = clusters.true_sizes, clusters.private_sizes
    if len(true_sizes) == 0:
        return 1.0 if len(private_sizes) == 0 else 0.0
    summed = true_sizes[clusters.true_index] + private_sizes[clusters.private_index]
    best = np.zeros(len(true_sizes))
    np.maximum.at(best, clusters.true_index, 2 * clusters.overlaps / summed)
    return float(true_sizes @ best) / int(true_sizes.sum())
