"""A checked download, from a server on loopback that stands in for the pinned addresses."""

import hashlib
import http.client
import logging
import socket
import threading
import urllib.request
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from shoal.datasets import Origin, fetch, load
from shoal.datasets import registry as registry_module
from shoal.datasets.fetching import download
from shoal.datasets.registry import REGISTRY, find
from shoal.exceptions import DataError, ParameterError

CONTENT = b" 24 0 40\n 24 0 48\n 32 8 40"
FILE = b"r,g,b\n24,0,40\n24,0,48\n32,8,40\n"
URL = "https://raw.example.org/house.txt"


class _Server(ThreadingHTTPServer):
    """Answers as a test says, and remembers what it was asked for."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.asked = whole, []


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.answer(self)

    def log_message(self, *_):
        pass


class _Loopback(urllib.request.HTTPSHandler):
    """Takes every https address to the server on this machine, without its encryption."""

    def __init__(self, port):
        super().__init__()
        self.port = port

    def https_open(self, request):
        return self.do_open(self._connect, request)

    def _connect(self, host, **words):
        del host
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=words.get("timeout"))


def whole(handler, content=CONTENT):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@pytest.fixture
def server(monkeypatch):
    """Serve what ``server.answer`` says, for every https address."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with _Server() as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.02,))
        thread.start()
        monkeypatch.setattr(
            "shoal.datasets.fetching._handlers", lambda: [_Loopback(found.server_port)]
        )
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A small set under a known name, and folders of its own."""
    info = replace(
        find("house5"),
        sha256=hashlib.sha256(FILE).hexdigest(),
        origin=Origin((URL,), recipe="numbers"),
    )
    others = tuple(entry for entry in REGISTRY if entry.name != info.name)
    monkeypatch.setattr(registry_module, "REGISTRY", (info, *others))
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return SimpleNamespace(path=tmp_path, cache=tmp_path / "cache" / "shoal")


def nothing_left(home):
    return not [path for path in home.path.rglob("*") if path.is_file()]


def test_download(server, home):
    said = []
    path = fetch("house5", home.path / "data", notify=said.append)
    assert path == home.path / "data" / "house5.csv"
    assert path.read_bytes() == FILE
    assert server.asked == ["/house.txt"]
    assert len(said) == 1
    for words in ("house5", "license no formal license", "source SIPU", URL):
        assert words in said[0]
    assert [file.name for file in path.parent.iterdir()] == ["house5.csv"]


def test_the_license_is_said_before_anything_is_fetched(server, home):
    def stop(_):
        assert server.asked == []
        raise InterruptedError

    with pytest.raises(InterruptedError):
        fetch("house5", notify=stop)
    assert server.asked == []


def test_the_license_goes_to_the_log(server, home, caplog):
    with caplog.at_level(logging.INFO, logger="shoal.datasets"):
        load("house5", download=True)
    assert "license no formal license" in caplog.text


def test_where_it_goes_and_where_load_looks(server, home, monkeypatch):
    with pytest.raises(DataError, match=r"run `shoal datasets house5 --download`"):
        load("house5")
    assert server.asked == [], "nothing is downloaded without being asked"
    assert load("house5", download=True).X.shape == (3, 3)
    assert (home.cache / "house5.csv").read_bytes() == FILE
    assert load("house5").X.shape == (3, 3)
    monkeypatch.setenv("SHOAL_DATA", str(home.path / "data"))
    assert load("house5").X.shape == (3, 3), "the cache is looked at after SHOAL_DATA"
    assert fetch("house5") == home.path / "data" / "house5.csv"
    assert len(server.asked) == 2
    assert fetch("house5") == home.path / "data" / "house5.csv"
    assert len(server.asked) == 2, "a file that is there is not fetched again"


def test_a_cache_that_is_not_absolute_does_not_count(server, home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(home.path))
    assert fetch("house5") == home.path / ".cache" / "shoal" / "house5.csv"


def test_another_file_of_this_name_is_left_alone(server, home):
    path = home.path / "house5.csv"
    path.write_text("mine\n")
    with pytest.raises(DataError, match="got another file: move it away"):
        fetch("house5", home.path)
    assert path.read_text() == "mine\n"
    assert server.asked == []


def wrong(handler):
    whole(handler, CONTENT.replace(b"32", b"33"))


def page(handler):
    whole(handler, b"<!doctype html><p>moved</p>")


def missing(handler):
    handler.send_error(404)


def truncated(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT) + 1))
    handler.end_headers()
    handler.wfile.write(CONTENT)


def truncated_chunks(handler):
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"1b\r\n" + CONTENT + b"\r\n8\r\n 4")
    handler.close_connection = True


def unsafe(handler):
    handler.send_response(302)
    port = handler.server.server_port
    handler.send_header("Location", f"http://127.0.0.1:{port}/plain")
    handler.end_headers()


def local(handler):
    handler.send_response(302)
    handler.send_header("Location", "file:///etc/hostname")
    handler.end_headers()


def circle(handler):
    handler.send_response(302)
    handler.send_header("Location", URL)
    handler.end_headers()


def silent(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(bytes(2**20))
    except OSError:
        pass


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (wrong, r"house5\.csv must have sha256 [0-9a-f]{64}, got [0-9a-f]{64} from https"),
        (page, r"house5\.csv must have sha256"),
        (missing, "house.txt: it answers 404 Not Found; nothing was kept"),
        (truncated, "the connection broke after 26 of 27 bytes"),
        (truncated_chunks, "house.txt: the connection broke"),
        (unsafe, r"data must come over https, got 'http://127\.0\.0\.1:"),
        (local, "it answers 302 Found; nothing"),
        (circle, "it answers 302"),
        (silent, "house.txt: Remote end closed connection"),
        (endless, "it serves more than 32 MiB"),
    ],
)
def test_what_goes_wrong_leaves_nothing(answer, words, server, home):
    server.answer = answer
    with pytest.raises(DataError, match=words) as failure:
        fetch("house5", notify=lambda _: None)
    assert "\n" not in str(failure.value)
    assert "/plain" not in server.asked, "a plain address is not even asked"
    assert nothing_left(home)


def test_a_redirect_to_another_safe_address_is_followed(server, home):
    def answer(handler):
        if handler.path != "/there":
            handler.send_response(301)
            handler.send_header("Location", "https://elsewhere.example.org/there")
            handler.end_headers()
        else:
            whole(handler)

    server.answer = answer
    assert fetch("house5").read_bytes() == FILE
    assert server.asked == ["/house.txt", "/there"]


def test_nobody_listens(home, monkeypatch):
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        monkeypatch.setattr("shoal.datasets.fetching._handlers", lambda: [_Loopback(port)])
        with pytest.raises(DataError, match=r"house\.txt: Connection refused; nothing was kept"):
            fetch("house5")
    assert nothing_left(home)


def test_a_server_that_hangs(server, home, monkeypatch):
    release = threading.Event()
    server.answer = lambda _: release.wait(10)
    monkeypatch.setattr("shoal.datasets.fetching.TIMEOUT", 0.2)
    with pytest.raises(DataError, match=r"house\.txt: timed out"):
        fetch("house5")
    release.set()
    assert nothing_left(home)


def test_a_server_that_drips(server, home, monkeypatch):
    monkeypatch.setattr("shoal.datasets.fetching.PATIENCE", -1.0)
    with pytest.raises(DataError, match="it takes longer than"):
        fetch("house5")
    assert nothing_left(home)


def test_interrupt(server, home, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.datasets.fetching._read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("house5")
    assert nothing_left(home)


def test_interrupt_while_writing(server, home, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("house5")
    assert nothing_left(home)


def test_a_folder_that_cannot_be_written(server, home):
    (home.path / "note.txt").write_text("no folder\n")
    with pytest.raises(ParameterError, match="folder must be one that can be written"):
        fetch("house5", home.path / "note.txt")


def test_what_cannot_be_downloaded(home):
    with pytest.raises(ParameterError, match="got 'iris', which comes with scikit-learn"):
        fetch("iris")
    with pytest.raises(ParameterError, match="name must be one of"):
        fetch("nosuch")
    with pytest.raises(DataError, match=r"heart cannot be downloaded: .* made from https://.*CTG"):
        fetch("heart")


@pytest.mark.parametrize("url", ["http://example.org/x", "file:///etc/passwd", "ftp://h/x", "x"])
def test_only_https(url):
    with pytest.raises(DataError, match="data must come over https"):
        download(url)


def test_addresses_are_pinned():
    for url in (url for info in REGISTRY if info.origin for url in info.origin.urls):
        parts = url.split("/")
        assert parts[:3] == ["https:", "", "raw.githubusercontent.com"]
        assert len(parts[5]) == 40, "a commit cannot change"
        assert set(parts[5]) <= set("0123456789abcdef")
