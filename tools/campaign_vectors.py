"""Make the vectors of campaigns: signed documents, which are refused, and which are weaker.

``python tools/campaign_vectors.py [FOLDER]`` writes ``campaigns.json`` to ``clients/vectors``.
Clients in other languages must say the same of them as Python does.
"""

import base64
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from shoal.campaigns import Campaign, Shuffler, SigningKey, open_campaign, sign_campaign
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    Mechanism,
    PartitionResponse,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)
from shoal.schema import Category, Number, Place, Schema

__all__ = ["campaign_vectors", "signed_text"]

FOLDER = Path(__file__).resolve().parent.parent / "clients" / "vectors"
KEY, OTHER_KEY = SigningKey(bytes(range(32))), SigningKey(bytes(range(1, 33)))
BOX = ([0.0, 0.0], [1.0, 1.0])
CUBE = ([0.0, 0.0, -5.0], [1.0, 2.0, 5.0])
MIXED = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
HOMES = Schema([Place("home", center=(2.3, 48.8), radius=50.0)])
SHUFFLER = Shuffler("the university", 100, "x25519:L-V9o0fNYkMVKNqsX7spBzD_9oSvxM_C7ZCZX1jLO3Q")
MECHANISMS: dict[str, Mechanism] = {
    "homes": PartitionResponse(1.0, bounds=BOX),
    "mixed": Piecewise(1.0, schema=MIXED),
    "piecewise": Piecewise(1.0, bounds=BOX, columns="sample"),
    "wave": SquareWave(0.5, bounds=BOX),
    "hybrid": Hybrid(2.0, bounds=BOX),
    "duchi": Duchi(1.0, bounds=BOX),
    "laplace": Laplace(1.0, bounds=BOX),
    "redrawn": Laplace(8.0, bounds=BOX, unit="80 m", truncate="resample"),
    "planar": PlanarLaplace(level=2.0, radius=0.5, unit="km", bounds=BOX),
    "spherical": SphericalLaplace(0.1, bounds=CUBE),
    "place": Laplace(0.5, schema=HOMES),
}


def campaign_vectors() -> dict[str, Any]:
    """Return the vectors."""
    documents = {name: _campaign(name, mechanism) for name, mechanism in MECHANISMS.items()}
    first = documents["homes"]
    documents["shuffled"] = _campaign("shuffled", first.mechanism, shuffler=SHUFFLER)
    pairs = {**_pairs(first), **_shuffler_pairs(first, documents["shuffled"])}
    return {
        "public_key": str(KEY.public),
        "other_public_key": str(OTHER_KEY.public),
        "campaigns": {name: _described(campaign) for name, campaign in documents.items()},
        "refused_fields": _refused_fields(first),
        "refused": _refused(first),
        "weaker": {
            name: {
                "earlier": _difference(earlier, first),
                "newer": _difference(newer, first),
                "reasons": list(newer.weaker_than(earlier)),
            }
            for name, (newer, earlier) in pairs.items()
        },
    }


def _campaign(name: str, mechanism: Mechanism, **changed: Any) -> Campaign:
    address = f"https://example.org/v1/campaigns/{name}"
    given: dict[str, Any] = {
        "id": name,
        "title": "Where people live",
        "purpose": "Plan bus lines.",
        "mechanism": mechanism,
        "closes": datetime(2130, 1, 1, tzinfo=UTC),
        "reports_url": f"{address}/reports",
        "results_url": f"{address}/results",
        "reports_per_device": 3,
    }
    return Campaign(**{**given, **changed})


def _described(campaign: Campaign) -> dict[str, Any]:
    envelope = sign_campaign(campaign, KEY)
    return {
        "envelope": envelope.decode("ascii"),
        "digest": open_campaign(envelope, KEY.public).digest,
        "epsilon": campaign.guarantee.epsilon,
        "slack": campaign.guarantee.slack,
        "notion": campaign.guarantee.notion,
        "unit": campaign.guarantee.unit,
    }


def _difference(campaign: Campaign, first: Campaign) -> dict[str, Any]:
    """Return the fields of a document that are not those of the campaign "homes"."""
    own, others = campaign.to_dict(), first.to_dict()
    return {name: value for name, value in own.items() if value != others[name]}


def _pairs(first: Campaign) -> dict[str, tuple[Campaign, Campaign]]:
    """Return later documents of a campaign, most of which ask for more."""
    later = replace(first, revision=2)
    newer = {
        "the same": first,
        "a later end": replace(later, closes=first.closes + timedelta(days=9)),
        "the same revision": replace(first, title="Where people live now"),
        "another purpose": replace(later, purpose="Sell it."),
        "another unit": replace(later, unit="person"),
        "more reports": replace(later, reports_per_device=4),
        "fewer reports": replace(later, reports_per_device=2),
        "a larger epsilon": replace(later, mechanism=PartitionResponse(1.5, bounds=BOX)),
        "a smaller epsilon": replace(later, mechanism=PartitionResponse(0.75, bounds=BOX)),
        "another box": replace(later, mechanism=Duchi(1.0, bounds=([0.0, 0.0], [1.0, 2.0]))),
        "another notion": replace(later, mechanism=Laplace(1.0, bounds=BOX, unit="km")),
        "another campaign": replace(later, id="jobs"),
        "a number": replace(later, device_ids=True, purpose="Sell it."),
    }
    pairs = {name: (campaign, first) for name, campaign in newer.items()}
    # Of so small an epsilon, the lattice and with it the slack follow from the box.
    narrow, wide = (Laplace(0.5, bounds=([0.0, 0.0], [w, w])) for w in (1.0, 2.0))
    slack = replace(later, mechanism=wide), replace(first, mechanism=narrow)
    return {**pairs, "an older revision": (first, later), "a larger slack": slack}


def _shuffler_pairs(plain: Campaign, first: Campaign) -> dict[str, tuple[Campaign, Campaign]]:
    """Return later documents that change who shuffles."""
    later = replace(first, revision=2)
    bigger, theirs = replace(SHUFFLER, batch_size=1000), replace(SHUFFLER, operator="us")
    return {
        "the same shuffler": (replace(later, title="Where people live now"), first),
        "no shuffler": (replace(later, shuffler=None), first),
        "larger batches": (replace(later, shuffler=bigger), first),
        "another operator": (replace(later, shuffler=theirs), first),
        "no keys": (replace(later, open_intake=True), first),
        "another address": (replace(later, reports_url="https://us.example/reports"), first),
        "a shuffler": (replace(plain, revision=2, shuffler=SHUFFLER), plain),
    }


def _refused_fields(campaign: Campaign) -> dict[str, dict[str, Any]]:
    """Return fields with which a document must be refused, by what is wrong with them."""
    plain = campaign.to_dict()
    guarantee, mechanism = plain["guarantee"], plain["mechanism"]
    parameters, promise = mechanism["parameters"], mechanism["guarantee"]
    columns = plain["report_format"]["columns"]
    return {
        "a field more": {"salt": 1},
        "another version": {"version": 2},
        "an id with a space": {"id": "ho mes"},
        "an empty title": {"title": ""},
        "a purpose with a bell": {"purpose": "Plan\a."},
        "reports over http": {"reports_url": "http://example.org/reports"},
        "a host that ends a quoted text": {"reports_url": 'https://x"y.example/reports'},
        "a host that ends a policy": {"results_url": "https://x;y.example/results"},
        "a query": {"results_url": "https://example.org/results?who=me"},
        "a password": {"reports_url": "https://me:you@example.org/reports"},
        "no number of reports": {"reports_per_device": 0},
        "a fraction of reports": {"reports_per_device": 1.5},
        "too many reports": {"reports_per_device": 1_000_001},
        "an unknown unit": {"unit": "household"},
        "a revision of 0": {"revision": 0},
        "a day without time": {"closes": "2130-01-01"},
        "a number for a flag": {"device_ids": 1},
        "a promise of half": {"guarantee": {**guarantee, "epsilon": guarantee["epsilon"] / 2}},
        "a promise that is better": {"guarantee": {**guarantee, "notion": "central"}},
        "a mechanism that promises more": {
            "mechanism": {**mechanism, "guarantee": {**promise, "epsilon": 0.5}}
        },
        "a sentence": {"guarantee_text": "no privacy loss at all"},
        "a sentence of a mechanism": {"mechanism": {**mechanism, "guarantee_text": "none"}},
        "a reason": {"guarantee": {**guarantee, "reason": ""}},
        "a reason of a mechanism": {
            "mechanism": {**mechanism, "guarantee": {**promise, "reason": ""}}
        },
        "a seeded mechanism": {
            "mechanism": {**mechanism, "guarantee": {**promise, "seeded": True}}
        },
        "an unknown mechanism": {"mechanism": {**mechanism, "mechanism": "Identity"}},
        "a seed": {"mechanism": {**mechanism, "parameters": {**parameters, "random_state": 0}}},
        "no epsilon": {"mechanism": {**mechanism, "parameters": {**parameters, "epsilon": 0}}},
        "a report of one column": {
            "report_format": {**plain["report_format"], "columns": columns[:1]}
        },
        "reports of more colors": {
            "report_format": {
                **plain["report_format"],
                "columns": [columns[0], {**columns[1], "levels": 5}],
            }
        },
        "a shuffler without a key": {"shuffler": {"operator": "X", "batch_size": 9, "key": ""}},
        "a number of the device, shuffled": {"device_ids": True, "shuffler": SHUFFLER.to_dict()},
        "a slack of all reports that is that of one": _with_slack(campaign, 1, 1 / 3),
        "a slack of half": _with_slack(campaign, 1 / 2, 1 / 2),
        "a slack of 0": _with_slack(campaign, 0, 0),
        "no slack": _with_slack(campaign, None, None),
        "no slack of all reports": _with_slack(campaign, 1, None),
        "a slack of a local promise": {"guarantee": {**guarantee, "slack": 0.0}},
    }


def _with_slack(campaign: Campaign, one: float | None, every: float | None) -> dict[str, Any]:
    """Return the fields of a metric campaign with other slacks, as multiples of the right ones."""
    plain = replace(campaign, mechanism=MECHANISMS["laplace"]).to_dict()
    for promise, times in ((plain["mechanism"]["guarantee"], one), (plain["guarantee"], every)):
        slack = promise.pop("slack")
        if times is not None:
            promise["slack"] = times * slack
    return {name: plain[name] for name in ("mechanism", "guarantee", "report_format")}


def _refused(campaign: Campaign) -> dict[str, str]:
    """Return envelopes that no client may take, by what is wrong with them."""
    plain = campaign.to_dict()
    text = json.dumps(plain)
    good = sign_campaign(campaign, KEY).decode("ascii")
    signature = json.loads(good)["signatures"][0]
    changed = base64.b64encode(text.replace("bus", "car").encode())
    without = {name: value for name, value in plain.items() if name != "origins"}
    return {
        "a field less": signed_text(json.dumps(without)),
        "a name twice": signed_text(
            text.replace('"version": 1,', '"version": 1, "version": 1,', 1)
        ),
        "an infinite epsilon": signed_text(text.replace('"epsilon": 1.0', '"epsilon": 1e999')),
        "no JSON": signed_text("homes"),
        "a list": signed_text("[]"),
        "bytes before the text": signed_text("\ufeff" + text),
        "another key": sign_campaign(campaign, OTHER_KEY).decode("ascii"),
        "another payload": _envelope(changed, signature),
        "no signature": json.dumps({**json.loads(good), "signatures": []}),
        "two signatures": json.dumps({**json.loads(good), "signatures": [signature, signature]}),
        "another type": good.replace("campaign+json", "campaign+text"),
        "base64 of another form": good.replace('"payload": "', '"payload": " ', 1),
        "no envelope": "<html>",
        "an empty envelope": "",
    }


def signed_text(text: str) -> str:
    """Sign any text as if it were a campaign."""
    payload, kind = text.encode("utf-8"), b"application/vnd.shoal.campaign+json"
    message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    signature = {"keyid": "", "sig": base64.b64encode(KEY.sign(message)).decode("ascii")}
    return _envelope(base64.b64encode(payload), signature)


def _envelope(payload: bytes, signature: dict[str, str]) -> str:
    return json.dumps(
        {
            "payload": payload.decode("ascii"),
            "payloadType": "application/vnd.shoal.campaign+json",
            "signatures": [signature],
        }
    )


def main(folder: Path = FOLDER) -> None:
    """Write the file."""
    text = json.dumps(campaign_vectors(), indent=1, allow_nan=False)
    (folder / "campaigns.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
