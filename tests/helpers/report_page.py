"""A campaign of a running collector, the page that asks it, and what the page shows."""

import numpy as np

from helpers.campaigns import KEY
from helpers.collector import NUMBERS
from helpers.stub_collector import make_campaign
from shoal.campaigns import open_campaign, sign_campaign
from shoal.privacy import Guarantee, Release

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>A question</title>
<script type="module" src="/js/src/shoal-report.js"></script></head>
<body><main><shoal-report {attributes}></shoal-report></main></body></html>"""
TEXT = """() => Array.from(
  document.querySelector("shoal-report").shadowRoot.children, (part) => part.innerText
).join("\\n")"""


class Question:
    """A campaign of the collector, and the page that asks it."""

    def __init__(self, collector, files, **changed):
        self.collector, self.files = collector, files
        self.name = f"page-{next(NUMBERS)}"
        usual = {"id": self.name, "open_intake": True, "origins": (files.address,)}
        self.campaign = make_campaign(collector.address, **usual | changed)
        self.document = f"{collector.address}/v1/campaigns/{self.name}"
        self.address = f"{files.address}/{self.name}.html"
        self.put(self.campaign)
        self.write()

    def put(self, campaign):
        signed = open_campaign(sign_campaign(campaign, KEY), KEY.public)
        self.collector.store.add_campaign(signed)
        for _ in range(1000):
            answer = self.collector.client.get(self.document)
            if answer.status_code == 200 and answer.content == signed.envelope:
                return
        raise AssertionError("the collector does not know the document")

    def write(self, **attributes):
        """Write the page; attributes of before are replaced."""
        given = {"campaign": self.document, "key": str(KEY.public), **attributes}
        pairs = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in given.items())
        self.files.texts[f"/{self.name}.html"] = PAGE.format(attributes=pairs)

    @property
    def stored(self):
        return b"".join(self.collector.store.blocks(self.name))

    def publish(self, *centers):
        store = self.collector.store
        version = store.add_analysis(self.name, "kmeans", {}, 0, store.snapshot(self.name))
        values = {"metric": "euclidean", "centers": np.array(centers)}
        release = Release("NoiseAwareKMeans", values, Guarantee("local", epsilon=1.0))
        store.finish_analysis(store.claim_analysis(), release=release.to_json())
        store.publish(self.name, version)


def wait(page, *states):
    """Wait until the component is in one of these states, and return what it says."""
    page.wait_for_selector(", ".join(f'shoal-report[state="{state}"]' for state in states))
    return page.locator('[part="outcome"]').inner_text()


def answer(page, *values):
    for place, value in enumerate(values):
        page.locator("input").nth(place).fill(str(value))


def shown_bytes(page):
    return bytes.fromhex(page.locator("code").inner_text())
