"""Vectors of campaigns and sealed reports: as Python makes them today, and as it reads them."""

import json
import runpy
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from helpers.wording import reworded
from shoal.campaigns import SealingKey, open_campaign
from shoal.exceptions import CampaignError

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "clients" / "vectors"


def tool(name):
    return runpy.run_path(str(ROOT / "tools" / f"{name}_vectors.py"))


@pytest.fixture(scope="module")
def campaigns():
    return json.loads((VECTORS / "campaigns.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "file"), [("campaign", "campaigns"), ("sealing", "sealing")])
def test_vectors_are_as_python_makes_them(name, file, tmp_path):
    tool(name)["main"](tmp_path)
    made, kept = (folder / f"{file}.json" for folder in (tmp_path, VECTORS))
    assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), (
        f"run: python tools/{name}_vectors.py"
    )


def test_reworded_guarantees_change_no_vector(tmp_path):
    """What clients in other languages read says nothing in words that Python may improve."""
    with reworded():
        tool("campaign")["main"](tmp_path)
    made, kept = (folder / "campaigns.json" for folder in (tmp_path, VECTORS))
    assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def test_python_refuses_what_clients_must_refuse(campaigns):
    key, sign = campaigns["public_key"], tool("campaign")["signed_text"]
    good = open_campaign(campaigns["campaigns"]["homes"]["envelope"].encode(), key)
    plain = good.campaign.to_dict()
    changed = {
        name: sign(json.dumps({**plain, **fields}))
        for name, fields in campaigns["refused_fields"].items()
    }
    for envelope in [*campaigns["refused"].values(), *changed.values()]:
        with pytest.raises(CampaignError):
            open_campaign(envelope.encode(), key)


def test_python_opens_sealed_reports():
    vectors = json.loads((VECTORS / "sealing.json").read_text(encoding="utf-8"))["sealed"]
    rfc = vectors.pop("RFC 9180, A.1")
    ephemeral = X25519PrivateKey.from_private_bytes(bytes.fromhex(rfc["ephemeral_secret"]))
    given = (bytes.fromhex(rfc[name]) for name in ("public", "info", "plaintext"))
    sealed = tool("sealing")["seal"](*given, ephemeral=ephemeral, aad=bytes.fromhex(rfc["aad"]))
    assert sealed.hex() == rfc["sealed"]
    for vector in vectors.values():
        campaign = bytes.fromhex(vector["info"]).decode().removeprefix("shoal report 1\n")
        report = SealingKey(bytes.fromhex(vector["secret"])).open(
            bytes.fromhex(vector["sealed"]), campaign
        )
        assert report.hex() == vector["plaintext"]
