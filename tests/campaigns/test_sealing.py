"""Sealed reports: HPKE as RFC 9180 has it, of one length, for one key and one campaign."""

import stat

import pytest
from cryptography.hazmat.bindings._rust import openssl
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from shoal.campaigns import (
    SEALED_OVERHEAD,
    SealingKey,
    SealingPublicKey,
    Shuffler,
    SigningKey,
    sealing,
)
from shoal.exceptions import CampaignError, ParameterError

KEY = SealingKey(bytes(range(32)))

# RFC 9180, appendix A.1.1: base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
RFC_INFO = bytes.fromhex("4f6465206f6e2061204772656369616e2055726e")
RFC_KEY = bytes.fromhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
RFC_ENC = bytes.fromhex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431")
RFC_TEXT = bytes.fromhex("4265617574792069732074727574682c20747275746820626561757479")
RFC_SEALED = bytes.fromhex(
    "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
)


def test_suite_is_the_one_of_the_rfc():
    opened = openssl.hpke._decrypt_with_aad(
        sealing.SUITE,
        RFC_ENC + RFC_SEALED,
        X25519PrivateKey.from_private_bytes(RFC_KEY),
        info=RFC_INFO,
        aad=b"Count-0",
    )
    assert opened == RFC_TEXT


@pytest.mark.parametrize("report", [b"", b"a", bytes(255)], ids=len)
def test_sealed_reports_open_and_have_one_length(report):
    sealed = KEY.public.seal(report, "homes")
    assert len(sealed) == len(report) + SEALED_OVERHEAD
    assert KEY.open(sealed, "homes") == report
    assert KEY.public.seal(report, "homes") != sealed  # a key of its own each time


def test_nobody_else_opens_them():
    sealed = KEY.public.seal(b"ab", "homes")
    for key, text, campaign in [
        (SealingKey.new(), sealed, "homes"),
        (KEY, sealed, "other"),
        (KEY, sealed[:-1], "homes"),
        (KEY, sealed[:40], "homes"),
        (KEY, b"", "homes"),
        (KEY, bytes([sealed[0] ^ 1]) + sealed[1:], "homes"),
        (KEY, sealed[:-1] + bytes([sealed[-1] ^ 1]), "homes"),
        (KEY, bytes(32) + sealed[32:], "homes"),  # a point of small order
    ]:
        with pytest.raises(CampaignError, match="must open with the campaign's key"):
            key.open(text, campaign)


def test_keys_are_read_as_they_were_written(tmp_path):
    KEY.save(tmp_path / "sealing.pem")
    assert stat.S_IMODE((tmp_path / "sealing.pem").stat().st_mode) == 0o600
    assert SealingKey.load(tmp_path / "sealing.pem").public == KEY.public
    assert SealingPublicKey.from_text(str(KEY.public)) == KEY.public
    assert "x25519:" in repr(KEY)
    with pytest.raises(ParameterError, match="must not exist yet"):
        KEY.save(tmp_path / "sealing.pem")
    SigningKey.new().save(tmp_path / "signing.pem")
    with pytest.raises(CampaignError, match="must hold an X25519 key"):
        SealingKey.load(tmp_path / "signing.pem")
    with pytest.raises(ParameterError, match="must not be pickled"):
        KEY.__reduce__()


@pytest.mark.parametrize(
    "text", ["", "x25519:", "ed25519:" + "A" * 43, "x25519:" + "A" * 43, str(KEY.public) + "="]
)
def test_keys_that_are_none(text):
    with pytest.raises(ParameterError):
        SealingPublicKey.from_text(text)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"operator": ""}, "operator must say"),
        ({"operator": 3}, "operator"),
        ({"batch_size": 1}, "batch_size must be"),
        ({"batch_size": True}, "batch_size must be"),
        ({"batch_size": 100_001}, "batch_size must be at most"),
        ({"key": "x25519:abc"}, "a public key must be"),
    ],
)
def test_shufflers_that_are_none(changed, rule):
    fields = {"operator": "X", "batch_size": 10, "key": str(KEY.public)}
    assert Shuffler.from_dict(fields).to_dict() == fields
    with pytest.raises(ParameterError, match=rule):
        Shuffler.from_dict({**fields, **changed})
    with pytest.raises(ParameterError, match="must have the fields"):
        Shuffler.from_dict({"operator": "X"})
