"""Put the light files of shoal into the wheel and into the archive of sources, and describe it."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LIGHT = runpy.run_path(str(Path(__file__).with_name("light_files.py")))


class LightFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Add each file where the target has it: in an archive below ``src``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files before anything is built."""
        folder = "" if self.target_name == "wheel" else "src/"
        for file, path in LIGHT["light_files"]().items():
            build_data["force_include"][file] = f"{folder}{path}"


class LongDescription(MetadataHookInterface):
    """Describe the client by its README, as shoal is by its own."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the one field that is made here; an archive of sources carries it already."""
        hook = runpy.run_path(str(Path(self.root).parents[1] / "hatch_build.py"))
        address = metadata["urls"]["Repository"]
        metadata["readme"] = hook["long_description"](Path(self.root), address, "clients/python")
