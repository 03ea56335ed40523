"""The page Table in Chromium: files that are dropped, wrong ones, questions, and the address."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.browser import visiting
from helpers.studio import client, running_studio
from shoal.datasets import make_customers
from shoal.schema import Schema

FILE = "Drop a CSV or Parquet file here, or choose one"
YES = "Yes, these are names"
COMPLETE = "The description is complete."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the records, their schema, and nothing else."""
    made = tmp_path_factory.mktemp("files")
    customers = make_customers(50_000, random_state=0)
    customers.to_csv(made / "customers.csv")
    customers.schema.save(made / "customers.schema.json")
    return made


def alert(page):
    """Return the line that tells what went wrong."""
    return page.locator("[role=alert]:not(:empty)")


def choose(page, path, name=FILE):
    page.get_by_label(name).set_input_files(path)


def in_page(name, content):
    return {"name": name, "mimeType": "text/csv", "buffer": content}


def tables(studio):
    with client(studio) as opened:
        return opened.get("/api/session").json()["tables"]


def test_fifty_thousand_rows_with_text_dates_and_gaps(wheel, browser, folder, tmp_path):
    """Opened, named, described by answers and by a file; kept in memory alone."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with (
        running_studio(wheel, TMPDIR=str(temporary)) as address,
        visiting(browser, viewport={"width": 1440, "height": 900}) as visit,
    ):
        page = visit.open(address)
        held = open_files(temporary)
        choose(page, folder / "customers.csv")
        page.get_by_role("button", name=YES).click()
        page.get_by_role("link", name="Describe customer").wait_for()
        assert page.get_by_role("row").count() == 10
        assert page.get_by_text("not described").count() == 9
        page.get_by_role("link", name="Describe customer").click()
        page.get_by_role("button", name="Save and continue").click()  # as its name suggests
        page.get_by_label("The highest age anyone may enter?").fill("120")
        page.get_by_label("Its unit").fill("years")
        page.get_by_role("button", name="Save and continue").click()
        page.get_by_label("The highest income anyone may enter?").wait_for()
        assert page.get_by_role("row", name=re.compile("^age")).inner_text().split("\t")[1:] == [
            "complete",
            "a number",
            "0 to 120 years",
        ]
        choose(page, folder / "customers.schema.json", "Load a schema file")
        page.get_by_text(COMPLETE).wait_for()
        with page.expect_download() as saved:
            page.get_by_role("link", name="Save the schema").click()
        assert saved.value.suggested_filename == "customers.schema.json"
        written = (folder / "customers.schema.json").read_bytes()
        assert Path(saved.value.path()).read_bytes() == written
        explore = page.get_by_role("main").get_by_role("link", name="Explore")
        (table,) = tables(address.rstrip("/"))
        assert explore.get_attribute("href") == f"/explore?table={table['id']}"
        assert Schema.from_dict(table["schema"]) == Schema.load(folder / "customers.schema.json")
        assert list(temporary.iterdir()) == []
        assert open_files(temporary) <= held
        assert visit.hosts == {address.split("/")[2]}


def open_files(temporary):
    """Return the files that the studio with this folder for temporary files holds open."""
    marked = f"TMPDIR={temporary}\0".encode()
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # somebody else's, or it has ended
            if marked in (process / "environ").read_bytes():
                for link in (process / "fd").iterdir():
                    with suppress(OSError):  # closed since it was listed
                        found.add(str(link.readlink()))
    assert found, "the studio was not found among the processes"
    return {name for name in found if name.startswith("/") and not name.startswith("/dev/")}


WRONG = {
    "photo.png": (b"\x89PNG\r\n\x1a\n\xff", "it is not text separated by commas"),
    "empty.csv": (b"", "at least one record"),
    "ragged.csv": (b"a,b\n1,2\n3\n", "as many values in every line"),
    "latin.csv": ("a,b\n1,é\n".encode("latin-1"), "it is not text separated by commas"),
    "cut.parquet": (b"PAR1\x15\x04\x15", "it is not a Parquet file"),
}


def test_wrong_files_are_told_in_one_line_and_not_kept(studio, visit):
    before = tables(studio)
    page = visit.open(studio)
    for name, (content, words) in WRONG.items():
        choose(page, in_page(name, content))
        line = alert(page).filter(has_text=name)
        line.wait_for()
        assert words in line.inner_text()
        assert alert(page).count() == 1
    assert tables(studio) == before
    choose(page, in_page("good.csv", b"a,b\n1,2\n"))  # the next one is taken
    page.get_by_role("button", name=YES).wait_for()


def test_a_file_is_dropped_and_its_columns_are_named(studio, visit):
    page = visit.open(studio)
    page.get_by_label(FILE).wait_for()
    page.evaluate(
        """() => {
          const held = new DataTransfer();
          held.items.add(new File(["Turku,34\\nOulu,40\\n"], "people.csv"));
          const dropped = new DragEvent("drop", { dataTransfer: held, cancelable: true });
          document.querySelector(".drop").dispatchEvent(dropped);
        }"""
    )
    assert page.get_by_label("First line of the file").inner_text().split() == ["Turku", "34"]
    names = page.get_by_label("If not: names of its 2 columns, separated by commas")
    assert page.locator(".mark").inner_text() == "for your eyes only"
    names.fill("city")
    page.get_by_role("button", name="No: use these names").click()
    assert "2 columns" in alert(page).inner_text()
    names.fill("city, age")
    names.press("Enter")
    page.get_by_role("link", name="age", exact=True).wait_for()
    assert "Turku" not in page.content()
    assert "Turku" not in page.url


def test_the_address_holds_the_state(studio, visit):
    page = visit.open(studio)
    page.get_by_role("button", name="Try it on a made-up shop").click()
    page.get_by_text(COMPLETE).wait_for()
    assert page.get_by_text("comes with the data set", exact=True).is_visible()
    whole = page.url
    page.get_by_role("link", name="age", exact=True).click()
    page.get_by_label("What is it?").wait_for()
    assert page.url == f"{whole}&field=age"
    page.get_by_role("link", name="income", exact=True).click()
    page.get_by_label("The highest income anyone may enter?").wait_for()
    page.go_back()
    highest = page.get_by_label("The highest age anyone may enter?")
    assert highest.input_value() == "100"
    page.go_back()
    highest.wait_for(state="detached")
    page.go_forward()
    highest.fill("90")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("16 to 90 years").wait_for()
    page.get_by_label("No one: each device adds its own noise").check()
    page.get_by_label("Rows counted per person").fill("3")
    page.get_by_label("Your guess").fill("70")
    page.get_by_label("Your guess").press("Tab")
    page.wait_for_function(
        """async (id) => {
          const kept = await (await fetch(`/api/tables/${id}`)).json();
          return [kept.trust_model, kept.records_per_user, kept.n_guess].join() === "local,3,70";
        }""",
        arg=whole.partition("table=")[2],
    )
    page.reload()
    assert highest.input_value() == "90"
    assert page.get_by_label("No one: each device adds its own noise").is_checked()
    assert page.get_by_label("Rows counted per person").input_value() == "3"
    assert page.get_by_label("Your guess").input_value() == "70"
    page.get_by_label("Several rows per person").focus()
    page.get_by_label("Several rows per person").select_option("")
    page.get_by_label("Rows counted per person").wait_for(state="detached")
    assert page.get_by_label("Several rows per person").evaluate(
        "(one) => one === document.activeElement"
    )


def test_a_table_may_begin_with_names_alone(studio, visit):
    page = visit.open(studio)
    page.get_by_label("Column names, separated by commas").fill("city, age, age")
    page.get_by_role("button", name="Start with these columns").click()
    assert "twice" in alert(page).inner_text()
    page.get_by_label("Column names, separated by commas").fill("city, age")
    page.get_by_role("button", name="Start with these columns").click()
    page.get_by_role("link", name="Describe city").click()
    page.get_by_label("Its categories, separated by commas?").fill("Turku, Oulu")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("The highest age anyone may enter?").fill("old")
    page.get_by_role("button", name="Save and continue").click()
    assert "The highest age must be a number" in alert(page).inner_text()
    page.get_by_label("The highest age anyone may enter?").fill("120")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_text(COMPLETE).wait_for()
    assert page.get_by_role("main").get_by_role("link", name="Release").count() == 0


def test_accessibility_and_narrow_screens(studio, browser):
    """No rule of axe is broken, in both colors; nothing is wider than a telephone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def check(*schemes):
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            found = axe.run(page).response["violations"]
            assert [(one["id"], one["impact"]) for one in found] == []

    with visiting(browser, viewport={"width": 390, "height": 844}) as visit:
        page = visit.open(studio)
        choose(page, in_page("photo.png", b"\xff"))
        alert(page).wait_for()
        check("light")
        choose(page, in_page("people.csv", b"age,city\n1,2\n"))
        page.get_by_role("button", name=YES).wait_for()
        check("dark")
        page.get_by_role("button", name=YES).click()
        page.get_by_role("link", name="age", exact=True).click()
        page.get_by_label("The highest age anyone may enter?").wait_for()
        check("dark", "light")
