"""Generated shapes with public bounds: round clusters, rings, lines, skewed clouds, spirals.

Circle, line and skewed have the shapes of the sets of the kd-Laplace thesis.
"""

import numbers
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._bounds import public_box
from shoal._typing import Bounds, Floats, Ints
from shoal.datasets._described import of_numbers
from shoal.datasets.dataset import GENERATED, Dataset, number_table, seeded_generator
from shoal.exceptions import ParameterError

__all__ = ["make_circle", "make_gaussians", "make_line", "make_skewed", "make_spirals"]

REASON = "generated inside these bounds, or clipped to them"
MAX_TRIES = 10_000  # draws of a center before the box counts as full

# The circle sets: a ring around a ring, a shell around a ball.
RING_NOISE = 0.1
INNER_RING = 0.2
SHELL = 0.5

# The line sets: two long, thin clouds that lean toward each other (correlations 0.93 and -0.91); a
# cut line in more columns.
LINE_CENTERS = np.array([[1.0, -1.0], [1.0, 1.0]])
LINE_COVARIANCES = np.array([[[1.4, 0.78], [0.78, 0.5]], [[0.95, -0.74], [-0.74, 0.7]]])
LINE_BOX = np.array([-4.0, -4.5]), np.array([6.0, 4.5])
LINE_NOISE = 0.05
LINE_MARGIN = 5.0 * LINE_NOISE

# The skewed sets: most records crowd on one side.
SKEWED_CENTERS = np.array([[-3.0, 0.0], [2.0, 0.0]])
SKEWED_DEVIATIONS = np.array([[0.5, 1.0], [1.5, 1.0]])
SKEWED_BOX = np.array([-6.0, -5.0]), np.array([8.0, 5.0])
SKEWED_SCALES = (0.5, 1.5)
SKEWED_SHIFT = 1.0
SKEWED_EXTENT = 10.0  # scales, beyond which an exponential distribution has 1 record in 22,000

ARM_START, ARM_END = 0.1, 0.9  # radii of a spiral


def make_gaussians(
    n_samples: int = 1000,
    *,
    n_clusters: int = 5,
    n_features: int = 2,
    bounds: Bounds = (-1.0, 1.0),
    spread: float = 0.05,
    separation: float = 4.0,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Generate clusters of equal size from normal distributions truncated to the box.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_clusters : int, default=5
        Number of clusters.
    n_features : int, default=2
        Number of columns.
    bounds : pair of floats or arrays, default=(-1.0, 1.0)
        Public box (low, high); all records lie inside it.
    spread : float, default=0.05
        Standard deviation of a cluster, as a share of the side of the box in each column.
    separation : float, default=4.0
        Smallest distance between two centers, in standard deviations; 0 sets no limit.
    random_state : None, int or numpy.random.Generator
        Seed of the generator; None gives other records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order; the label is the index of the cluster.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or so many centers do not fit into the box at this separation.

    Examples
    --------
    >>> blobs = make_gaussians(500, n_clusters=3, bounds=(0.0, 10.0), random_state=0)
    >>> blobs.X.shape, bool((blobs.X >= 0).all() and (blobs.X <= 10).all())
    ((500, 2), True)
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_clusters = _numbers.count("n_clusters", n_clusters)
    n_features = _numbers.count("n_features", n_features)
    low, high = public_box(bounds, n_features)
    spread = _numbers.positive("spread", spread)
    separation = _numbers.non_negative("separation", separation)
    rng = seeded_generator(random_state)

    centers = _centers(n_clusters, n_features, spread, separation, rng)
    labels = rng.permutation(np.arange(n_samples) % n_clusters)
    share = _cut_normal(centers[labels], spread, rng)
    return _generated(
        "gaussians",
        low + share * (high - low),
        labels.astype(np.int64),
        (low, high),
        source="shoal.datasets.make_gaussians",
    )


def _centers(
    n_clusters: int, n_features: int, spread: float, separation: float, rng: np.random.Generator
) -> Floats:
    """Draw centers in the unit cube, each at least `separation` deviations from the others."""
    margin = min(2.0 * spread, 0.4)  # Two deviations keep most of a cluster away from the walls.
    centers = np.empty((0, n_features))
    for _ in range(MAX_TRIES):
        if len(centers) == n_clusters:
            return centers
        candidate = rng.uniform(margin, 1.0 - margin, size=(1, n_features))
        distances = np.linalg.norm(centers - candidate, axis=1)
        if (distances >= separation * spread).all():
            centers = np.concatenate([centers, candidate])
    if len(centers) == n_clusters:
        return centers
    raise ParameterError(
        f"separation must leave room for n_clusters={n_clusters} centers in the box, "
        f"got {separation!r} with spread={spread!r}: lower one of the three"
    )


def _cut_normal(centers: Floats, spread: float, rng: np.random.Generator) -> Floats:
    """Draw normal values around `centers`, conditioned on the unit cube, by the inverse CDF."""
    # Loaded here, so that names of data sets can be had without it.
    from scipy.special import ndtr, ndtri  # noqa: PLC0415

    below, above = ndtr((0.0 - centers) / spread), ndtr((1.0 - centers) / spread)
    share: Floats = ndtri(below + (above - below) * rng.random(centers.shape))
    return np.clip(centers + spread * share, 0.0, 1.0)


def make_circle(
    n_samples: int = 1000,
    *,
    n_features: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Generate two round groups, one inside the other.

    In two columns: two rings of radius 1 (label 0) and 0.2 (label 1) with normal noise of standard
    deviation 0.1, in the box [-1.5, 1.5]^2. In d > 2 columns: a ball of radius 1 with uniform
    directions and radii, in [-1, 1]^d; label 0 up to radius 0.5, label 1 beyond.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_features : int, default=2
        Number of columns, at least 2.
    random_state : None, int or numpy.random.Generator
        Seed of the generator; None gives other records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order.

    Raises
    ------
    ParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> ring = make_circle(random_state=0)
    >>> radius = (ring.X**2).sum(axis=1) ** 0.5
    >>> [round(float(radius[ring.y == label].mean()), 1) for label in (0, 1)]
    [1.0, 0.2]
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_features = _check_columns(n_features)
    rng = seeded_generator(random_state)
    X, y = _rings(n_samples, rng) if n_features == 2 else _ball(n_samples, n_features, rng)
    side = 1.0 + 5.0 * RING_NOISE if n_features == 2 else 1.0
    return _generated(
        "circle",
        X,
        y,
        (np.full(n_features, -side), np.full(n_features, side)),
        source="shoal.datasets.make_circle, in the shape of the kd-Laplace thesis' circle set",
    )


def _rings(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 2)
    radius = np.where(labels == 0, 1.0, INNER_RING)
    angle = rng.uniform(0.0, 2.0 * np.pi, size=n_samples)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return ring + rng.normal(scale=RING_NOISE, size=ring.shape), labels.astype(np.int64)


def _ball(n_samples: int, n_features: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    normal = rng.normal(size=(n_samples, n_features))
    direction = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    radius = rng.random(n_samples)
    return radius[:, None] * direction, (radius > SHELL).astype(np.int64)


def make_line(
    n_samples: int = 1000,
    *,
    n_features: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Generate records along lines.

    In two columns: two elongated normal clouds, one for each label, in the box [-4, 6] x [-4.5,
    4.5]. In d > 2 columns: the line x1 = x2 = ... = xd from 0 to 1 with normal noise of standard
    deviation 0.05 on all but the first column, in [0, 1] x [-0.25, 1.25]^(d - 1); the labels are
    the lower and the upper half.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_features : int, default=2
        Number of columns, at least 2.
    random_state : None, int or numpy.random.Generator
        Seed of the generator; None gives other records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order.

    Raises
    ------
    ParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> line = make_line(n_features=3, random_state=0)
    >>> bool(abs(line.X[:, 1] - line.X[:, 0]).max() < 0.3)
    True
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_features = _check_columns(n_features)
    rng = seeded_generator(random_state)
    plane = n_features == 2
    X, y = _clouds(n_samples, rng) if plane else _diagonal(n_samples, n_features, rng)
    low, high = LINE_BOX if plane else _tube(n_features)
    return _generated(
        "line",
        X,
        y,
        (low.copy(), high.copy()),
        source="shoal.datasets.make_line, in the shape of the kd-Laplace thesis' line set",
    )


def _clouds(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 2)
    roots = np.linalg.cholesky(LINE_COVARIANCES)
    normal = rng.normal(size=(n_samples, 2, 1))
    X: Floats = LINE_CENTERS[labels] + (roots[labels] @ normal)[:, :, 0]
    return X, labels.astype(np.int64)


def _diagonal(n_samples: int, n_features: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    progress = rng.random(n_samples)
    noise = rng.normal(scale=LINE_NOISE, size=(n_samples, n_features - 1))
    X = np.column_stack([progress, progress[:, None] + noise])
    return X, (progress > 0.5).astype(np.int64)


def _tube(n_features: int) -> tuple[Floats, Floats]:
    """Bound the line and its noise; the first column has none."""
    low, high = np.full(n_features, -LINE_MARGIN), np.full(n_features, 1.0 + LINE_MARGIN)
    low[0], high[0] = 0.0, 1.0
    return low, high


def make_skewed(
    n_samples: int = 1000,
    *,
    n_features: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Generate records most of which lie on one side of the box.

    In two columns: 90% of the records in a narrow normal cloud on the left (label 0) and 10% in a
    wide one on the right (label 1), in [-6, 8] x [-5, 5]. In d > 2 columns: exponential
    distributions with scales from 0.5 to 1.5 in equal steps (label 0) and the same shifted by 1 in
    each column (label 1), half each; the box goes from 0 to 1 + 10 scales.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_features : int, default=2
        Number of columns, at least 2.
    random_state : None, int or numpy.random.Generator
        Seed of the generator; None gives other records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order.

    Raises
    ------
    ParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> skewed = make_skewed(random_state=0)
    >>> int((skewed.y == 0).sum()), bool((skewed.X[skewed.y == 0, 0] < 0).all())
    (900, True)
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_features = _check_columns(n_features)
    rng = seeded_generator(random_state)
    scales = np.linspace(*SKEWED_SCALES, n_features)
    plane = n_features == 2
    X, y = _two_clouds(n_samples, rng) if plane else _two_corners(n_samples, scales, rng)
    low, high = (
        SKEWED_BOX if plane else (np.zeros(n_features), SKEWED_SHIFT + SKEWED_EXTENT * scales)
    )
    return _generated(
        "skewed",
        X,
        y,
        (low.copy(), high.copy()),
        source="shoal.datasets.make_skewed, in the shape of the kd-Laplace thesis' skewed set",
    )


def _two_clouds(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 10 == 9).astype(np.int64)
    return rng.normal(SKEWED_CENTERS[labels], SKEWED_DEVIATIONS[labels]), labels


def _two_corners(n_samples: int, scales: Floats, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = rng.permutation(np.arange(n_samples) % 2).astype(np.int64)
    spread = rng.exponential(scales, size=(n_samples, len(scales)))
    return spread + SKEWED_SHIFT * labels[:, None], labels


def make_spirals(
    n_samples: int = 1000,
    *,
    n_arms: int = 3,
    n_features: int = 2,
    turns: float = 1.0,
    noise: float = 0.02,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Generate spirals that wind around each other, one for each label, in the box [-1, 1]^d.

    The radius of an arm grows from 0.1 to 0.9. In more than two columns the arms also rise from
    -0.9 to 0.9 in each column after the second, on a cone.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_arms : int, default=3
        Number of spirals.
    n_features : int, default=2
        Number of columns, at least 2.
    turns : float, default=1.0
        Number of turns of an arm.
    noise : float, default=0.02
        Standard deviation of the normal noise on every column.
    random_state : None, int or numpy.random.Generator
        Seed of the generator; None gives other records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order, evenly spread along the arms.

    Raises
    ------
    ParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> spirals = make_spirals(300, random_state=0)
    >>> [int((spirals.y == arm).sum()) for arm in range(3)]
    [100, 100, 100]
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_arms = _numbers.count("n_arms", n_arms)
    n_features = _check_columns(n_features)
    turns = _numbers.positive("turns", turns)
    noise = _numbers.non_negative("noise", noise)
    rng = seeded_generator(random_state)

    labels = rng.permutation(np.arange(n_samples) % n_arms).astype(np.int64)
    # The square root spreads records evenly over a length that grows with the radius.
    radius = np.sqrt(rng.uniform(ARM_START**2, ARM_END**2, size=n_samples))
    progress = (radius - ARM_START) / (ARM_END - ARM_START)
    angle = 2.0 * np.pi * (turns * progress + labels / n_arms)
    rise = ARM_END * (2.0 * progress - 1.0)
    arms = [radius * np.cos(angle), radius * np.sin(angle), *[rise] * (n_features - 2)]
    X = np.column_stack(arms)
    return _generated(
        "spirals",
        X + rng.normal(scale=noise, size=X.shape),
        labels,
        (np.full(n_features, -1.0), np.full(n_features, 1.0)),
        source="shoal.datasets.make_spirals",
    )


def _generated(
    name: str, X: Floats, y: Ints, box: tuple[Floats, Floats], *, source: str
) -> Dataset:
    """Wrap generated records; those beyond the declared bounds are clipped to them."""
    low, high = box
    X = np.clip(X, low, high)
    columns = tuple(f"x{column + 1}" for column in range(X.shape[1]))
    return Dataset(
        name=name,
        X=X,
        y=y,
        bounds=(low, high),
        columns=columns,
        license=GENERATED,
        source=source,
        table=number_table(X, columns),
        table_schema=of_numbers(name, columns, list(zip(low, high, strict=True)), REASON).content,
    )


def _check_columns(n_features: Any) -> int:
    """Return the number of columns of a shape, at least 2, or refuse it."""
    whole = isinstance(n_features, numbers.Integral) and not isinstance(n_features, bool)
    if not whole or n_features < 2:
        raise ParameterError(f"n_features must be a whole number >= 2, got {n_features!r}")
    return int(n_features)
