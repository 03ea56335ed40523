"""The page of campaigns in a browser: from the question to the own cluster, on real processes.

One studio and one collector serve all tests of this file; when they end, no process is left.
"""

import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from helpers.browser import visiting
from helpers.studio import client, running_studio

EAST, NORTH = "13.140625", "4.71875"  # typed, and exact as floats
DEVICE = Path(__file__).parents[2] / "src/shoal/studio/pages/device.js"
MODULES = "async (text) => (await import('/static/qr.js')).qrModules(text)"
STUDIO = [sys.executable, "-c", "from shoal.cli import main; main()", "studio", "--no-browser"]
LONG = 60_000  # milliseconds: the collector is a new process, and the machine may be busy


@pytest.fixture(scope="module")
def collected(wheel):
    """Yield a studio with a collector; afterwards neither a process nor a folder is left."""
    with running_studio(wheel) as address, client(address) as api:
        started = follow(api, api.post("/api/campaigns/collector", json={}).json())
        pid = started["result"]["pid"]
        (file,) = [part for part in open_files(pid) if part.endswith("collector.log")]
        yield address.rstrip("/"), started["result"]["address"]
    assert is_gone(pid)
    assert not Path(file).parent.exists()


def follow(api, job):
    """Wait for a job."""
    while job["state"] == "running":
        time.sleep(0.05)
        job = api.get(f"/api/jobs/{job['id']}").json()
    assert job["state"] == "done", job
    return job


def open_files(pid):
    """Return the files that a process has open."""
    found = [str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir()]
    return [one for one in found if one.startswith("/")]


def is_gone(pid, seconds=120):
    """Return whether a process of this session, and every other of its group, ends soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


def alive(group):
    """Return whether a process of a group lives."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, found = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(found) == group and state != "Z":
            return True
    return False


def make_campaign(collected, name, **changed):
    """Make a campaign by the API."""
    studio, collector = collected
    box = {"minimum": 0.0, "maximum": 20.0}
    asked = {
        **{"id": name, "title": "Where people live", "purpose": "Plan bus lines."},
        **{"columns": [{"name": "east", **box}, {"name": "north", **box}]},
        **{"epsilon": 3.0, "clusters": 3, "closes": "2099-01-01"},
        **{"url": collector, "origins": [studio]},
        **changed,
    }
    with client(studio) as api:
        assert api.post("/api/campaigns", json=asked).status_code == 200
    return f"{studio}/campaigns?campaign={name}"


def sent_by(page):
    """Return a list that fills with all that a page sends: addresses, headers and bodies."""
    sent = []

    def note(request):
        headers = " ".join(f"{name}: {value}" for name, value in request.headers.items())
        body = request.post_data_buffer or b""
        sent.append((request.url, f"{request.url} {headers}".encode() + b" " + body))

    page.context.on("request", note)
    return sent


def holds_record(content):
    """Return whether bytes hold a value of the record, as text or as a float."""
    values = [text.encode() for text in (EAST, NORTH)]
    values += [struct.pack(form, float(text)) for text in (EAST, NORTH) for form in ("<d", ">d")]
    return any(value in content for value in values)


def enter_record(page, east=EAST, north=NORTH):
    """Type a record."""
    page.get_by_label("east", exact=True).fill(east)
    page.get_by_label("north", exact=True).fill(north)


def press(page, name):
    """Press a button."""
    page.get_by_role("button", name=name, exact=True).click()


def ask_question(page):
    """Fill in the form, and save the key that is shown once."""
    press(page, "New campaign")
    page.get_by_label("Title").fill("Where people live")
    page.get_by_label("Purpose").fill("Plan bus lines.")
    page.get_by_label("Id", exact=True).fill("homes")
    page.get_by_label("Epsilon of a report").fill("0.5")
    page.get_by_label("Number of clusters").fill("3")
    page.get_by_text("at most 96 times out of 100").first.wait_for()
    page.locator(".preview").get_by_text("epsilon = 3.16").wait_for()
    press(page, "Make and sign the campaign")
    with page.expect_download() as saved:
        press(page, "Save signing.pem")
    assert saved.value.suggested_filename == "signing.pem"
    assert "PRIVATE KEY" in Path(saved.value.path()).read_text()
    press(page, "Go to the campaign")


def be_device(page):
    """Draw and send the report of a typed record; return its bytes."""
    press(page, "Take part in this browser")
    enter_record(page)
    typed = page.locator(".device input:read-write").first
    assert typed.evaluate("it => it.form.autocomplete") == "off"
    page.keyboard.press("Enter")  # sends nothing, and no value gets into the address
    press(page, "Draw the report")
    drawn = page.locator("[data-report]").inner_text()
    press(page, "Send it")
    page.get_by_text("Your report has arrived").wait_for()
    page.get_by_text("1 of 1 report drawn, 1 arrived").wait_for()
    return bytes.fromhex(drawn)


def test_from_the_question_to_the_own_cluster(browser, collected):
    studio, collector = collected
    with visiting(browser, viewport={"width": 1440, "height": 900}) as visit:
        page = visit.open(f"{studio}/campaigns")
        page.set_default_timeout(LONG)
        sent = sent_by(page)
        ask_question(page)
        press(page, "Let made-up devices report")
        assert "PRIVATE KEY" not in page.content()
        page.get_by_text("500 reports").first.wait_for()
        report = be_device(page)
        page.get_by_text("501 reports").first.wait_for()
        (posted,) = [content for url, content in sent if url.endswith("/homes/reports")]
        assert posted.endswith(b" " + report)
        press(page, "Find my cluster")
        page.get_by_text("Nothing is published yet").wait_for()
        press(page, "Analyze the reports")
        press(page, "Publish this result")
        page.get_by_text("devices can find their own cluster now").wait_for()
        page.locator("studio-chart[data-drawn]").wait_for()
        press(page, "Find my cluster")  # the record is still there
        told = page.get_by_text("Your cluster:").inner_text()
        assert re.fullmatch(r"Your cluster: [0-2] of 3", told)
        enter_record(page, east="2")
        press(page, "Send it")
        page.get_by_text("so its ledger refuses another").wait_for()
        press(page, "Analyze the reports")
        page.get_by_role("heading", name="Version 2:").wait_for()
        page.get_by_label("Compare with").select_option("1")
        page.get_by_text("of 3 paired centers").wait_for()
        page.reload()
        page.get_by_text("of 3 paired centers").wait_for()  # all of it is in the address
        page.go_back()
        page.get_by_text("of 3 paired centers").wait_for(state="detached")
        page.get_by_role("heading", name="Version 2:").wait_for()
        assert {f"http://{host}" for host in visit.hosts} == {studio, collector}
        assert not any(holds_record(content) for _, content in sent)


def test_a_planted_leak_is_noticed(browser, collected):
    """The check above sees a record that leaves: by address, header or body."""
    address = make_campaign(collected, "leaky")
    draw = "const receipt = await device.draw(record);"
    planted = DEVICE.read_text()
    assert draw in planted
    planted = planted.replace(draw, f"await fetch(`/api/session?at=${{record}}`); {draw}", 1)
    with visiting(browser) as visit:
        visit.context.route(
            "**/static/device.js",
            lambda route: route.fulfill(body=planted, content_type="text/javascript"),
        )
        page = visit.open(f"{address}&device=1")
        sent = sent_by(page)
        enter_record(page)
        press(page, "Draw the report")
        page.locator("[data-report]").wait_for()
        assert any(holds_record(content) for _, content in sent)


@pytest.mark.full
def test_a_metric_campaign_and_what_is_readable_by_all(browser, collected):
    """At 390 pixels nothing overflows; axe finds nothing serious; the QR code is the link."""
    address = make_campaign(collected, "walks", mechanism="PlanarLaplace", reports_per_device=2)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with visiting(browser, viewport={"width": 390, "height": 844}) as visit:
        page = visit.open(f"{address}&device=1")
        page.set_default_timeout(LONG)
        press(page, "Make one up")
        press(page, "Draw the report")
        page.get_by_text("Square: the report, which leaves").wait_for()
        for path in ("", "&device=1"):
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate("document.documentElement.scrollWidth") == 390
                found = axe.run(page).response["violations"]
                serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
                assert serious == [], path
            page.goto(address.replace("campaign=walks", "new=1") if not path else address)
            page.get_by_role("heading", level=1).wait_for()
        code = page.locator("svg.qr")
        link = f"{collected[1]}/v1/campaigns/walks"
        assert code.get_attribute("aria-label") == f"QR code of {link}"
        assert decoded(page.evaluate(MODULES, link)) == link
        drawn = re.findall(r"M(\d+) (\d+)h1v1h-1z", code.locator("path").get_attribute("d"))
        modules = np.zeros((len(page.evaluate(MODULES, link)) + 8,) * 2, dtype=bool)
        for x, y in drawn:
            modules[int(y), int(x)] = True
        assert decoded(modules, quiet=0) == link


@pytest.mark.full
@pytest.mark.parametrize(
    "lengths",
    [(1, 122, 666), pytest.param((14, 15, 106, 180, 213, 214, 400), marks=pytest.mark.full)],
)
def test_codes_of_all_sizes_are_read_by_a_decoder(browser, collected, lengths):
    text = "https://collect.example.org/v1/campaigns/ä?" * 20
    with visiting(browser) as visit:
        page = visit.open(f"{collected[0]}/static/shoal.svg")
        for length in lengths:
            part = text.encode()[:length].decode(errors="ignore")
            assert decoded(page.evaluate(MODULES, part)) == part
        with pytest.raises(Exception, match="at most 666 bytes"):
            page.evaluate(MODULES, "a" * 667)


def decoded(modules, quiet=4):
    """Read a code by a decoder that is not ours."""
    zxing = pytest.importorskip("zxingcpp", reason="zxing-cpp is not installed: it reads codes")
    dark = np.pad(np.array(modules, dtype=bool), quiet)
    image = np.where(dark, 0, 255).astype(np.uint8).repeat(4, axis=0).repeat(4, axis=1)
    (found,) = zxing.read_barcodes(image)
    return found.text


@pytest.mark.full
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_studio(wheel, ended_by):
    """Ctrl-C, and an end that leaves no time for anything."""
    process = subprocess.Popen(
        [*STUDIO, "--port", "0"],
        env={**os.environ, "PYTHONPATH": str(wheel)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = process.stdout.readline().strip().removeprefix("ready ")
        with client(address) as api:
            started = follow(api, api.post("/api/campaigns/collector", json={}).json())
        process.send_signal(ended_by)
        process.wait(timeout=30)
        assert is_gone(started["result"]["pid"])
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
