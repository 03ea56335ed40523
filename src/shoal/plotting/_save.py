"""A figure into a file, whole or not at all."""

import io
import os
from pathlib import Path
from typing import Any

from shoal._whole_file import whole_file
from shoal.exceptions import ParameterError

__all__ = ["check_path", "save"]

# The time of drawing is left out, so that the same figure is the same file.
METADATA: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path if a figure can be written in the format that it ends with."""
    file = Path(path)
    if file.suffix.lower() not in METADATA:
        raise ParameterError(f"path must end with {', '.join(METADATA)}, got {file.name!r}")
    return file


def save(drawing: Any, path: str | os.PathLike[str]) -> Path:
    """Write a figure of matplotlib in the format that the path ends with.

    Parameters
    ----------
    drawing : Figure
        What to write.
    path : path
        PNG, SVG or PDF file.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If the file has another ending or cannot be written; an older file is then as it was.
    """
    file = check_path(path)
    ending = file.suffix.lower()
    content = io.BytesIO()
    drawing.savefig(content, format=ending[1:], metadata=METADATA[ending])
    try:
        with whole_file(file) as part:
            part.write_bytes(content.getvalue())
    except OSError as failure:
        raise ParameterError(
            f"path must be a file that can be written, got {str(file)!r}: {failure.strerror}"
        ) from None
    return file
