# %% [markdown]
"""
A collection from device to label
=================================

A campaign is signed, devices report once over HTTP, an analyst publishes clusters, and each device
finds its own. You learn the whole round trip, with a server on this machine and its database in
SQLite; it needs ``pip install ".[plot,serve]"`` in a clone.
"""

# %%
import io
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import uvicorn

from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
from shoal.client import Device
from shoal.collector import Settings, Store, Worker, create_app, queue_analysis
from shoal.datasets import make_gaussians
from shoal.mechanisms import PartitionResponse
from shoal.plotting import draw_collection
from shoal.privacy import Release
from shoal.service import EventLog, listen, server_config

box = ([0.0, 0.0], [20.0, 20.0])  # km
homes = make_gaussians(80, n_clusters=3, bounds=box, random_state=4)
folder = Path(tempfile.mkdtemp())
url, quiet = f"sqlite:///{folder / 'reports.db'}", EventLog(io.StringIO())
settings = Settings(url, port=0, analysis_worker=False, client_rate=1000.0)

# %% [markdown]
# The document says what is asked and until when. Devices accept only a signed one.

# %%
with Store.open(url) as store, listen(settings) as listener:
    base = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/campaigns/homes"
    mechanism = PartitionResponse(6.0, bounds=box, n_clusters=3)
    closes = datetime.now(UTC) + timedelta(hours=1)
    campaign = Campaign(
        id="homes", title="Where people live", purpose="Plan bus lines.", mechanism=mechanism,
        closes=closes, reports_url=f"{base}/reports", results_url=f"{base}/results",
    )  # fmt: skip
    key = SigningKey.new()
    store.add_campaign(open_campaign(sign_campaign(campaign, key), key.public))
    server = uvicorn.Server(server_config(create_app(store, settings, log=quiet), settings))
    thread = Thread(target=server.run, args=([listener],))
    thread.start()

    def report(number):
        """Join the campaign and report, as a device with a file of its own."""
        device = Device(folder / f"{number}.db", public_key=key.public, ingest_key=ingest_key)
        device.join(base)
        device.report(homes.X[number])
        return device

    ingest_key = store.add_ingest_key("homes")
    with ThreadPoolExecutor(8) as pool:
        devices = list(pool.map(report, range(len(homes.X))))
    version = queue_analysis(store, "homes", parameters={"n_clusters": 3})
    Worker(store, log=quiet).run_next()
    store.publish("homes", version)
    release = Release.from_json(store.analysis("homes", version).release)
    labels = [one.label(record) for one, record in zip(devices, homes.X, strict=True)]
    reports = mechanism.decode(b"".join(store.blocks("homes")))
    server.should_exit = True
    thread.join()
print(release.guarantee)

# %%
true = np.array([homes.X[homes.y == one].mean(axis=0) for one in range(3)])
picture = draw_collection(
    SimpleNamespace(
        records=homes.X, reports=reports, labels=np.array(labels), true_centers=true,
        centers=np.asarray(release.values["centers"]), bounds=box,
    )
)  # fmt: skip
picture  # in a script: picture.save("collection.png")
