"""Raw records wherever they are: in memory, in files, in a Spark cluster. No noise lives here."""

from shoal.tables.array_table import ArrayTable
from shoal.tables.arrow_table import ArrowTable
from shoal.tables.open_table import open_table
from shoal.tables.spark_table import SparkTable
from shoal.tables.table import Block, CountRows, Fold, Job, Label, Table

__all__ = [
    "ArrayTable",
    "ArrowTable",
    "Block",
    "CountRows",
    "Fold",
    "Job",
    "Label",
    "SparkTable",
    "Table",
    "open_table",
]
