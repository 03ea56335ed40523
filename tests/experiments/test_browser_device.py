"""The page of a demo: what it may ask, what it tells, and that nothing is left of its browser."""

import os
import stat
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from shoal.experiments import PageVisit, browser_device, find_browser, serve_page
from shoal.experiments.device_fleet import TakingPart

GIVEN = TakingPart("devices", "http://127.0.0.1:9/v1/campaigns/homes", "ed25519:KEY", "ingest-key")
RESULTS = "http://127.0.0.1:8/v1/campaigns/homes/results"
# A browser that loads the page, tells what it was told to tell, and makes its picture at the end.
BROWSER = """#!{python} -S
import json, os, sys, time, urllib.request
page = sys.argv[-1]
picture = [word for word in sys.argv if word.startswith("--screenshot=")][0].split("=", 1)[1]
open(os.environ["HOME"] + "/left-behind", "w").close()
def ask(path, body=None):
    return urllib.request.urlopen(page + path, body).read()
def tell(**shown):
    ask("told", json.dumps(shown).encode())
ask(""), ask("visit.js"), ask("shoal-report.js")
{script}
"""
HONEST = """
tell(state="sent", report="0a1b", label="")
ask("results")
tell(state="labeled", report="0a1b", label="Your cluster: 3 of 6")
ask("whole.svg")
open(picture, "wb").write(b"a picture")
"""


@pytest.fixture
def browser(tmp_path):
    """Make a browser of a script."""

    def make(script):
        path = tmp_path / "browser"
        path.write_text(BROWSER.format(python=sys.executable, script=script))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


def opened(device):
    device.open(RESULTS, GIVEN, np.array([1.25, 7.5]))
    return device


def test_the_page_sends_finds_its_cluster_and_leaves_nothing(browser):
    with serve_page(browser(HONEST)) as device:
        assert opened(device).wait_until_sent() is None
        visit = device.find_cluster()
        folder, process = device._folder, device._process
        assert (folder / "left-behind").exists()
    assert visit == PageVisit([1.25, 7.5], b"\x0a\x1b", "Your cluster: 3 of 6", b"a picture")
    assert visit.cluster == 3
    assert PageVisit([], b"", "Your answer lies in no cluster.", None).cluster is None
    assert not folder.exists()
    assert process.poll() is not None


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ('tell(state="refused", report="", label="")\ntime.sleep(60)', "in the state 'refused'"),
        ("", "the browser ended"),
        ("time.sleep(60)", "more than 0.3 s"),
        ('ask("told", b"[1]")\nask("told", b"no JSON")', "the browser ended"),
    ],
)
def test_a_page_that_does_not_send_is_named_and_ended(browser, monkeypatch, script, problem):
    if "0.3" in problem:
        monkeypatch.setattr(browser_device, "SECONDS", 0.3)
    with serve_page(browser(script)) as device:
        assert problem in opened(device).wait_until_sent()
        process, folder = device._process, device._folder
    assert process.poll() is not None
    assert not folder.exists()


@pytest.mark.full
def test_children_of_the_browser_are_ended_too(browser):
    """Chromium is a tree of processes, of which any may write until it is gone."""
    script = 'import subprocess\nchild = subprocess.Popen(["sleep", "60"])\n'
    script += 'tell(state="sent", report=str(child.pid), label="")\ntime.sleep(60)'
    with serve_page(browser(script)) as device:
        assert opened(device).wait_until_sent() is None
        child = int(device._last["report"])
        os.kill(child, 0)
    end = time.monotonic() + 60
    while time.monotonic() < end and Path(f"/proc/{child}/cmdline").exists():
        if not Path(f"/proc/{child}/cmdline").read_bytes():  # not yet reaped by whoever has it
            break
        time.sleep(0.01)
    else:
        assert time.monotonic() < end


def test_the_page_may_ask_the_campaign_and_itself_alone():
    with serve_page("no-browser-needed") as device:
        device._start = lambda: None
        opened(device)
        with urllib.request.urlopen(f"{device.origin}/") as answer:
            policy = answer.headers["Content-Security-Policy"]
            page = answer.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="404") as unknown:
            urllib.request.urlopen(f"{device.origin}/../signing.pem")
        too_long = urllib.request.Request(f"{device.origin}/told", data=bytes((1 << 16) + 1))
        with pytest.raises(urllib.error.HTTPError, match="413") as refused:
            urllib.request.urlopen(too_long)
        for answer in (unknown.value, refused.value):  # each holds a socket
            answer.close()
    assert "connect-src 'self' http://127.0.0.1:8 http://127.0.0.1:9" in policy
    assert "default-src 'none'" in policy
    assert 'campaign="http://127.0.0.1:9/v1/campaigns/homes"' in page
    assert "The home is made up" in page


def test_the_browser_is_that_of_the_variable_or_of_a_usual_name(browser, monkeypatch, tmp_path):
    own = browser("")
    monkeypatch.setenv("CHROME", own)
    assert find_browser() == own
    monkeypatch.setenv("CHROME", str(tmp_path / "missing"))
    assert find_browser() is None
    monkeypatch.delenv("CHROME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() is None
    Path(own).rename(tmp_path / "google-chrome")
    assert find_browser() == str(tmp_path / "google-chrome")
