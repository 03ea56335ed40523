"""Mixed tables: numbers, categories and gaps, each with a schema file of the package."""

from shoal.datasets._described import described
from shoal.datasets.dataset import DatasetInfo

__all__ = ["MIXED"]


def _info(name: str, file: str, sha256: str, *, license: str, source: str) -> DatasetInfo:
    description = described(name)
    return DatasetInfo(
        name=name,
        limits=tuple(description.limits.values()),
        reason=description.reason,
        license=license,
        source=source,
        columns=tuple(description.limits),
        table=description.names,
        file=file,
        sha256=sha256,
    )


MIXED = (
    _info(
        "adult_mixed",
        "mixed/adult.parquet",
        "502919a706273fde8b7792d8c31ad089f47233f9f4214bdcec32f90c96b84512",
        license="CC BY 4.0 (UCI)",
        source="UCI id 2, doi 10.24432/C5XW20, all columns, both parts; from github.com/vukk/lfr",
    ),
    _info(
        "diamonds",
        "mixed/diamonds.parquet",
        "8ad4797917aa90c451a69f6886c88beb47d904487e7b5088c8eb020cb2357e0e",
        license="MIT",
        source="ggplot2's diamonds; from github.com/mwaskom/seaborn-data",
    ),
)
