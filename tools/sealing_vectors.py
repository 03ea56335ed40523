"""Make the vectors of sealed reports: that of RFC 9180 and our own, by HPKE from its parts.

``python tools/sealing_vectors.py [FOLDER]`` writes ``sealing.json`` to ``clients/vectors``.
``cryptography`` draws the ephemeral key itself, so it cannot make a vector; it opens ours
(tests/js/test_vectors.py).
"""

import hashlib
import hmac
import json
import sys
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["sealing_vectors"]

FOLDER = Path(__file__).resolve().parent.parent / "clients" / "vectors"
KEM, SUITE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"
RFC = "RFC 9180, A.1"
# Section A.1.1 and the first encryption of A.1.1.1; `sealed` is enc and ct.
RFC_VECTOR = {
    "info": "4f6465206f6e2061204772656369616e2055726e",
    "ephemeral_secret": "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736",
    "ephemeral_public": "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
    "secret": "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
    "public": "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
    "aad": "436f756e742d30",
    "plaintext": "4265617574792069732074727574682c20747275746820626561757479",
    "sealed": "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
    "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
}
# Points with which a shared secret is 0, whoever owns the other key.
SMALL_ORDER = [
    "00" * 32,
    "01" + "00" * 31,
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ec" + "ff" * 30 + "7f",
    "ed" + "ff" * 30 + "7f",
    "ee" + "ff" * 30 + "7f",
    "00" * 31 + "80",
]


def sealing_vectors() -> dict[str, Any]:
    """Return the vectors: bytes that were sealed, and keys that must be refused."""
    sealed = {RFC: RFC_VECTOR}
    for number, report in enumerate([b"\x07\x01", b"", bytes(range(256)) * 2]):
        name = f"a report of {len(report)} bytes"
        campaign = ["homes", "a", "a" * 64][number]
        sealed[name] = _sealed(
            bytes([number + 1]) * 32, bytes([number + 101]) * 32, report, campaign
        )
    return {"sealed": sealed, "small_order": SMALL_ORDER}


def _sealed(secret: bytes, ephemeral_secret: bytes, report: bytes, campaign: str) -> dict[str, str]:
    owner = X25519PrivateKey.from_private_bytes(secret)
    ephemeral = X25519PrivateKey.from_private_bytes(ephemeral_secret)
    public, info = owner.public_key().public_bytes_raw(), f"shoal report 1\n{campaign}".encode()
    parts = {
        "info": info,
        "ephemeral_secret": ephemeral_secret,
        "ephemeral_public": ephemeral.public_key().public_bytes_raw(),
        "secret": secret,
        "public": public,
        "aad": b"",
        "plaintext": report,
        "sealed": seal(public, info, report, ephemeral=ephemeral),
    }
    return {name: value.hex() for name, value in parts.items()}


def seal(
    public: bytes, info: bytes, plaintext: bytes, *, ephemeral: X25519PrivateKey, aad: bytes = b""
) -> bytes:
    """Return the encapsulated key, the ciphertext and its tag, as RFC 9180 has them."""
    enc = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
    prk = _extract(KEM, b"", b"eae_prk", shared)
    secret = _expand(KEM, prk, b"shared_secret", enc + public, 32)
    known = _extract(SUITE, b"", b"psk_id_hash", b"") + _extract(SUITE, b"", b"info_hash", info)
    prk = _extract(SUITE, secret, b"secret", b"")
    key = _expand(SUITE, prk, b"key", b"\x00" + known, 16)
    nonce = _expand(SUITE, prk, b"base_nonce", b"\x00" + known, 12)
    return enc + AESGCM(key).encrypt(nonce, plaintext, aad)


def _extract(suite: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    return hmac.digest(salt, b"HPKE-v1" + suite + label + ikm, hashlib.sha256)


def _expand(suite: bytes, prk: bytes, label: bytes, info: bytes, length: int) -> bytes:
    labeled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(prk, labeled + b"\x01", hashlib.sha256)[:length]


def main(folder: Path = FOLDER) -> None:
    """Write the file."""
    text = json.dumps(sealing_vectors(), indent=1, allow_nan=False)
    (folder / "sealing.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
