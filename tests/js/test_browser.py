"""<shoal-report> in Chromium, against the collector as it is: one browser, one collector.

Every page is served under a strict Content-Security-Policy, and fails its test if it writes an
error to the console or asks another host.
"""

import json
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from helpers.browser import ROOT, visiting
from helpers.campaigns import KEY
from helpers.report_page import TEXT, answer, shown_bytes, wait
from helpers.stub_collector import OTHER_KEY, revised
from shoal.campaigns import SealingKey, Shuffler, sign_campaign
from shoal.cli import app
from shoal.mechanisms import Laplace
from shoal.schema import Category, Date, Flag, Number, Ordinal, Place, Schema

VECTORS = ROOT / "clients/vectors"
MIXED = Schema(
    [
        Number("age", minimum=0, maximum=120, missing="refuse", title="Your age", unit="years"),
        Category("city", ["Turku", "Oulu"], title="City"),
        Flag("owns", title="Do you own a car?"),
        Date("since", minimum="1950-01-01", maximum="2020-01-01", title="Member since"),
        Ordinal("size", ["small", "large"], missing="refuse", title="Household"),
        Place("home", center=(24.94, 60.17), radius=50.0, missing="refuse", title="Home"),
    ]
)
EVENTS = """() => {
  window.seen = [];
  for (const name of ["shoal-sent", "shoal-refused", "shoal-label"])
    document.addEventListener(name, ({ detail }) => window.seen.push([name, detail]));
}"""
SEND = "Agree and send a noisy report"
FIND = "Find my cluster"


def test_from_the_question_to_the_cluster(browser, ask):
    question = ask(title="Where <b>people</b> live")
    with visiting(browser) as visit:
        visit.context.clock.install()
        page = visit.open(question.address)
        page.evaluate(EVENTS)
        assert wait(page, "ready") == ""
        told = page.evaluate(TEXT)
        for words in (
            "Where <b>people</b> live",
            "Plan bus lines.",
            str(KEY.public)[:16],
            "One report of 2 bytes",
            "at most 74 times out of 100",
            "Your true answer. It is not sent and not saved",
            "may send 1 report, and has sent 0",
        ):
            assert words in told
        assert not page.locator("code").count(), "nothing is drawn before the person agrees"
        answer(page, 0.2, 0.7)
        page.get_by_role("button", name=SEND).click()
        assert "has arrived" in wait(page, "sent")
        assert shown_bytes(page) == question.stored
        partition, color = question.campaign.report_format.decode(question.stored)[0]
        words = page.locator('[part="receipt"]').inner_text()
        assert f"map number {partition:g}, color number {color:g}" in words
        assert "has sent 1" in page.locator("form").inner_text()
        assert not page.get_by_role("button", name=SEND).count()
        page.get_by_role("button", name=FIND).click()
        page.get_by_text("no results yet").wait_for()
        question.publish([0.9, 0.1], [0.2, 0.7], [0.5, 0.5])
        page.clock.fast_forward(61_000)  # it looks for results while it is open
        assert "Your cluster: 1 of 3" in wait(page, "labeled")
        seen = page.evaluate("window.seen")
        assert seen == [
            ["shoal-sent", {"campaign": question.name, "duplicate": False}],
            ["shoal-label", {"campaign": question.name}],
        ]
        expected = {question.files.address, question.collector.address}
        assert {f"http://{host}" for host in visit.hosts} == expected
    assert len(question.stored) == 2


def test_who_looks_for_results_again_tells_nothing(browser, ask):
    """Results that make no label for some answers must not show by who asks again."""
    question = ask()
    with visiting(browser) as visit:
        visit.context.clock.install()
        page = visit.open(question.address)
        wait(page, "ready")
        answer(page, 0.2, 0.7)
        page.get_by_role("button", name=SEND).click()
        wait(page, "sent")
        looks = []
        page.on("request", lambda request: looks.append(request.url.endswith("/results")))
        question.publish([0.9, 0.1, 0.5])  # of another number of columns
        with page.expect_response("**/results"):
            page.clock.fast_forward(61_000)
        page.wait_for_function(KEPT_RESULTS)
        for _ in range(3):
            page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
            page.clock.fast_forward(7_300_000)
        assert looks.count(True) == 1
        assert page.locator("shoal-report").get_attribute("state") == "sent"


KEPT_RESULTS = """() => new Promise((resolve) => {
  const opening = indexedDB.open("shoal");
  opening.onsuccess = () => {
    const asking = opening.result.transaction("device").objectStore("device").get(0);
    asking.onsuccess = () => {
      opening.result.close();
      resolve(Object.keys(asking.result.results).length);
    };
  };
})"""


def test_keyboard_alone(browser, ask):
    question = ask()
    with visiting(browser, reduced_motion="reduce") as visit:
        page = visit.open(question.address)
        wait(page, "ready")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.locator("#answer-1").get_attribute("aria-invalid") == "true"
        assert page.evaluate(FOCUSED)["id"] == "answer-1"
        page.keyboard.type("0.25")
        page.keyboard.press("Tab")
        page.keyboard.type("0.5")
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        assert (focused["text"], focused["outline"]) == (SEND, "solid")
        page.keyboard.press("Space")
        wait(page, "sent")
        assert page.evaluate(FOCUSED)["part"] == "outcome", "the button is gone"
        page.keyboard.press("Shift+Tab")
        assert page.evaluate(FOCUSED)["text"] == FIND
    assert len(question.stored) == 2


FOCUSED = """() => {
  const found = document.querySelector("shoal-report").shadowRoot.activeElement;
  const { outlineStyle } = getComputedStyle(found);
  const part = found.getAttribute("part");
  return { id: found.id, text: found.innerText, outline: outlineStyle, part };
}"""


def changed_byte(envelope):
    """Return an envelope whose document was changed by somebody on the way."""
    plain = json.loads(envelope)
    plain["payload"] = ("A" if plain["payload"][0] != "A" else "B") + plain["payload"][1:]
    return json.dumps(plain)


def test_what_is_refused(browser, ask):
    question = ask()
    envelope = sign_campaign(question.campaign, KEY)
    closed = replace(question.campaign, closes=datetime(2020, 1, 1, tzinfo=UTC))
    signed = "refused, to protect you: nothing was sent", "must be signed by"
    cases = {
        "tampered": (changed_byte(envelope), KEY, "refused", signed),
        "another-signer": (sign_campaign(closed, OTHER_KEY).decode(), KEY, "refused", signed),
        "wrong-key": (envelope.decode(), OTHER_KEY, "refused", signed),
        "closed": (sign_campaign(closed, KEY).decode(), KEY, "closed", ["closed at 2020-01-01"]),
    }
    with visiting(browser) as visit:
        page = visit.context.new_page()
        for case, (text, key, state, words) in cases.items():
            question.files.texts["/document.json"] = text
            question.write(campaign="/document.json", key=key.public, store=case)
            page.goto(question.address)
            told = wait(page, state)
            assert all(one in told for one in words), case
            assert not page.locator("form").count(), case
        question.write(epsilon_limit="0.5")
        page.goto(question.address)
        wait(page, "ready")
        answer(page, 0.2, 0.7)
        page.get_by_role("button", name=SEND).click()
        assert "used up what it may report: nothing was drawn or sent" in wait(page, "refused")
    assert question.stored == b""


def test_a_downgrade_is_refused_and_the_document_of_before_holds(browser, ask):
    question = ask(reports_per_device=2)
    later = revised(question.campaign, title="Where we live")
    weaker = revised(question.campaign, reports_per_device=5, purpose="Sell cars.")
    question.write(campaign="/document.json")
    told = []
    with visiting(browser) as visit:
        page = visit.context.new_page()
        for campaign in (question.campaign, weaker, later, question.campaign):
            question.files.texts["/document.json"] = sign_campaign(campaign, KEY).decode()
            page.goto(question.address)
            told.append(wait(page, "ready", "refused"))
    assert told[0] == told[2] == ""
    assert "it has another purpose; epsilon of all reports is 5, above 2" in told[1]
    assert "revision 1 is older than 2" in told[3]
    assert question.stored == b""


def test_the_same_answer_again_is_the_same_report(browser, ask):
    """A replay under the own key is stored once. One under a new key cannot be told from a report:
    nothing in a report of a campaign without a shuffler says whose it is."""
    question = ask(reports_per_device=2)
    posts = []
    with visiting(browser) as visit:
        page = visit.open(question.address)
        page.on("request", lambda request: request.method == "POST" and posts.append(request))
        wait(page, "ready")
        for text in ("has arrived", "was reported before"):
            answer(page, 0.2, 0.7)
            page.get_by_role("button", name=SEND).click()
            page.get_by_text(text).wait_for()
        assert "has sent 1" in page.locator("form").inner_text()
        (post,) = posts
        headers, body = post.all_headers(), post.post_data_buffer
    assert body == question.stored
    kept = {name: headers[name] for name in ("content-type", "idempotency-key", "shoal-campaign")}
    client = question.collector.client
    again = client.post(post.url, content=body, headers=kept)
    assert (again.status_code, again.json()["duplicate"]) == (200, True)
    other = client.post(post.url, content=bytes([body[0] ^ 1, body[1]]), headers=kept)
    assert other.status_code == 409
    assert question.stored == body
    kept["idempotency-key"] = "key-of-somebody-else"
    assert client.post(post.url, content=body, headers=kept).status_code == 201
    assert question.stored == 2 * body


def test_a_report_that_did_not_arrive_survives_a_reload(browser, ask):
    question = ask()
    with visiting(browser) as visit:
        page = visit.open(question.address)
        wait(page, "ready")
        page.route("**/reports", lambda route: route.abort())
        answer(page, 0.2, 0.7)
        page.get_by_role("button", name=SEND).click()
        assert "kept on this device and will be sent again" in wait(page, "pending")
        page.get_by_role("button", name="Send it now").wait_for()
        drawn = shown_bytes(page)
        page.reload()
        wait(page, "pending")
        assert "may send 1 report, and has sent 0" in page.locator("form").inner_text()
        assert not page.get_by_role("button", name=SEND).count(), "it was charged"
        page.unroute("**/reports")
        page.get_by_role("button", name="Send it now").click()
        assert "has arrived" in wait(page, "sent")
        page.reload()
        assert "sent all that it may" in wait(page, "spent")
    assert question.stored == drawn


def test_offline_then_online_sends_the_same_bytes(browser, ask):
    question = ask()
    with visiting(browser) as visit:
        page = visit.open(question.address)
        wait(page, "ready")
        visit.context.set_offline(True)
        answer(page, 0.2, 0.7)
        page.get_by_role("button", name=SEND).click()
        page.get_by_role("button", name="Send it now").wait_for()
        drawn = shown_bytes(page)
        visit.context.set_offline(False)
        wait(page, "sent")
    assert question.stored == drawn


# One by the button, one by the device alone, when both tabs get the signal.
ON_SIGNAL = """async ([url, publicKey, value]) => {
  const [{ Device }, { IndexedDbStore }] = await Promise.all(
    ["device", "stores"].map((name) => import(`/js/src/${name}.js`)));
  const device = await Device.open({ store: new IndexedDbStore("tabs"), publicKey });
  await device.join(url);
  const { shadowRoot } = document.querySelector("shoal-report");
  const signal = new BroadcastChannel("signal");
  window.outcome = new Promise((resolve) => {
    signal.onmessage = () => {
      shadowRoot.querySelector("[type=submit]").click();
      resolve(device.report([0.5, value]).then(() => "sent", ({ code }) => code));
    };
  });
}"""


def test_two_tabs_at_once_charge_once(browser, ask):
    question = ask()
    with visiting(browser) as visit:
        pages = [visit.open(question.address) for _ in range(2)]
        for page, value in zip(pages, (0.7, 0.8), strict=True):
            wait(page, "ready")
            answer(page, 0.2, value)
            page.evaluate(ON_SIGNAL, [question.document, str(KEY.public), value])
        pages[0].evaluate("new BroadcastChannel('signal').postMessage('')")
        assert sorted(page.evaluate("window.outcome") for page in pages) == ["budget", "sent"]
        told = [wait(page, "sent", "refused") for page in pages]
        assert sorted("used up" in text for text in told) == [False, True]
    assert len(question.stored) == 2 * 2


@pytest.mark.full
def test_the_folder_of_the_command_asks_every_kind_of_question(browser, ask, tmp_path):
    question = ask(mechanism=Laplace(2.0, schema=MIXED), unit="person", device_ids=True)
    folder = tmp_path / "page"
    given = ["collect", "page", question.document, "--public-key", str(KEY.public)]
    assert CliRunner().invoke(app, [*given, "--out", str(folder)]).exit_code == 0
    question.files.folders["/folder/"] = folder
    here = {"latitude": 60.2, "longitude": 24.94321}
    with visiting(browser, geolocation=here, permissions=["geolocation"]) as visit:
        page = visit.open(f"{question.files.address}/folder/index.html")
        wait(page, "ready")
        told = page.evaluate(TEXT)
        for words in (
            "please report from one device only",
            "A random number of this device",
            "at most 89 times out of 100 if they differ in one question only",
            "nearly always for those that differ most",
        ):
            assert words in told
        page.get_by_label("Your age (years)").fill("1200")
        page.get_by_role("button", name=SEND).click()
        wrong = page.locator("[aria-invalid=true]")
        assert wrong.count() == 4
        error = wrong.first.get_attribute("aria-describedby").split()[1]
        assert page.locator(f"#{error}").inner_text() == "Please enter a value from 0 to 120."
        page.get_by_label("Your age (years)").fill("41")
        assert not page.locator(f"#{error}").is_visible()
        page.get_by_label("City").select_option("other")
        page.get_by_label("Do you own a car?").select_option("Yes")
        page.get_by_label("Member since").fill("2001-02-03")
        page.get_by_label("Household").select_option("large")
        page.get_by_role("button", name="Use my position").click()
        wrong.first.wait_for(state="hidden")
        assert page.get_by_label("Longitude").input_value() == "24.9432"
        page.get_by_role("button", name=SEND).click()
        wait(page, "sent")
        assert shown_bytes(page) == question.stored
        assert len(visit.hosts) == 2
    assert len(question.stored) == question.campaign.report_format.width


@pytest.mark.full
def test_the_example_page(browser, ask):
    question = ask()
    text = (ROOT / "examples/report_page/index.html").read_text(encoding="utf-8")
    for before, now in {
        "http://127.0.0.1:8000/v1/campaigns/homes": question.document,
        "ed25519:KEY": str(KEY.public),
        "../../clients/": "/",
    }.items():
        assert before in text
        text = text.replace(before, now)
    question.files.folders["/example/"] = ROOT / "examples/report_page"
    question.files.texts["/example/index.html"] = text
    with visiting(browser) as visit:
        page = visit.open(f"{question.files.address}/example/index.html")
        wait(page, "ready")
        answer(page, 0.2, 0.7)
        page.get_by_role("button", name=SEND).click()
        page.get_by_text("Thank you for taking part!").wait_for()
        assert "Georgia" in page.locator('[part="title"]').evaluate(
            "title => getComputedStyle(title).fontFamily"
        )


def test_a_shuffled_report_leaves_sealed(browser, ask, files):
    """The relay is played by the test: it sees what any relay would."""
    key = SealingKey.new()
    shuffler = Shuffler("Open Relay", 100, str(key.public))
    question = ask(shuffler=shuffler, reports_url=f"{files.address}/relay")
    bodies = []

    def take(route):
        bodies.append(route.request.post_data_buffer)
        route.fulfill(status=201, json={"stored": 1, "duplicate": False})

    with visiting(browser) as visit:
        visit.context.route("**/relay", take)
        page = visit.open(question.address)
        wait(page, "ready")
        told = f"goes to {files.address[7:]}, a relay run by Open Relay, which"
        assert told in page.evaluate(TEXT)
        answer(page, 0.2, 0.7)
        page.get_by_role("button", name=SEND).click()
        wait(page, "sent")
        assert [shown_bytes(page)] == bodies
        words = page.locator('[part="receipt"]').inner_text()
    report = key.open(bodies[0], question.name)
    partition, color = question.campaign.report_format.decode(report)[0]
    assert f"map number {partition:g}, color number {color:g}" in words
    assert "It left sealed: the relay cannot read it." in words


NAMES = """() => {
  const { shadowRoot } = document.querySelector("shoal-report");
  return Array.from(shadowRoot.querySelectorAll("input, select, button, fieldset"), (control) =>
    (control.labels?.[0] ?? control.querySelector("legend") ?? control).innerText);
}"""


def test_accessibility(browser, ask):
    """All rules of axe, in both colors and with errors shown; every control has a name."""
    question = ask(mechanism=Laplace(2.0, schema=MIXED))
    question.write(heading_level=1)
    with visiting(browser, viewport={"width": 390, "height": 800}) as visit:
        page = visit.open(question.address)
        wait(page, "ready")
        assert all(page.evaluate(NAMES))
        tree = page.locator("main").aria_snapshot()
        assert not re.search(r"- (textbox|spinbutton|combobox|button|group)(:|$)", tree, re.M), tree
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = axe.run(page).response["violations"]
            assert [(one["id"], one["impact"]) for one in found] == []
            page.get_by_role("button", name=SEND).click()


@pytest.mark.parametrize("name", sorted(file.stem for file in VECTORS.glob("*.json")))
def test_vectors(checked_page, name):
    check = "async (name) => (await import('/js/test/browserVectors.js')).vectorFailures(name)"
    assert checked_page.evaluate(check, name) == []


@pytest.fixture(scope="module")
def checked_page(browser, files):
    files.texts["/empty.html"] = "<!doctype html><title>Vectors</title>"
    with visiting(browser) as visit:
        yield visit.open(f"{files.address}/empty.html")


@pytest.mark.full
def test_a_thousand_reports(browser, ask):
    question = ask(reports_per_device=1000)
    with visiting(browser) as visit:
        page = visit.open(question.address)
        wait(page, "ready")
        times = page.evaluate(THOUSAND, [question.document, str(KEY.public)])
    sys.stdout.write(f"a thousand reports: {times}\n")
    assert question.collector.store.count(question.name) == 1000


THOUSAND = """async ([url, publicKey]) => {
  const [{ Device }, { IndexedDbStore }] = await Promise.all(
    ["device", "stores"].map((name) => import(`/js/src/${name}.js`)));
  const device = await Device.open({ store: new IndexedDbStore("thousand"), publicKey });
  await device.join(url);
  const values = Array.from({ length: 1000 }, (_, i) => [i / 1000, 0.5]);
  const start = performance.now();
  for (const value of values) await device.draw(value);
  const drawn = performance.now();
  const { kept } = await device.sendPending();
  if (kept) throw Error("not all arrived");
  const seconds = (from, to) => `${((to - from) / 1000).toFixed(2)} s`;
  return { drawn: seconds(start, drawn), sent: seconds(drawn, performance.now()) };
}"""
