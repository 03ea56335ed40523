"""The long description of what is published: the README with absolute links.

Beside a page of PyPI there is no folder of ours. Links lead to the repository, whose one address is
in ``[project.urls]``; while that is none, nothing is published (docs/releasing.md).
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
IMAGE = re.compile(r"(!\[[^\]]*\]\()([^)\s]+)(?=\))")
LINK = re.compile(r"(\]\()([^)\s]+)(?=\))")
ABSOLUTE = re.compile(r"[a-z]+:|#")


class LongDescription(MetadataHookInterface):
    """Describe shoal by its README."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the one field that is made here; an archive of sources carries it already."""
        metadata["readme"] = long_description(Path(self.root), metadata["urls"]["Repository"])


def long_description(project: Path, repository: str, folder: str = "") -> dict[str, str]:
    """Return the README of a project, which is in a folder of the repository, as metadata."""
    text = (project / "README.md").read_text(encoding="utf-8")
    return {"content-type": "text/markdown", "text": absolute_links(text, repository, folder)}


def absolute_links(text: str, repository: str, folder: str = "") -> str:
    """Return Markdown whose relative links lead to the repository; those of images, to the file."""

    def absolute(kind: str, match: re.Match[str]) -> str:
        before, target = match.groups()
        if ABSOLUTE.match(target):
            return match[0]
        path, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, path))
        return f"{before}{repository}/{kind}/main/{path}{mark}{anchor}"

    def rewrite(prose: str) -> str:
        prose = IMAGE.sub(lambda match: absolute("raw", match), prose)
        return LINK.sub(lambda match: absolute("blob", match), prose)

    parts = CODE.split(text)
    return "".join(part if CODE.fullmatch(part) else rewrite(part) for part in parts)
