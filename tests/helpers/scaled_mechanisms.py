"""Every mechanism, for standardized records, at an epsilon where clusters survive."""

from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)

BOX = (-3.0, 3.0)
MECHANISMS = {
    "Laplace": Laplace(20.0, bounds=BOX, random_state=0),
    "Laplace-resample": Laplace(20.0, bounds=BOX, truncate="resample", random_state=0),
    "PlanarLaplace": PlanarLaplace(20.0, bounds=BOX, random_state=0),
    "SphericalLaplace": SphericalLaplace(20.0, bounds=BOX, random_state=0),
    "Piecewise": Piecewise(20.0, bounds=BOX, random_state=0),
    "Piecewise-sample": Piecewise(8.0, bounds=BOX, columns="sample", random_state=0),
    "Duchi": Duchi(20.0, bounds=BOX, random_state=0),
    "Hybrid": Hybrid(20.0, bounds=BOX, random_state=0),
    "SquareWave": SquareWave(20.0, bounds=BOX, random_state=0),
}
