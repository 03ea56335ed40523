"""Local randomizers: each device perturbs its own record, and only the result leaves the device.

The result is called a *report*. Mechanisms are scikit-learn transformers from records to reports.
Local mechanisms (:class:`PartitionResponse`, :class:`Piecewise`, :class:`SquareWave`,
:class:`Duchi`, :class:`Hybrid`) protect any two records equally; metric ones (:class:`Laplace` and
its relatives) protect records the more, the nearer they are to each other.
"""

from shoal.mechanisms._base import Mechanism
from shoal.mechanisms.documents import document_beside, load_mechanism, save_beside
from shoal.mechanisms.duchi import Duchi
from shoal.mechanisms.hybrid import Hybrid
from shoal.mechanisms.inverse_cdf import PlanarLaplace, SphericalLaplace
from shoal.mechanisms.kd_laplace import KdLaplace
from shoal.mechanisms.laplace import Laplace
from shoal.mechanisms.partition_response import PartitionResponse
from shoal.mechanisms.report_format import ReportColumn, ReportFormat
from shoal.mechanisms.windows import Piecewise, SquareWave

__all__ = [
    "Duchi",
    "Hybrid",
    "KdLaplace",
    "Laplace",
    "Mechanism",
    "PartitionResponse",
    "Piecewise",
    "PlanarLaplace",
    "ReportColumn",
    "ReportFormat",
    "SphericalLaplace",
    "SquareWave",
    "document_beside",
    "load_mechanism",
    "save_beside",
]
