"""Clients of campaigns: a device joins, reports a value once, and finds the cluster of its record.

* :class:`Device` does all of it; it stores its state in a single file.
* :class:`UrlTransport` sends requests; any function from a :class:`Request` to an
  :class:`Answer` can replace it (:class:`Transport`).
* ``python -m shoal.client`` does the same from a command line.

The privacy budget of a device is enforced here, on the device. No server can check it.
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
