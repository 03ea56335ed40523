"""The kd-Laplace thesis as published, without any guarantee: its methods, figures and leaks.

T. van der Ende, "Using kd-Laplace to train privacy-preserving clustering algorithms on distributed
k-dimensional data" (Open University), two drafts of it, and the code that made its figures
(github.com/tjvanderende/privacy-preserved-clustering-with-nD-Laplace). Where thesis and code differ
there is ``source="thesis"|"code"``; the figures come from the code. The corrected methods are
:class:`shoal.mechanisms.Laplace` and :mod:`shoal.remap`.

===========================  ====================  =================================================
here                         in the figures        flaw
===========================  ====================  =================================================
:class:`NdLaplace`           nd-Laplace            1: theta uniform in [0, pi] for d = 3;
                                                   2: a unit vector used as angles for d >= 4
:class:`GridNdLaplace`       grid-nd-Laplace       3: box and neighbors are those of raw records
:class:`DensityNdLaplace`    density-nd-Laplace    3: reports are means of raw records
:class:`DraftLaplace`        (drafts only)         4: drawing again costs; sigma of raw records
:class:`ComparedPiecewise`   piecewise             every column spends the whole epsilon
===========================  ====================  =================================================

Flaw 5 is in the data: the author's seeds file lost decimal points (``kd_laplace_seeds``).

``shoal reproduce kd-laplace`` runs the experiments again, as published and corrected, beside the
published figures (``load_figures``), and judges the claims. :func:`measure_leak` measures how
much a published method reveals; ``corrected_epsilon`` says what noise in doubles costs.
"""

from shoal.papers.kd_laplace.drafts import DraftLaplace
from shoal.papers.kd_laplace.figures import Figure, load_figures
from shoal.papers.kd_laplace.finite_precision import corrected_epsilon
from shoal.papers.kd_laplace.leaks import Leak, measure_leak
from shoal.papers.kd_laplace.nd_laplace import NdLaplace
from shoal.papers.kd_laplace.piecewise import ComparedPiecewise
from shoal.papers.kd_laplace.remaps import DensityNdLaplace, GridNdLaplace

__all__ = [
    "ComparedPiecewise",
    "DensityNdLaplace",
    "DraftLaplace",
    "Figure",
    "GridNdLaplace",
    "Leak",
    "NdLaplace",
    "corrected_epsilon",
    "load_figures",
    "measure_leak",
]
