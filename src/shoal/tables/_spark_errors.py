"""What goes wrong inside Spark, in one line that holds no value of a record."""

import builtins
import re
from collections.abc import Callable
from typing import Any, TypeVar

from shoal._optional import require
from shoal.exceptions import DataError, ShoalError

__all__ = ["CHANGED", "run"]

Result = TypeVar("Result")

CHANGED = (
    "X must stay as it is while it is read, got other records from the frame: write it to files "
    "first"
)
RUNS = 3  # of a pass whose worker was lost; a cluster tries each of its tasks four times by itself

LOST = "Python worker exited unexpectedly"  # Spark has no error condition for it
# Where a message begins: what stands in brackets further on may be a value.
CONDITION = re.compile(r"(?:^|Exception: |Error: )\[([A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")
PYTHON_ERROR = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception))\b", re.MULTILINE)


def run(action: Callable[[], Result]) -> Result:
    """Run an action without side effects, again where a Python worker was lost."""
    errors = (
        require("pyspark.errors", extra="spark").PySparkException,
        require("py4j.protocol", extra="spark").Py4JError,
    )
    for _ in range(RUNS):
        try:
            return action()
        except errors as error:
            failure = _plain(_text(error))
        # Out here, where no frame and no context of it holds what Spark says.
        if failure is not None:
            raise failure
    raise ShoalError(
        f"a Python worker of Spark was lost in each of {RUNS} runs: give workers more memory "
        "(spark.executor.memoryOverhead) or smaller partitions"
    )


def _text(error: Any) -> str:
    """Return all that Spark says; it may hold values of records, so it goes no further."""
    if hasattr(error, "getCondition"):
        return f"[{error.getCondition()}] {error}"
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else f"{java.toString()}\n{error}"


def _plain(text: str) -> ShoalError | None:
    """Return what may be said of it; None where a worker was lost."""
    if LOST in text:
        return None
    condition = CONDITION.search(text)
    name = condition[1] if condition else "no error condition"
    if name == "PYTHON_EXCEPTION":
        found = PYTHON_ERROR.findall(text)
        # A line of a value may look like one; it is none of Python's own.
        name = next((one for one in reversed(found) if hasattr(builtins, one)), name)
        if name == "ModuleNotFoundError":
            return ShoalError(
                "shoal must be installed for the Python workers of Spark: they lack it"
            )
        return ShoalError(f"Spark's Python workers must do their part, got {name} from one")
    if "maxResultSize" in text:
        return ShoalError(
            "the statistics of all partitions must fit into spark.driver.maxResultSize, got more: "
            "raise it"
        )
    return DataError(
        f"X must be a frame that Spark can read to its end, got an error of Spark ({name}): look "
        "into the driver's log"
    )
