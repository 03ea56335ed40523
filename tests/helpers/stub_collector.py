"""A collector that does as it is told: stores, fails, lies, answers late or not at all.

`StubCollector` is a transport, so most tests need no network; `serving` puts it behind a socket.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from helpers.campaigns import KEY, signed_campaign
from shoal.campaigns import SigningKey, sign_campaign
from shoal.client import Answer, Device, Request, Retries

BOX = ([0.0, 0.0], [1.0, 1.0])
HOME, WORK = [0.123456789, 0.7], [0.9, 0.4]
OTHER_KEY = SigningKey(bytes(range(1, 33)))
LATER = datetime(2130, 1, 1, tzinfo=UTC)
SITE = "https://example.org"
URL = f"{SITE}/v1/campaigns/homes"
QUICK = Retries(attempts=3, first_wait=0.0, max_wait=5.0)


def make_campaign(site=SITE, **changed):
    name = changed.pop("id", "homes")
    address = f"{site}/v1/campaigns/{name}"
    urls = {"reports_url": f"{address}/reports", "results_url": f"{address}/results"}
    return signed_campaign(name, **urls | {"closes": LATER} | changed).campaign


class StubCollector:
    """Answers by path; `plan` holds what to do instead with the next reports, first one first."""

    def __init__(self, *campaigns, key=KEY):
        self.documents, self.results = {}, {}
        self.stored: dict[str, bytes] = {}
        self.requests: list[Request] = []
        self.plan: list[int | Answer | Exception | Callable[[Request], Answer]] = []
        self.digest: str | None = None  # where set, reports under another one are refused
        for campaign in campaigns:
            self.publish(campaign, key)

    def publish(self, campaign, key=KEY):
        self.documents[f"/v1/campaigns/{campaign.id}"] = sign_campaign(campaign, key)

    @property
    def posts(self):
        return [request for request in self.requests if request.method == "POST"]

    @property
    def sent(self):
        """Return idempotency key and bytes of every report that was sent."""
        return [(post.headers["Idempotency-Key"], post.body) for post in self.posts]

    def __call__(self, request):
        self.requests.append(request)
        path = urlsplit(request.url).path
        if request.method == "GET":
            body = self.documents.get(path) or self.results.get(path)
            return Answer(404, {}, b"{}") if body is None else Answer(200, {}, body)
        if self.plan:
            step = self.plan.pop(0)
            if isinstance(step, Exception):
                raise step
            if isinstance(step, Answer):
                return step
            return Answer(step, {}, b"{}") if isinstance(step, int) else step(request)
        return self.store(request)

    def store(self, request):
        if self.digest not in (None, request.headers["Shoal-Campaign"]):
            return Answer(412, {}, b"{}")
        key = request.headers["Idempotency-Key"]
        before = self.stored.setdefault(key, request.body)
        if before != request.body:
            return Answer(409, {}, b"{}")
        return stored(duplicate=[k for k, _ in self.sent].count(key) > 1)

    def store_and_drop(self, request):
        """Store, and never say so."""
        self.store(request)
        raise ConnectionResetError("gone")


def stored(*, duplicate=False):
    body = json.dumps({"stored": 1, "duplicate": duplicate}).encode()
    return Answer(200 if duplicate else 201, {"content-type": "application/json"}, body)


def make_device(path, collector, **kwargs):
    return Device(path, **{"public_key": KEY.public, "transport": collector} | kwargs)


def joined(path, collector=None, **kwargs):
    """Return a device that joined "homes", and does not wait before it tries again."""
    collector = StubCollector(make_campaign()) if collector is None else collector
    device = make_device(path, collector, **{"retries": QUICK} | kwargs)
    device.join(URL)
    return device


def revised(campaign, **changed):
    return replace(campaign, revision=campaign.revision + 1, **changed)


@contextlib.contextmanager
def serving(collector, *, context=None):
    """Serve a stub on a free port of this machine, with a context over TLS; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length) if length else None
            headers = {name.title(): value for name, value in self.headers.items()}
            path = f"http://127.0.0.1{self.path}"
            try:
                answer = collector(Request(self.command, path, headers, body))
            except OSError:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if "content-length" not in answer.headers:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            with contextlib.suppress(OSError):  # whoever asked may have left
                self.drip(answer.body)
            self.close_connection = True

        def drip(self, body):
            delay = getattr(collector, "delay", 0.0)
            for byte in body if delay else []:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                collector.dripped += 1
                time.sleep(delay)
            if not delay:
                self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *anything: None  # whoever does not trust us hangs up
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
