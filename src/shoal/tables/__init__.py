"""Raw records in memory, in files and in Spark: reading, checking, and computing sums over them.

Estimators make tables of what ``fit`` is given; :class:`ArrowTable` and :class:`SparkTable` can be
passed to them too. Nothing here adds noise. The readers of files and of Spark DataFrames are
imported on first use: a device needs neither.
"""

import importlib
from typing import TYPE_CHECKING, Any

from shoal.tables.array_table import ArrayTable
from shoal.tables.table import (
    Block,
    CountRows,
    Fold,
    Job,
    Label,
    Table,
    usable_threads,
)

if TYPE_CHECKING:
    from shoal.tables.arrow_table import ArrowTable
    from shoal.tables.columns import CHANGED, refuse_infinite
    from shoal.tables.files import (
        check_table_path,
        open_table,
        read_columns,
        read_first_line,
        read_table,
        table_csv,
        write_table,
    )
    from shoal.tables.numpy_files import array_file, is_array_path, open_array
    from shoal.tables.sources import MemoryFile
    from shoal.tables.spark_table import SparkTable

__all__ = [
    "CHANGED",
    "ArrayTable",
    "ArrowTable",
    "Block",
    "CountRows",
    "Fold",
    "Job",
    "Label",
    "MemoryFile",
    "SparkTable",
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
    "table_csv",
    "usable_threads",
    "write_table",
]

_MODULES = {
    "CHANGED": "columns",
    "ArrowTable": "arrow_table",
    "MemoryFile": "sources",
    "SparkTable": "spark_table",
    "array_file": "numpy_files",
    "check_table_path": "files",
    "is_array_path": "numpy_files",
    "open_array": "numpy_files",
    "open_table": "files",
    "read_columns": "files",
    "read_first_line": "files",
    "read_table": "files",
    "refuse_infinite": "columns",
    "table_csv": "files",
    "write_table": "files",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'shoal.tables' has no attribute {name!r}")
        return getattr(importlib.import_module(f"shoal.tables.{_MODULES[name]}"), name)
