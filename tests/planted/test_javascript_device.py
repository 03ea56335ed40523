"""Bugs planted in the JavaScript device: its tests, which pass without them, must go red."""

import shutil
import subprocess

import pytest

from helpers.javascript import CLIENT, node_or_skip, planted

# Module, right code, wrong code, and the file of tests that must notice.
BUGS = {
    "a slack that is taken from the document": (
        "metric.js",
        "mechanism.guarantee.slack === slack &&",
        "",
        "campaign",
    ),
    "a slack of one report for all": (
        "campaign.js",
        "slack: reports_per_device * slack",
        "slack",
        "campaign",
    ),
    "a report kept without its slack": (
        "device.js",
        "const cost = { notion, unit, epsilon, slack };",
        "const cost = { notion, unit, epsilon, slack: 0 };",
        "device",
    ),
    "a fresh report on retry": (
        "device.js",
        "if (kept || now.campaigns[id].digest !== digest) return now;",
        "if (kept?.acknowledged || now.campaigns[id].digest !== digest) return now;",
        "delivery",
    ),
    "a fresh key on retry": (
        "device.js",
        '"Idempotency-Key": kept.key,',
        '"Idempotency-Key": token(),',
        "delivery",
    ),
    "sealed again on retry": (
        "device.js",
        "sealed: report.sealed ?? news.sealed ?? null",
        "sealed: news.sealed ?? report.sealed ?? null",
        "delivery",
    ),
    "sent before it is kept": (
        "fileStore.js",
        "if (next === state || this.#write(number + 1, JSON.stringify(next))) return next;",
        "setTimeout(() => this.#write(number + 1, JSON.stringify(next)), 20); return next;",
        "fileStore",
    ),
    "not on the disk": ("fileStore.js", "    this.#fs.fsyncSync(file);\n", "", "fileStore"),
    "no name on the disk": (
        "fileStore.js",
        "fs.linkSync(part, this.#path(number));\n      this.#sync(folder);\n",
        "fs.linkSync(part, this.#path(number));\n",
        "fileStore",
    ),
    "numbers given twice": (
        "fileStore.js",
        "this.#last() > number + KEPT / 2 && fs.fstatSync(file).size > 0",
        "false",
        "fileStore",
    ),
    "an update made twice": (
        "fileStore.js",
        "this.#last() > number + KEPT / 2 && fs.fstatSync(file).size > 0",
        "this.#last() > number",
        "fileStore",
    ),
    "sealed bytes sent before they are kept": (
        "device.js",
        "kept = await this.#note(kept.key, { sealed: toBase64(sealed) });",
        "kept = { ...kept, sealed: toBase64(sealed) };",
        "delivery",
    ),
    "not charged": (
        "device.js",
        "charge(campaign, now.reports, this.#limits);",
        "",
        "device",
    ),
    "each epsilon rounded before it is added": (
        "budget.js",
        "return BigInt(value) << places;",
        "return BigInt(Math.trunc(value)) << 1074n;",
        "device",
    ),
    "a downgrade followed": (
        "changes.js",
        'weakerThan(newer, earlier).join("; ")',
        '""',
        "delivery",
    ),
    "a signature unchecked": (
        "campaign.js",
        'return await crypto.subtle.verify("Ed25519", signer, signature, message);',
        "return true;",
        "campaign",
    ),
    "a promise unchecked": (
        "campaign.js",
        "canonical(value) === canonical(guaranteeOf(campaign))",
        "isObject(value)",
        "campaign",
    ),
    "a record in the store": (
        "device.js",
        "kept = { key, campaign: id,",
        "kept = { key, ...{ record }, campaign: id,",
        "device",
    ),
    "a value named without a secret": (
        "device.js",
        "hex(await hmac(bytesOf(state.secret), named))",
        "hex(await hmac(new Uint8Array(32), named))",
        "device",
    ),
    "any answer taken for arrival": (
        "delivery.js",
        "readJson(body)?.stored === 1",
        "true",
        "delivery",
    ),
    "closed by no clock": (
        "agreements.js",
        "if (!(Date.now() < Date.parse(closes)))",
        "if (!closes)",
        "device",
    ),
    "results of any document": (
        "results.js",
        "if (!release || !state.campaigns[id].digests.includes(digest))",
        "if (!release)",
        "device",
    ),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Return a copy of tests and vectors, beside which modules can be put."""
    node_or_skip()
    folder = tmp_path_factory.mktemp("clients")
    shutil.copytree(CLIENT / "test", folder / "js" / "test")
    shutil.copytree(CLIENT.parent / "vectors", folder / "vectors")
    shutil.copy(CLIENT / "package.json", folder / "js")
    return folder / "js"


def passes(client, name):
    command = [node_or_skip(), "--no-warnings", str(client / "test" / f"{name}.test.js")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode == 0


@pytest.mark.full
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_noticed(client, bug):
    module, right, wrong, tests = BUGS[bug]
    planted(client / "src", module, right, wrong)
    assert not passes(client, tests)


@pytest.mark.full
def test_without_bugs_all_pass(client):
    shutil.copytree(CLIENT / "src", client / "src", dirs_exist_ok=True)
    assert all(passes(client, name) for name in {tests for *_, tests in BUGS.values()})
