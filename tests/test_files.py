"""Files that are whole or not there, and what Windows needs for it."""

import ctypes
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal import _files
from shoal._files import atomic_write, rename_folder, sync_folder


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.write_text("old")

    def fail() -> None:
        with atomic_write(path) as part:
            part.write_text("new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("note", "old")]


@pytest.mark.parametrize("system", ["here", "win32"])
def test_a_folder_takes_the_name_of_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    """Windows renames onto nothing that is there."""
    folder, empty, full = tmp_path / "folder", tmp_path / "empty", tmp_path / "full"
    for made in (folder, empty, full):
        made.mkdir()
    (folder / "file").write_text("one")
    (full / "other").write_text("other")
    if system == "win32":
        monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(OSError, match="not empty"):
        rename_folder(folder, full)
    rename_folder(folder, empty)
    assert (empty / "file").read_text() == "one"
    assert (full / "other").read_text() == "other"


def test_a_folder_is_synced_where_it_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "none")
    monkeypatch.setattr(sys, "platform", "win32")
    sync_folder(tmp_path / "none")


@pytest.mark.parametrize("failures", [0, 2, 100])
def test_a_file_that_somebody_has_open_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    slept: list[float] = []
    tries: list[int] = []

    def move() -> None:
        tries.append(1)
        if len(tries) <= failures:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(time, "sleep", slept.append)
    if failures < len(_files.PAUSES):
        _files._retry(move)
        assert len(slept) == failures
    else:
        with pytest.raises(PermissionError):
            _files._retry(move)
        assert sum(slept) < 1.0


def test_on_windows_a_new_name_is_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags: list[int] = []

    def move(part: str, path: str, asked: int) -> int:
        flags.append(asked)
        Path(part).rename(path)
        return 1

    kernel32 = SimpleNamespace(MoveFileExW=move)
    monkeypatch.setattr(ctypes, "WinDLL", lambda *_, **__: kernel32, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    with atomic_write(tmp_path / "note") as part:
        part.write_bytes(b"new")
    assert (tmp_path / "note").read_bytes() == b"new"
    assert flags == [1 | 8]  # replace what is there, and return when it is on the disk
