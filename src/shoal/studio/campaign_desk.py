"""The campaigns of a studio: the database they are in, the collector, keys and made-up devices.

The signing key of a campaign is kept in memory, handed out once, and written nowhere: who has it
can ask devices anything.
"""

import secrets
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.campaigns import (
    SignedCampaign,
    SigningKey,
    campaign_words,
    open_campaign,
    sign_campaign,
)
from shoal.client import Request, Retries, UrlTransport, ask
from shoal.exceptions import DeliveryError, StoreError
from shoal.experiments import make_up_records
from shoal.mechanisms import load_mechanism
from shoal.schema import Schema
from shoal.service import KEY_PREFIX, RefusedError, credential_id
from shoal.studio.campaign_questions import AskedCampaign, build_campaign, campaign_schema
from shoal.studio.jobs import JobProgress
from shoal.studio.local_collector import LocalCollector
from shoal.studio.workspace import Workspace

if TYPE_CHECKING:
    from shoal.collector import Store

__all__ = ["CampaignDesk", "describe_campaign"]

POPULATION = 5_000  # made-up people, of whom some take part
TOGETHER = 25  # devices whose reports one request brings, as from a gateway
NO_STORE = "There is no collector yet: start one on this machine, or start the studio with --db."
ELSEWHERE = (
    "Reports of this campaign go to {url}, which is not this studio's collector: the studio sends "
    "nothing there."
)


class CampaignDesk:
    """Makes campaigns, and knows the database and the collector that they are in.

    Parameters
    ----------
    workspace : Workspace
        Whose tables have schemas, and which ends the collector when it is closed.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.RLock()
        self._store: Store | None = None
        self._collector: LocalCollector | None = None
        self._signer: SigningKey | None = None
        self._unsent: dict[str, SignedCampaign] = {}  # made while there was no database
        self._ingest_keys: dict[str, str] = {}
        self._closed = False
        workspace.on_close(self.close)

    @property
    def store(self) -> "Store":
        """The database, or a refusal that says how to have one."""
        from shoal.collector import Store  # noqa: PLC0415 - its packages take a second to load

        with self._lock:
            if self._store is None:
                url = self._workspace.settings.database
                if self._collector is not None and not url:
                    url = self._collector.database
                if not url:
                    raise RefusedError("not-found", NO_STORE)
                self._store = Store.open(url)
            return self._store

    @property
    def has_store(self) -> bool:
        """Whether there is a database."""
        return bool(self._workspace.settings.database or self._collector is not None)

    @property
    def collector(self) -> LocalCollector | None:
        """The collector of this studio, while it runs."""
        running = self._collector
        return running if running is not None and running.is_running else None

    def start_collector(self, folder: str, port: int) -> LocalCollector:
        """Start a collector in a process of its own, and wait until it takes requests."""
        database = self._workspace.settings.database
        with self._lock:
            if self.collector is not None:
                raise RefusedError("invalid-parameter", "The collector is already running.")
            if folder and database:
                raise RefusedError(
                    "invalid-parameter",
                    "Reports go to the database of --db: leave the folder empty.",
                )
            self._drop_collector()
            started = LocalCollector(database=database, folder=folder, port=port)
            self._collector = started
        address = started.wait_until_ready()
        if self._closed:
            started.stop()
        self._workspace.connect_origins.add(address)
        return started

    def stop_collector(self) -> None:
        """End the collector; reports in a temporary folder are deleted."""
        with self._lock:
            self._drop_collector()

    def campaigns(self) -> list[SignedCampaign]:
        """Return all campaigns, those of the database and those that are in none."""
        stored = self.store.campaigns() if self.has_store else []
        return [*stored, *self._unsent.values()]

    def is_stored(self, name: str) -> bool:
        """Return whether a campaign is in the database."""
        return name not in self._unsent

    def campaign(self, name: str) -> SignedCampaign:
        """Return a campaign, or refuse."""
        if name in self._unsent:
            return self._unsent[name]
        try:
            return self.store.campaign(name)
        except StoreError as missing:
            raise RefusedError("not-found", missing.message) from None

    def schema_of(self, asked: AskedCampaign) -> Schema | None:
        """Return the features of the schema that a campaign asks for; None for its columns."""
        if not asked.table:
            return None
        schema = self._workspace.get(asked.table).described
        schema.check_complete()
        return replace(schema, fields=schema.features)

    def create(self, asked: AskedCampaign) -> dict[str, Any]:
        """Sign a new campaign and put it into the database; a key that was made is told once."""
        campaign = build_campaign(asked, self.schema_of(asked))
        with self._lock:
            made = False
            if asked.signing_key:
                self._signer = SigningKey.from_pem(asked.signing_key)
            elif self._signer is None:
                self._signer, made = SigningKey.new(), True
            signer = self._signer
            signed = open_campaign(sign_campaign(campaign, signer), signer.public)
            try:
                self._keep(signed)
            except BaseException:
                if made:
                    self._signer = None  # nobody was told: the next campaign makes another
                raise
        return {
            "id": campaign.id,
            "public_key": str(signer.public),
            "signing_key": signer.to_pem() if made else None,
        }

    def ingest_key(self, name: str) -> str:
        """Return the key that devices of this studio show; it ends with the studio."""
        with self._lock:
            if name not in self._ingest_keys:
                self._ingest_keys[name] = self.store.add_ingest_key(name)
            return self._ingest_keys[name]

    def reachable(self, signed: SignedCampaign) -> LocalCollector:
        """Return the collector that takes reports of a campaign, or refuse."""
        collector = self.collector
        url = signed.campaign.reports_url
        if collector is None or not url.startswith(f"{collector.address}/"):
            raise RefusedError("invalid-parameter", ELSEWHERE.format(url=url))
        collector.wait_until_known(signed.campaign.id)
        return collector

    def simulate(self, name: str, devices: int, progress: JobProgress) -> dict[str, Any]:
        """Let made-up people report: every report is drawn and sent as that of a true device."""
        signed = self.campaign(name)
        campaign = signed.campaign
        self.reachable(signed)
        mechanism = load_mechanism(campaign.mechanism.to_dict())
        schema = campaign_schema(mechanism)
        k = getattr(mechanism, "n_clusters", None) or 5
        people = make_up_records(schema, POPULATION, n_clusters=k, seed=int(signed.digest[:7], 16))
        chosen = np.random.default_rng().integers(POPULATION, size=devices)
        if mechanism.schema is None:
            records = np.column_stack([people.columns[name] for name in schema.columns])
            reports = mechanism.fit_transform(records[chosen].astype(np.float64))
        else:
            reports = mechanism.of_encoded().fit_transform(people.encoded[chosen])
        body, width = mechanism.encode(np.asarray(reports)), campaign.report_format.width
        together = 1 if campaign.device_ids else TOGETHER
        for first in range(0, devices, together):
            progress(first, devices)
            self._send(signed, body[first * width : (first + together) * width])
        progress(devices, devices)
        return {"sent": devices}

    def close(self) -> None:
        """End the collector and the keys of this studio; forget the signing key."""
        with self._lock:
            self._closed = True
            self._signer = None
            try:
                self._end_keys()
            finally:
                self._drop_collector()

    def _keep(self, signed: SignedCampaign) -> None:
        name = signed.campaign.id
        known = name in self._unsent
        if self.has_store:
            known = known or any(one.campaign.id == name for one in self.store.campaigns())
        if known:
            raise RefusedError(
                "invalid-parameter", f"There is already a campaign {name!r}: choose another id."
            )
        if self.has_store:
            self.store.add_campaign(signed)
        else:
            self._unsent[name] = signed

    def _send(self, signed: SignedCampaign, body: bytes) -> None:
        campaign = signed.campaign
        headers = {
            "Content-Type": "application/octet-stream",
            "Idempotency-Key": secrets.token_urlsafe(24),
            "Shoal-Campaign": signed.digest,
        }
        if not campaign.open_intake:
            headers["Authorization"] = f"Bearer {self.ingest_key(campaign.id)}"
        if campaign.device_ids:
            headers["Shoal-Device"] = secrets.token_urlsafe(24)
        request = Request("POST", campaign.reports_url, headers, body)
        answer = ask(UrlTransport(), request, Retries())
        if answer.status not in (200, 201):
            raise DeliveryError(f"the collector refused reports of {campaign.id}: {answer.status}")

    def _end_keys(self) -> None:
        """Revoke the keys that devices of this studio had, where the database stays."""
        if self._store is not None and (self._collector is None or self._collector.kept):
            for key in self._ingest_keys.values():
                self._store.revoke_ingest_key(credential_id(key, KEY_PREFIX) or "")
        self._ingest_keys.clear()

    def _drop_collector(self) -> None:
        if self._collector is not None:
            self._workspace.connect_origins.discard(self._collector.address)
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._collector is not None:
            self._collector.stop()
            self._collector = None


def describe_campaign(signed: SignedCampaign) -> dict[str, Any]:
    """Return a public document in plain words and as JSON."""
    campaign = signed.campaign
    return {
        "id": campaign.id,
        "words": campaign_words(campaign),
        "document": campaign.to_dict(),
        "digest": signed.digest,
        "public_key": str(signed.key),
        "link": campaign.results_url.removesuffix("/results"),
        "open": campaign.is_open(),
    }
