"""Names of columns: those that were given are used, printed and written, and no others.

The first line of a CSV file may be a record, and a schema may have been made of one. So no name is
taken from a file, and no message shows one that the caller did not know already.
"""

from collections.abc import Sequence

from shoal.exceptions import DataError, ParameterError

__all__ = ["check_header", "check_names", "locate_columns"]


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """See that there is a name, and none twice.

    Parameters
    ----------
    names : sequence of str
        Of the columns that are to be read.

    Returns
    -------
    names : tuple of str
        The same.

    Raises
    ------
    DataError
        If there is none, or one twice.
    """
    if not names or len(set(names)) < len(names):
        raise DataError("columns must be one or more, all different, got none or one twice")
    return tuple(names)


def locate_columns(found: Sequence[str], wanted: Sequence[str], where: str) -> list[int]:
    """Return where columns are, by their names.

    Parameters
    ----------
    found : sequence of str
        Names of all columns, which nobody is shown; blanks around them do not matter.
    wanted : sequence of str
        Names that were given.
    where : str
        What has these columns, for messages.

    Returns
    -------
    indices : list of int
        One for each of `wanted`.

    Raises
    ------
    DataError
        If a name is not there, or there twice.

    Examples
    --------
    >>> locate_columns(["height", " weight", "id", "id"], ["weight", "height"], "the file")
    [1, 0]
    """
    indices = []
    for name in wanted:
        same = [index for index, other in enumerate(found) if name in (other, other.strip())]
        if len(same) > 1:
            raise DataError(
                f"{where} must have one column {name!r}, got several: rename or drop the others"
            )
        if not same:
            raise DataError(
                f"{where} must have one column {name!r}, got none of that name among its "
                f"{len(found)}",
                parameter="names",
                in_python="look them up in the file, or pass names= if it has no header line",
            )
        indices.append(same[0])
    return indices


def check_header(names: Sequence[str], columns: int, where: str) -> None:
    """See that the names given for a file without a header line are those of all its columns.

    Parameters
    ----------
    names : sequence of str
        As given, in the order of the columns.
    columns : int
        How many there are.
    where : str
        The file, for messages.

    Raises
    ------
    ParameterError
        If there are more or fewer, or one twice.
    """
    if len(names) != columns or len(set(names)) < len(names):
        raise ParameterError(
            f"the columns of {where}, which has no header line, must be named one after the "
            f"other, all {columns} and different, got {len(names)} names"
        )
