"""The device's side of a campaign: agree, report once, send until it arrives, find the own cluster.

* :class:`Device` does all of it, from one file of its own.
* :class:`UrlTransport` carries requests; any function from a :class:`Request` to an
  :class:`Answer` can take its place (:class:`Transport`).
* ``python -m shoal.client`` does the same for devices without Python code of their own.

Limits of a device are kept here, by the device. No server can check them.
"""

from shoal.client.delivery import Retries, ask
from shoal.client.device import Device
from shoal.client.receipts import CampaignStatus, Receipt, SentReports
from shoal.client.transport import Answer, Request, Transport, UrlTransport

__all__ = [
    "Answer",
    "CampaignStatus",
    "Device",
    "Receipt",
    "Request",
    "Retries",
    "SentReports",
    "Transport",
    "UrlTransport",
    "ask",
]
