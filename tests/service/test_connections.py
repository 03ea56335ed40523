"""Connections: slow, long and broken heads are refused with problem documents."""

import json
import socket
import sys
import time

import pytest

from helpers.collector import REPORT, running_collector


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('collector')}/reports.db"
    limits = {"header_seconds": 0.3, "max_header_bytes": 2000, "max_connections": 3}
    with running_collector(url, **limits) as running:
        yield running


def connect(collector) -> socket.socket:
    port = int(collector.address.rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def read(connection: socket.socket) -> bytes:
    """Return all until the server closes; a reset is an end as well."""
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except ConnectionResetError:
        pass
    return answer


def check(answer: bytes, status: int, name: str) -> None:
    head, _, content = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), answer
    assert b"content-type: application/problem+json" in head
    assert b"content-security-policy" in head
    assert json.loads(content)["type"] == f"/problems/{name}"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X: %s\r\n" % (b"a" * 900) * 3 + b"\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 3000,
        b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_a_long_head(limited, sent):
    with connect(limited) as connection:
        connection.sendall(sent[:1000])
        connection.sendall(sent[1000:])
        check(read(connection), 431, "header-too-large")


def test_a_long_head_that_comes_at_once(limited):
    """Nothing of a header is parsed before its end."""
    with connect(limited) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"a" * 20_000)
        check(read(connection), 431, "header-too-large")


def test_what_is_no_http(limited):
    with connect(limited) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        check(read(connection), 400, "malformed-request")


def test_a_slow_head(limited):
    with connect(limited) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost")
        check(read(connection), 408, "timeout")


def test_a_silent_connection_is_closed(limited):
    with connect(limited) as connection:
        assert read(connection) == b""


def test_a_slow_second_head(limited):
    """The first request of a connection does not open it for ever."""
    with connect(limited) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGE")
        answer = read(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1  # and the connection was closed


@pytest.mark.parametrize("lines", [b"\r\n", b"\n\r\n"])
def test_empty_lines_keep_no_connection_open(tmp_path, lines):
    """They begin no head; a thousand of such connections would cost nothing, for ever."""
    url = f"sqlite:///{tmp_path}/reports.db"
    with (
        running_collector(url, idle_seconds=1, header_seconds=1) as collector,
        connect(collector) as connection,
    ):
        connection.settimeout(3)
        for _ in range(2):  # a request after empty lines is answered
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
            connection.sendall(lines)
            time.sleep(0.05)
        assert read(connection) == b""


@pytest.mark.skipif(sys.platform != "linux", reason="an option of sockets on Linux")
def test_a_client_that_does_not_read(tmp_path):
    url = f"sqlite:///{tmp_path}/reports.db"
    with running_collector(url, send_seconds=0.3) as collector:
        campaign = collector.add_campaign()
        for _ in range(50):
            assert collector.send(campaign, REPORT * 10_000).status_code == 201
        (name, value), *_ = collector.token("read").items()
        port = int(collector.address.rpartition(":")[2])
        with socket.socket() as lazy:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            lazy.connect(("127.0.0.1", port))
            lazy.sendall(
                f"GET /v1/campaigns/{campaign}/reports?format=csv HTTP/1.1\r\nHost: x\r\n"
                f"{name}: {value}\r\n\r\n".encode()
            )
            deadline = time.monotonic() + 30
            while '"GET", "route": "/v1/campaigns/{campaign}/reports"' not in (
                collector.log.getvalue()
            ):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            time.sleep(1.0)  # the system gives up as well
            assert not read(lazy).endswith(b"0\r\n\r\n")  # cut off


def test_too_many_connections(limited):
    limited.client.close()
    held = [connect(limited) for _ in range(3)]
    try:
        with connect(limited) as one_more:
            check(read(one_more), 503, "unavailable")
    finally:
        for connection in held:
            connection.close()
