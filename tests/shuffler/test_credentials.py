"""The relay's own keys: made once, for their owner alone, and ended by taking a line out."""

import os
import stat

import pytest

from shoal.exceptions import ParameterError
from shoal.service import KEY_PREFIX, TOKEN_PREFIX, new_credential
from shoal.shuffler import FileCredentials


def test_a_file_is_made_with_a_key_and_a_token(tmp_path):
    path = tmp_path / "relay.keys"
    mask = os.umask(0)
    try:
        made = FileCredentials(path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key, token = path.read_text().split()
    assert made.ingest_key_ok("homes", key)
    assert made.find_token(token).scopes == {"metrics"}
    assert not made.ingest_key_ok("homes", token)
    assert made.find_token(key) is None
    again = FileCredentials(path)
    assert again.ingest_key_ok("homes", key)


def test_a_line_that_is_taken_out_ends(tmp_path):
    path = tmp_path / "relay.keys"
    first, second = (new_credential(KEY_PREFIX)[1] for _ in range(2))
    path.write_text(f"# devices of the first app\n{first}\n\n{second}\n")
    keys = FileCredentials(path)
    assert keys.ingest_key_ok("homes", first)
    path.write_text(f"{second}\n")
    assert not keys.ingest_key_ok("homes", first)
    assert keys.ingest_key_ok("homes", second)
    path.write_text("half a line")  # as while it is edited
    assert keys.ingest_key_ok("homes", second)
    path.unlink()
    assert keys.ingest_key_ok("homes", second)


@pytest.mark.parametrize("text", ["", "shoal_key_x", "shoal_key_0a1b2c3d4e5f_", "é"])
def test_what_is_no_key_opens_nothing(tmp_path, text):
    keys = FileCredentials(tmp_path / "relay.keys")
    assert not keys.ingest_key_ok("homes", text)
    assert keys.find_token(text) is None


def test_files_that_are_refused(tmp_path):
    path = tmp_path / "relay.keys"
    path.write_text(f"{new_credential(TOKEN_PREFIX)[1]}\nhunter2\n")
    with pytest.raises(ParameterError, match=r"got another line \(2\)") as refused:
        FileCredentials(path)
    assert "hunter2" not in str(refused.value)
    with pytest.raises(ParameterError, match="must be a file that can be read"):
        FileCredentials(tmp_path)
