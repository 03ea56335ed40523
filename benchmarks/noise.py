"""Samplers and reports against numpy drawing the same amount of randomness."""

from collections.abc import Iterator

import numpy as np
from timing import Ratio, compare

from shoal.mechanisms import Laplace
from shoal.noise import SecureSource, discrete_laplace, rounded_gaussian

COUNT = 1_000_000


def ratios() -> Iterator[Ratio]:
    """Yield one ratio a line; targets are those the project set itself."""
    rng, source = np.random.default_rng(), SecureSource()
    for scale in (0.5, 2.0, 100.0, 1e6):
        p = -np.expm1(-1 / scale)
        yield compare(
            f"discrete Laplace, scale {scale:g} / numpy geometric",
            lambda scale=scale: discrete_laplace(COUNT, scale=scale, source=source),
            lambda p=p: rng.geometric(p, COUNT),
            count=COUNT,
            target=0.25,
        )
    for sigma in (2.0, 2.0**28):
        yield compare(
            f"rounded normal, sigma {sigma:g} / numpy normal",
            lambda sigma=sigma: rounded_gaussian(COUNT, sigmas=sigma, source=source),
            lambda: rng.standard_normal(COUNT),
            count=COUNT,
        )
    for d in (1, 2, 3, 8, 16):
        n = COUNT // d
        records = rng.uniform(-1.0, 1.0, (n, d))
        mechanism = Laplace(2.0, bounds=(-1.0, 1.0)).fit(records)
        yield compare(
            f"Laplace reports, d = {d} / numpy normals and gammas",
            lambda m=mechanism, x=records: m.transform(x),
            lambda n=n, d=d: (rng.standard_normal((n, d)), rng.standard_gamma(d, n)),
            count=n,
            target=0.5,
        )
