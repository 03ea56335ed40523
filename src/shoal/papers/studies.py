"""All studies by name."""

from shoal.papers.kccm.kccm_study import KccmStudy
from shoal.papers.kd_laplace.study import KdLaplaceStudy
from shoal.papers.study import Study
from shoal.papers.wavecluster.study import WaveClusterStudy

__all__ = ["STUDIES"]

STUDIES: dict[str, Study] = {
    study.name: study for study in (KdLaplaceStudy(), KccmStudy(), WaveClusterStudy())
}
