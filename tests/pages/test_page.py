"""The page that can be mailed, opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rollcall.cli.app import app
from rollcall.reports import Verdict
from tests.pages.browser import Browser, open_browser
from tests.reports.table_builder import TableBuilder, hour

HOSTILE = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "{{7*7}}${7*7}",
)
TEXT = "[...document.querySelectorAll('tbody tr')].map(row => row.textContent)"


def builder() -> TableBuilder:
    tables = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 17, "apache-kafka-java 3.9.0", client_id="calm")
    )
    for number, client_id in enumerate(HOSTILE):
        tables.use("Fetch", 3, client_id=client_id, principal=f"User:{client_id}", days=[number])
        tables.use("Fetch", 3, f"{client_id} {client_id}", client_id=client_id, days=[9])
    tables.use("ListOffsets", 0, "librdkafka 1.5.0", client_id="pay", requests=5000)
    for at in range(4):
        tables.roll_call(at, 1, start_time=hour(at) - timedelta(minutes=9), host=HOSTILE[0])
    return tables


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("page")
    tables, page = builder().write(directory / "tables"), directory / "impact.html"
    arguments = ["report", "impact", "--tables", tables, "--target", "4.0.0", "--html", page]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 1, result.output
    return page


@pytest.fixture(scope="module")
def browser(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        browser.open(page)
        yield browser


def test_the_page_holds_all_it_needs_and_is_small(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text) < 400_000
    for client_id in HOSTILE[:4]:
        assert client_id not in text
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in text
    assert text.count("<script") == 3


def test_it_asks_the_network_for_nothing(browser: Browser, page: Path) -> None:
    browser.run("1")
    assert set(browser.requested) == {page.as_uri()}
    assert browser.complaints == []


def test_hostile_text_is_text(browser: Browser) -> None:
    shown = "\n".join(browser.run(TEXT))
    for client_id in HOSTILE[:2]:
        assert client_id.replace("7", "*") in shown.replace("7", "*")
    assert browser.run("document.title") == "What breaks at 4.0.0"
    assert browser.run("document.images.length") == 0
    assert browser.run("document.scripts.length") == 3


def test_both_charts_are_drawn(browser: Browser) -> None:
    drawn = browser.run(
        "[...document.querySelectorAll('canvas')].map(c => c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.some(byte => byte !== 0))"
    )
    assert drawn == [True, True]
    titles = browser.run("[...document.querySelectorAll('h2')].map(h => h.textContent)")
    assert titles[1:] == ["Library versions over time", "Broker starts"]


MARKS = "Chart.getChart(document.querySelectorAll('canvas')[{}]).scales.{}.ticks.map(t => t.label)"


def test_no_mark_of_an_axis_says_the_same_twice(browser: Browser) -> None:
    for chart, axis in ((0, "x"), (0, "y"), (1, "x"), (1, "y")):
        marks = [mark for mark in browser.run(MARKS.format(chart, axis)) if mark]
        assert len(marks) == len(set(marks)) > 0, marks


def test_a_table_is_filtered_by_words(browser: Browser) -> None:
    everything = len(browser.run(TEXT))
    type_in = (
        "s = document.querySelector('input[type=search]'); s.value = {!r};"
        "s.dispatchEvent(new Event('input'))"
    )
    browser.run(type_in.format("LIBRDKAFKA breaks"))
    (row,) = browser.run(TEXT)
    assert "pay" in row
    browser.run(type_in.format(""))
    assert len(browser.run(TEXT)) == everything


def test_a_table_is_sorted_by_a_column_up_and_down(browser: Browser) -> None:
    click = "[...document.querySelectorAll('th')].find(h => h.textContent === 'requests').click()"
    cells = "[...document.querySelectorAll('tbody tr')].map(r => r.lastChild.textContent)"
    browser.run(click)
    up = [int(text.replace(",", "")) for text in browser.run(cells)]
    browser.run(click)
    down = [int(text.replace(",", "")) for text in browser.run(cells)]
    assert up == sorted(up)
    assert down == sorted(up, reverse=True)
    assert down[0] == 70_000


def test_verdicts_are_sorted_by_how_bad_they_are_and_keep_their_looks_beside_a_cluster(
    tmp_path: Path,
) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 17, client_id="calm", cluster="b")
    builder.use("Fetch", 3, client_id="old", cluster="a").use("Fetch", 99, client_id="new")
    builder.use("Fetch", 11, "librdkafka 1.7.0", client_id="needs")
    tables, page = builder.write(tmp_path / "tables"), tmp_path / "impact.html"
    arguments = ["report", "impact", "--tables", tables, "--target", "4.0.0", "--html", page]
    CliRunner().invoke(app, [*map(str, arguments)])
    with open_browser(tmp_path / "profile") as browser:
        browser.open(page)
        click = "[...document.querySelectorAll('th')].find(h => h.textContent === 'verdict')"
        browser.run(f"{click}.click()")
        cells = "[...document.querySelectorAll('tbody tr')].map(row => row.children[1])"
        assert browser.run(f"{cells}.map(it => it.textContent)") == [*map(str, Verdict)]
        looks = browser.run(f"{cells}.map(it => it.className)")
        assert looks == ["breaks", "risk", "risk", "safe"]


def test_a_click_on_a_client_shows_evidence_and_remedy(browser: Browser) -> None:
    browser.run(
        "[...document.querySelectorAll('tr.opens')].find(r => /pay/.test(r.textContent)).click()"
    )
    detail = browser.run("document.querySelector('tr.detail').textContent")
    assert "ListOffsets 0, 70,000 requests" in detail
    assert "upgrade librdkafka to 1.8.2 or later" in detail
    browser.run("document.querySelector('tr.detail').previousSibling.click()")
    assert browser.run("document.querySelector('tr.detail')") is None


@pytest.mark.parametrize("command", ["clients", "restarts", "problems"])
def test_every_report_is_a_page_too(command: str, tmp_path: Path) -> None:
    tables, page = builder().write(tmp_path / "tables"), tmp_path / "page.html"
    result = CliRunner().invoke(
        app, ["report", command, "--tables", str(tables), "--html", str(page)]
    )
    assert result.exit_code == 0, result.output
    with open_browser(tmp_path / "profile") as browser:
        browser.open(page)
        assert browser.run("document.title") != "owned"
        assert browser.complaints == []
        titles = browser.run("[...document.querySelectorAll('h2')].map(h => h.textContent)")
        assert ("Library versions over time" in titles) is (command != "restarts")
        assert titles[0] in ("Clients", "Brokers", "Complaints")
