"""Credentials: shown once, stored as hashes, ended by time or by hand."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from shoal.collector.store import SCOPES, Store
from shoal.collector.store.models import ingest_keys, tokens
from shoal.exceptions import ParameterError, StoreError

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is set."""

    time = NOW

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def timed(store, clock):
    """Return a store of the same database whose time is that of the test."""
    return Store(store._database, clock)


def later(**kwargs):
    return NOW + timedelta(**kwargs)


def test_a_token_is_found_by_its_text(timed):
    text = timed.add_token("Ada", ["read", "analyze"], later(days=1))
    found = timed.find_token(text)
    assert text.startswith("shoal_token_")
    assert (found.name, found.scopes) == ("Ada", {"read", "analyze"})
    assert found.expires == later(days=1)
    assert found in timed.tokens()
    assert timed.add_token("Ada", ["read"], later(days=1)) != text


def test_a_token_ends(timed, clock):
    text = timed.add_token("Ada", ["read"], later(hours=1))
    clock.time = later(minutes=59)
    assert timed.find_token(text) is not None
    clock.time = later(hours=1)
    assert timed.find_token(text) is None


def test_a_token_is_revoked(timed):
    text, other = (timed.add_token("Ada", ["publish"], later(days=1)) for _ in range(2))
    identifier = timed.find_token(text).id
    timed.revoke_token(identifier)
    assert timed.find_token(text) is None
    assert timed.find_token(other) is not None
    assert [token.revoked for token in timed.tokens() if token.id == identifier] == [True]
    with pytest.raises(StoreError, match="no token with id 'nobody'"):
        timed.revoke_token("nobody")


def test_other_texts_are_no_tokens(timed, campaign):
    text = timed.add_token("Ada", ["read"], later(days=1))
    swapped = text[:-1] + ("A" if text[-1] != "A" else "B")
    key = timed.add_ingest_key(campaign)
    for wrong in ("", "shoal_token_", swapped, text + "A", text[1:], key, text[:24], "\ud800", "é"):
        assert timed.find_token(wrong) is None, wrong
        assert not timed.ingest_key_ok(campaign, wrong + "x"), wrong


def test_secrets_are_stored_as_hashes(timed, campaign):
    text, key = timed.add_token("Ada", ["read"], later(days=1)), timed.add_ingest_key(campaign)
    secrets = [one.split("_", 3)[3] for one in (text, key)]
    assert min(map(len, secrets)) == 43  # 256 bits
    with timed._database.read() as connection:
        rows = [*connection.execute(select(tokens)), *connection.execute(select(ingest_keys))]
    for secret in secrets:
        assert secret not in repr(rows)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"scopes": ["admin"]}, "scopes must be some of read, analyze, publish, metrics"),
        ({"scopes": []}, "scopes must be some of"),
        ({"expires": later(seconds=0)}, "expires must be a time in the future"),
        ({"expires": datetime(2040, 1, 1)}, "with its time zone"),
        ({"name": " "}, "name must say who"),
    ],
)
def test_a_token_without_sense_is_refused(timed, kwargs, message):
    with pytest.raises(ParameterError, match=message):
        timed.add_token(**{"name": "Ada", "scopes": SCOPES, "expires": later(days=1), **kwargs})


def test_an_ingest_key_is_of_one_campaign(timed, campaign, counted):
    key, other = timed.add_ingest_key(campaign), timed.add_ingest_key(campaign)
    assert key.startswith("shoal_key_")
    assert timed.ingest_key_ok(campaign, key)
    assert not timed.ingest_key_ok(counted, key)
    known = timed.ingest_keys(campaign)
    assert {one.id for one in known} == {text.split("_")[2] for text in (key, other)}
    timed.revoke_ingest_key(key.split("_")[2])
    assert not timed.ingest_key_ok(campaign, key)
    assert timed.ingest_key_ok(campaign, other)
    assert timed.ingest_keys(counted) == []
    with pytest.raises(StoreError, match="no ingest key"):
        timed.revoke_ingest_key("nobody")
