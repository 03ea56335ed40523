"""All studies by name."""

from shoal.experiments.reproduce.kccm import KccmStudy
from shoal.experiments.reproduce.kd_laplace import KdLaplaceStudy
from shoal.experiments.reproduce.study import Study
from shoal.experiments.reproduce.wavecluster import WaveClusterStudy

__all__ = ["STUDIES"]

STUDIES: dict[str, Study] = {
    study.name: study for study in (KdLaplaceStudy(), KccmStudy(), WaveClusterStudy())
}
