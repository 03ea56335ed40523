"""``shoal collect shuffle``: what it needs, and what it refuses to do without."""

import pytest
from typer.testing import CliRunner

from helpers.campaigns import KEY, signed_campaign
from helpers.loggers import restored_loggers
from helpers.relay import relayed_campaign
from shoal import shuffler
from shoal.cli import app
from shoal.exceptions import CampaignError, ParameterError, ShoalError
from shoal.service import KEY_PREFIX, new_credential

OWN = new_credential(KEY_PREFIX)[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOAL_PUBLIC_KEY", str(KEY.public))
    monkeypatch.setenv("SHOAL_RELAY_KEY", OWN)
    (tmp_path / "homes.json").write_bytes(relayed_campaign().envelope)
    with restored_loggers():
        yield tmp_path


def run(*arguments, document="homes.json", to="https://collect.example.org"):
    words = ["collect", "shuffle", "--campaign", document, "--to", to, "--port", "0", *arguments]
    return CliRunner().invoke(app, words)


def test_options_are_settings(folder, monkeypatch):
    given = []
    monkeypatch.setattr(shuffler, "serve", lambda *arguments: given.append(arguments))
    result = run("--db", "other.db", "--proxies", "1", "--set", "retry_seconds=5")
    assert result.exit_code == 0, result.output
    ((document, public_key, keys, settings),) = given
    assert (document, public_key, str(keys)) == ("homes.json", str(KEY.public), "relay.keys")
    assert (settings.database, settings.to) == ("other.db", "https://collect.example.org")
    assert (settings.key, settings.trusted_proxies, settings.retry_seconds) == (OWN, 1, 5)
    assert OWN not in repr(settings)


def test_a_key_that_no_header_can_hold_is_refused_before_the_first_batch(folder, monkeypatch):
    monkeypatch.setenv("SHOAL_RELAY_KEY", f"{OWN}\n")
    result = run()
    assert "key must be what `shoal collect key new` printed" in str(result.exception)
    assert OWN not in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"to": "http://collect.example.org"}, ParameterError, "to must be an https address"),
        ({"document": "nowhere.json"}, ParameterError, "campaign must be a file"),
        ({"document": "plain.json"}, ParameterError, "campaign must name a shuffler"),
        ({"document": "forged.json"}, CampaignError, "sign"),
    ],
)
def test_what_is_refused(folder, arguments, error, message):
    (folder / "plain.json").write_bytes(signed_campaign().envelope)
    (folder / "forged.json").write_bytes(relayed_campaign().envelope.replace(b'"sig"', b'"gis"'))
    result = run(**arguments)
    assert isinstance(result.exception, error), result.output
    assert message in str(result.exception)
    assert not (folder / "relay.db").exists()


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("SHOAL_PUBLIC_KEY", "--public-key must be given"),
        ("SHOAL_RELAY_KEY", "--key must be given"),
    ],
)
def test_what_must_be_given(folder, monkeypatch, variable, message):
    monkeypatch.delenv(variable)
    result = run()
    assert isinstance(result.exception, ShoalError)
    assert message in str(result.exception)


def test_no_device_may_have_the_key_of_the_relay(folder):
    (folder / "relay.keys").write_text(f"{OWN}\n")
    result = run()
    assert "key must not be in 'relay.keys'" in str(result.exception)
    assert OWN not in str(result.exception)
