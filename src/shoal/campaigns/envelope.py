"""Signed documents: the exact bytes inside an envelope, never JSON that was written again.

The envelope is a DSSE envelope (Dead Simple Signing Envelope, version 1.0): a JSON object with the
payload in base64, its type, and signatures. What is signed is the pre-authentication encoding
``DSSEv1 <length> <type> <length> <payload>``, so that a signature of another kind of document
cannot be passed off as one of a campaign.
"""

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from shoal._json_text import read_json
from shoal.campaigns.campaign import Campaign
from shoal.campaigns.keys import SIGNATURE_BYTES, PublicKey, SigningKey
from shoal.exceptions import CampaignError, ParameterError

__all__ = ["SignedCampaign", "open_campaign", "sign_campaign"]

PAYLOAD_TYPE = "application/vnd.shoal.campaign+json"
MAX_ENVELOPE = 8 << 20  # bytes: partitions of many columns take 100 kB
FIELDS = {"payload", "payloadType", "signatures"}
RULE = "a campaign must be the signed document that `shoal collect new` wrote"


@dataclass(frozen=True)
class SignedCampaign:
    """A campaign, together with the signed bytes that it was read from.

    Parameters
    ----------
    campaign : Campaign
        Content of the document.
    envelope : bytes
        Signed document as it was received; pass it on unchanged.
    digest : str
        SHA-256 of the signed bytes in hexadecimal, which identifies this document.
    key : PublicKey
        Public key of the signer.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2030, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> key = SigningKey.new()
    >>> signed = open_campaign(sign_campaign(campaign, key), key.public)
    >>> signed.campaign.title, len(signed.digest)
    ('Where people live', 64)
    """

    campaign: Campaign
    envelope: bytes
    digest: str
    key: PublicKey


def sign_campaign(campaign: Campaign, key: SigningKey) -> bytes:
    """Write the document of a campaign and sign its bytes.

    Parameters
    ----------
    campaign : Campaign
        Campaign to sign.
    key : SigningKey
        Secret key of the organizer of the campaign.

    Returns
    -------
    envelope : bytes
        Signed document as JSON text, for :func:`open_campaign`.

    See Also
    --------
    SignedCampaign : Has an example.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> key = SigningKey.new()
    >>> envelope = sign_campaign(campaign, key)
    >>> open_campaign(envelope, key.public).campaign.title
    'Where people live'
    """
    payload = campaign.to_bytes()
    signature = {
        "keyid": str(key.public),
        "sig": base64.b64encode(key.sign(_signed_bytes(payload))).decode("ascii"),
    }
    envelope = {
        "payload": base64.b64encode(payload).decode("ascii"),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [signature],
    }
    return json.dumps(envelope, indent=1).encode("ascii") + b"\n"


def open_campaign(envelope: bytes, public_key: PublicKey | str) -> SignedCampaign:
    """Check the signature of a campaign's document, then read it.

    Parameters
    ----------
    envelope : bytes
        Signed document as it was received.
    public_key : PublicKey or str
        Public key of the signer. It must come with the app, never with the document.

    Returns
    -------
    signed : SignedCampaign
        The campaign, its bytes and their digest.

    Raises
    ------
    CampaignError
        If the document was changed, was signed by another key, or is not a campaign.

    See Also
    --------
    SignedCampaign : Has an example.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> key = SigningKey.new()
    >>> signed = open_campaign(sign_campaign(campaign, key), str(key.public))
    >>> signed.campaign.id, len(signed.digest)
    ('homes', 64)
    """
    key = public_key if isinstance(public_key, PublicKey) else PublicKey.from_text(public_key)
    payload, signatures = _parts(envelope)
    message = _signed_bytes(payload)
    # The key's name in the envelope is not signed: only the pinned key decides.
    if not any(key.verify(signature, message) for signature in signatures):
        raise CampaignError(
            f"a campaign must be signed by {key}, got another signer or bytes that were changed: "
            "nothing was sent; ask whoever runs the campaign"
        )
    try:
        campaign = Campaign.from_bytes(payload)
    except ParameterError as failure:
        raise CampaignError(f"{RULE}: {failure}") from None
    return SignedCampaign(campaign, bytes(envelope), hashlib.sha256(payload).hexdigest(), key)


def _signed_bytes(payload: bytes) -> bytes:
    """Return the pre-authentication encoding of DSSE."""
    kind = PAYLOAD_TYPE.encode("ascii")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _parts(envelope: bytes) -> tuple[bytes, list[bytes]]:
    """Return the payload and the signatures of an envelope, strictly."""
    if not isinstance(envelope, bytes | bytearray) or len(envelope) > MAX_ENVELOPE:
        raise CampaignError(f"{RULE}, of at most {MAX_ENVELOPE >> 20} MiB")
    try:
        plain = read_json(envelope.decode("utf-8"))
        if set(plain) != FIELDS or plain["payloadType"] != PAYLOAD_TYPE:
            raise CampaignError(f"{RULE}, got another kind of document")
        payload = _from_base64(plain["payload"])
        signatures = [_from_base64(one["sig"]) for one in plain["signatures"]]
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error) as failure:
        if isinstance(failure, CampaignError):
            raise
        raise CampaignError(f"{RULE}, got something else") from None
    if len(signatures) != 1 or len(signatures[0]) != SIGNATURE_BYTES:
        raise CampaignError(f"{RULE}, with one signature")
    return payload, signatures


def _from_base64(text: Any) -> bytes:
    letters = text.encode("ascii") if isinstance(text, str) else b"="
    content = base64.b64decode(letters, validate=True)
    if base64.b64encode(content) != letters:  # one text of the same bytes
        raise ValueError("base64 must be written in full")
    return content
