"""Raw records wherever they are: in memory, in files, in a Spark cluster. No noise lives here."""

from shoal.tables.array_table import ArrayTable
from shoal.tables.arrow_table import ArrowTable
from shoal.tables.columns import CHANGED, refuse_infinite
from shoal.tables.files import (
    check_table_path,
    open_table,
    read_columns,
    read_first_line,
    read_table,
    write_table,
)
from shoal.tables.numpy_files import array_file, is_array_path, open_array
from shoal.tables.spark_table import SparkTable
from shoal.tables.table import (
    Block,
    CountRows,
    Fold,
    Job,
    Label,
    Staged,
    Table,
    usable_threads,
)

__all__ = [
    "CHANGED",
    "ArrayTable",
    "ArrowTable",
    "Block",
    "CountRows",
    "Fold",
    "Job",
    "Label",
    "SparkTable",
    "Staged",
    "Table",
    "array_file",
    "check_table_path",
    "is_array_path",
    "open_array",
    "open_table",
    "read_columns",
    "read_first_line",
    "read_table",
    "refuse_infinite",
    "usable_threads",
    "write_table",
]
