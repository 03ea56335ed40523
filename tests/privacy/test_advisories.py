"""A flaw that is found later: entries hold their version, a list names the broken ones."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from shoal import __version__
from shoal.exceptions import LedgerFileError, ParameterError
from shoal.privacy import Advisory, Composed, GDPEvent, Ledger, MetricEvent, PureEvent, advisories
from shoal.privacy._versions import parse_version

FLAW = {"id": "SHOAL-2030-1", "summary": "Counts lack noise.", "advice": "Withdraw the releases."}
VERSIONS = st.from_regex(
    r"(0|[1-9][0-9]?)(\.(0|[1-9][0-9]?)){0,3}((a|b|rc)[0-9])?(\.post[0-9])?(\.dev[0-9])?",
    fullmatch=True,
)


@given(VERSIONS, VERSIONS)
def test_versions_have_the_order_of_pep_440(one: str, other: str) -> None:
    ours, theirs = (parse_version(one), parse_version(other)), (Version(one), Version(other))
    assert (ours[0] < ours[1], ours[0] == ours[1]) == (
        theirs[0] < theirs[1],
        theirs[0] == theirs[1],
    )


@pytest.mark.parametrize(
    "text", ["", "1.", "v1", "1.0-1", "latest", "1 .0", "1.0rc", "\u0661.0", 3, None]
)
def test_what_is_no_version_is_refused(text) -> None:
    with pytest.raises(ParameterError) as refused:
        parse_version(text)
    assert (refused.value.parameter, refused.value.code) == ("version", "text")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "one.ledger", epsilon=9.0, metric_epsilon=9.0, metric_unit="km")
    made.spend(PureEvent(epsilon=1.0), purpose="DPKMeans(3, auto): counts 20%")
    made.spend(MetricEvent(epsilon=1.0, unit="km"), purpose="Laplace reports")
    return made


def test_an_entry_holds_its_version_under_its_hash(ledger: Ledger) -> None:
    path = Path(str(ledger.path))
    assert all(entry.version == __version__ and entry.platform for entry in ledger.entries)
    for field in ("version", "platform"):
        kept = path.read_text("utf-8")
        value = getattr(ledger.entries[0], field)
        path.write_text(kept.replace(f'"{field}":"{value}"', f'"{field}":"9.9.9"'), "utf-8")
        with pytest.raises(LedgerFileError):
            Ledger(path)
        path.write_text(kept, "utf-8")


@pytest.mark.parametrize(
    ("introduced", "fixed", "broken"),
    [
        (None, None, "0.1.0 0.2.0.dev1 0.2.0rc1 0.2.0 0.2.0.post1 0.3.0"),
        ("0.2.0", None, "0.2.0.dev1 0.2.0rc1 0.2.0 0.2.0.post1 0.3.0"),
        ("0.2.0rc1", None, "0.2.0rc1 0.2.0 0.2.0.post1 0.3.0"),
        (None, "0.2.0", "0.1.0 0.2.0.dev1 0.2.0rc1"),
        ("0.2.0", "0.3.0", "0.2.0.dev1 0.2.0rc1 0.2.0 0.2.0.post1"),
        ("0.2.0.post1", "0.3", "0.2.0.post1"),
    ],
)
def test_a_range_of_versions(ledger, introduced, fixed, broken) -> None:
    flaw = Advisory(**FLAW, introduced=introduced, fixed=fixed)
    every = ["0.1.0", "0.2.0.dev1", "0.2.0rc1", "0.2.0", "0.2.0.post1", "0.3.0"]
    found = [one for one in every if flaw.concerns(replace(ledger.entries[0], version=one))]
    assert found == broken.split()
    local = replace(ledger.entries[0], version="0.2.0+patched.1")
    assert flaw.concerns(local) == ("0.2.0" in broken.split())


@pytest.mark.parametrize(
    ("wanted", "concerned"),
    [
        ({}, [True, True]),
        ({"methods": ("DPKMeans",)}, [True, False]),
        ({"methods": ("DPK",)}, [False, False]),
        ({"events": ("MetricEvent",)}, [False, True]),
        ({"notions": ("central", "metric")}, [True, True]),
        ({"notions": ("local",)}, [False, False]),
        ({"platforms": ("no such",)}, [False, False]),
        ({"methods": ("DPKMeans",), "events": ("MetricEvent",)}, [False, False]),
    ],
)
def test_what_an_advisory_names(ledger, wanted, concerned) -> None:
    flaw = Advisory(**FLAW, **wanted)
    assert [flaw.concerns(entry) for entry in ledger.entries] == concerned


def test_steps_and_entries_that_say_little(ledger) -> None:
    entry = replace(
        ledger.entries[0],
        purpose="",
        event=Composed(events=[PureEvent(epsilon=1.0), GDPEvent(mu=1.0)]),
    )
    assert Advisory(**FLAW, events=("GDPEvent",)).concerns(entry)
    assert Advisory(**FLAW, methods=("DPKMeans",)).concerns(entry), "it does not say which it was"


def test_verify_names_broken_promises(ledger, tmp_path, monkeypatch) -> None:
    assert ledger.verify() == ()
    made_up = {**FLAW, "fixed": f"{__version__}.post1", "methods": ["DPKMeans"]}
    file = tmp_path / "made-up.json"
    file.write_text(json.dumps({"shoal_advisories": 1, "advisories": [made_up]}), "utf-8")
    monkeypatch.setattr(advisories.read_advisories, "__defaults__", (file,))
    ((entry, flaw),) = ledger.verify()
    assert (entry, flaw.id) == (ledger.entries[0], "SHOAL-2030-1")


def test_verify_reads_every_line_again(ledger) -> None:
    path = Path(str(ledger.path))
    assert len(ledger.entries) == 2
    path.write_bytes(path.read_bytes().replace(b"DPKMeans(3", b"DPKMeans(4"))
    with pytest.raises(LedgerFileError):
        ledger.verify()


def test_the_list_of_this_version_is_whole() -> None:
    assert advisories.read_advisories() == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"shoal_advisories": 2, "advisories": []}',
        '{"shoal_advisories": 1, "advisories": {}}',
        '{"shoal_advisories": 1, "advisories": [3]}',
        '{"shoal_advisories": 1, "advisories": [], "more": 1}',
        "[" * 100_000,
        *(
            json.dumps({"shoal_advisories": 1, "advisories": listed})
            for listed in (
                [{"id": "a", "summary": "b"}],
                [{**FLAW, "fix": "0.2.0"}],
                [FLAW, FLAW],
                [{**FLAW, "id": ""}],
                [{**FLAW, "id": 3}],
                [{**FLAW, "fixed": "soon"}],
                [{**FLAW, "fixed": 2}],
                [{**FLAW, "introduced": "0.3.0", "fixed": "0.2.0"}],
                [{**FLAW, "methods": "DPKMeans"}],
                [{**FLAW, "methods": [3]}],
                [{**FLAW, "methods": [[]]}],
                [{**FLAW, "events": ["Gaussian"]}],
                [{**FLAW, "notions": ["global"]}],
                [{**FLAW, "advice": "a\nb"}],
            )
        ),
    ],
)
def test_a_malformed_list_is_an_error_of_ours(text, tmp_path) -> None:
    file = tmp_path / "advisories.json"
    file.write_text(text, "utf-8")
    with pytest.raises(ParameterError):
        advisories.read_advisories(file)
    with pytest.raises(ParameterError):
        advisories.read_advisories(tmp_path / "none.json")
