"""HTTP as it is: over a socket, with servers that redirect, drip, lie about lengths or hang up."""

import contextlib
import ipaddress
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from helpers.campaigns import KEY
from helpers.stub_collector import (
    HOME,
    QUICK,
    StubCollector,
    make_campaign,
    make_device,
    serving,
)
from shoal.client import Answer, Request, UrlTransport
from shoal.exceptions import DeliveryError, ParameterError


class Site(StubCollector):
    """A stub of which one address is what a test makes of it."""

    page = Answer(200, {}, b"page")
    delay, dripped = 0.0, 0

    def __call__(self, request):
        if request.url.endswith("/page"):
            self.requests.append(request)
            return self.page
        return super().__call__(request)


@pytest.fixture(scope="module")
def served():
    site = Site()
    with serving(site) as address:
        yield site, address


@pytest.fixture
def site(served):
    site, address = served
    site.__init__(make_campaign(address, open_intake=False))
    site.delay, site.dripped, site.page = 0.0, 0, Answer(200, {}, b"page")
    return site


@pytest.fixture
def address(served):
    return served[1]


def get(address, **kwargs):
    return UrlTransport(timeout=kwargs.pop("timeout", 30.0))(
        Request("GET", f"{address}/page", **kwargs)
    )


def test_a_report_goes_out_and_comes_to_rest(site, address, tmp_path):
    device = make_device(
        tmp_path / "device.db", UrlTransport(timeout=30.0), retries=QUICK, ingest_key="ingest-1"
    )
    device.join(f"{address}/v1/campaigns/homes")
    site.plan = [503, site.store_and_drop, Answer(503, {"retry-after": "0"}, b"")]
    with pytest.raises(DeliveryError, match="try again later"):
        device.report(HOME)
    assert device.report(HOME).sent
    assert len(site.sent) == 4
    assert len(set(site.sent)) == 1
    assert list(site.stored.items()) == site.sent[:1]
    assert site.posts[0].headers["Authorization"] == "Bearer ingest-1"
    assert site.posts[0].headers["User-Agent"] == "shoal-device"
    assert str(KEY.public) not in str(site.posts[0].headers)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(site, address, status):
    site.page = Answer(status, {"Location": f"{address}/v1/campaigns/homes"}, b"")
    assert get(address).status == status
    assert len(site.requests) == 1


@pytest.mark.parametrize("status", [200, 201, 404, 429, 503])
def test_every_status_is_an_answer(site, address, status):
    site.page = Answer(status, {"X-Name": "Value"}, b"text")
    answer = get(address)
    assert (answer.status, answer.body, answer.headers["x-name"]) == (status, b"text", "Value")


def test_long_answers_are_refused(site, address):
    site.page = Answer(200, {}, b"x" * 1001)
    assert len(get(address, max_bytes=1001).body) == 1001
    with pytest.raises(OSError, match="more than 1000 bytes"):
        get(address, max_bytes=1000)


def test_an_answer_that_drips_ends_in_time(site, address):
    """Each byte comes in time; all of them do not, and are not waited for."""
    site.page, site.delay = Answer(200, {}, b"x" * 500), 0.02
    with pytest.raises(TimeoutError):
        get(address, timeout=0.1)
    assert site.dripped < 500


def test_an_answer_that_is_cut_off_is_none(site, address):
    site.page = Answer(200, {"content-length": "100"}, b"x")
    with pytest.raises(OSError, match="answer"):
        get(address)


@pytest.mark.parametrize(
    "headers", [{"Location": "http://["}, {"content-length": "9" * 5000}], ids=["place", "length"]
)
def test_what_cannot_be_read_in_an_answer_is_no_answer(site, address, headers, tmp_path):
    """One server that answers so must keep no report from the others, and end no relay."""
    site.page = Answer(302, headers, b"")
    with pytest.raises(OSError, match="no HTTP answer"):
        get(address)
    site.plan = [site.page] * 4
    device = make_device(tmp_path / "device.db", UrlTransport(), retries=QUICK)
    device.join(f"{address}/v1/campaigns/homes")
    device.draw(HOME)
    assert device.send_pending().kept == 1


def test_a_name_that_no_host_has_is_a_network_error():
    with pytest.raises(OSError, match="no HTTP answer"):
        UrlTransport(timeout=1.0)(Request("GET", f"https://{'a' * 64}.example/page"))


def test_nobody_there_is_a_network_error():
    with pytest.raises(OSError):  # noqa: PT011  # of any kind
        UrlTransport(timeout=1.0)(Request("GET", "http://127.0.0.1:1/page"))


def test_a_proxy_is_not_asked_for_the_own_machine(site, address, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert get(address).status == 200


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "file:///etc/hostname",
        "https:///a",
        "https://[::1/a",
        "https://a:99999/",
    ],
)
def test_other_addresses_are_refused(url):
    with pytest.raises(ParameterError, match="url must be an https address"):
        UrlTransport()(Request("GET", url))


def test_a_timeout_is_a_positive_number():
    with pytest.raises(ParameterError, match="timeout"):
        UrlTransport(timeout=0)


def test_headers_that_drip_end_in_time():
    """One byte after the other, and never a whole line."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = threading.Event()

        def drip():
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not ended.wait(0.01):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            with pytest.raises(OSError, match="answer"):
                get(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=0.1)
        finally:
            ended.set()
            thread.join()


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return the file of a key and a certificate for this machine that nobody else trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    start = datetime.now(UTC) - timedelta(days=1)
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return path


def test_a_server_that_nobody_vouches_for_gets_nothing(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    site = Site()
    with serving(site, context=context) as address:
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            get(address)
        assert site.requests == []
        trusted = UrlTransport(timeout=30.0, context=ssl.create_default_context(cafile=certificate))
        assert trusted(Request("GET", f"{address}/page")).body == b"page"
        site.page, site.delay = Answer(200, {}, b"x" * 100), 0.02
        hasty = UrlTransport(timeout=0.2, context=trusted.context)
        with pytest.raises(TimeoutError):
            hasty(Request("GET", f"{address}/page"))
