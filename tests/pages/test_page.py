"""The HTML report: its file, and its behaviour in chromium."""

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
ROWS = "[...document.querySelectorAll('tbody tr')].map(row => row.textContent)"
TITLES = "[...document.querySelectorAll('h2')].map(title => title.textContent)"


def hostile_tables() -> TableBuilder:
    builder = TableBuilder().broker_reports("3.9.0")
    builder.use("Fetch", 17, "apache-kafka-java 3.9.0", client_id="safe")
    for number, client_id in enumerate(HOSTILE):
        builder.use("Fetch", 3, client_id=client_id, principal=f"User:{client_id}", days=[number])
        builder.use("Fetch", 3, f"{client_id} {client_id}", client_id=client_id, days=[9])
    builder.use("ListOffsets", 0, "librdkafka 1.5.0", client_id="pay", requests=5000)
    for day in range(4):
        builder.roll_call(day, 1, start_time=hour(day) - timedelta(minutes=9), host=HOSTILE[0])
    return builder


def write_page(builder: TableBuilder, directory: Path, *command: str) -> Path:
    tables, page = builder.write(directory / "tables"), directory / "page.html"
    arguments = ["report", *command, "--tables", str(tables), "--html", str(page)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 1, 3), result.output
    return page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("page")
    return write_page(hostile_tables(), directory, "impact", "--target", "4.0.0")


@pytest.fixture(scope="module")
def browser(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        browser.open(page)
        yield browser


def test_the_page_is_one_small_file_without_untrusted_markup(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text) < 400_000
    for client_id in HOSTILE[:4]:
        assert client_id not in text
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in text
    assert text.count("<script") == 3


@pytest.mark.browser
def test_the_page_sends_no_request(browser: Browser, page: Path) -> None:
    browser.run("1")
    assert set(browser.requested) == {page.as_uri()}
    assert browser.errors == []


@pytest.mark.browser
def test_untrusted_text_is_shown_as_text(browser: Browser) -> None:
    shown = "\n".join(browser.run(ROWS))
    for client_id in HOSTILE[:2]:
        assert client_id.replace("7", "*") in shown.replace("7", "*")
    assert browser.run("document.title") == "Upgrade to 4.0.0"
    assert browser.run("document.images.length") == 0
    assert browser.run("document.scripts.length") == 3


@pytest.mark.browser
def test_the_page_draws_both_charts(browser: Browser) -> None:
    drawn = browser.run(
        "[...document.querySelectorAll('canvas')].map(c => c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.some(byte => byte !== 0))"
    )
    assert drawn == [True, True]
    assert browser.run(TITLES)[-2:] == ["Library versions per day", "Broker starts"]


@pytest.mark.browser
def test_labels_of_an_axis_are_distinct(browser: Browser) -> None:
    ticks = (
        "Chart.getChart(document.querySelectorAll('canvas')[{}]).scales.{}.ticks.map(t => t.label)"
    )
    for chart, axis in ((0, "x"), (0, "y"), (1, "x"), (1, "y")):
        labels = [label for label in browser.run(ticks.format(chart, axis)) if label]
        assert len(labels) == len(set(labels)) > 0, labels


@pytest.mark.browser
def test_the_table_is_filtered_by_words(browser: Browser) -> None:
    all_rows = len(browser.run(ROWS))
    type_in = (
        "s = document.querySelector('input[type=search]'); s.value = {!r};"
        "s.dispatchEvent(new Event('input'))"
    )
    browser.run(type_in.format("LIBRDKAFKA breaks"))
    (row,) = browser.run(ROWS)
    assert "pay" in row
    browser.run(type_in.format(""))
    assert len(browser.run(ROWS)) == all_rows


@pytest.mark.browser
def test_a_click_on_a_heading_sorts_the_table(browser: Browser) -> None:
    click = "[...document.querySelectorAll('th')].find(h => h.textContent === 'requests').click()"
    cells = "[...document.querySelectorAll('tbody tr')].map(r => r.lastChild.textContent)"
    browser.run(click)
    up = [int(text.replace(",", "")) for text in browser.run(cells)]
    browser.run(click)
    down = [int(text.replace(",", "")) for text in browser.run(cells)]
    assert up == sorted(up)
    assert down == sorted(up, reverse=True)
    assert down[0] == 70_000


@pytest.mark.browser
def test_verdicts_are_sorted_by_severity_and_coloured(tmp_path: Path) -> None:
    """Also with a column for the cluster."""
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 17, client_id="a", cluster="b")
    builder.use("Fetch", 3, client_id="old", cluster="a").use("Fetch", 99, client_id="new")
    builder.use("Fetch", 11, "librdkafka 1.7.0", client_id="needs")
    page = write_page(builder, tmp_path, "impact", "--target", "4.0.0")
    with open_browser(tmp_path / "profile") as browser:
        browser.open(page)
        heading = "[...document.querySelectorAll('th')].find(h => h.textContent === 'verdict')"
        browser.run(f"{heading}.click()")
        cells = "[...document.querySelectorAll('tbody tr')].map(row => row.children[1])"
        assert browser.run(f"{cells}.map(cell => cell.textContent)") == [*map(str, Verdict)]
        classes = browser.run(f"{cells}.map(cell => cell.className)")
        assert classes == ["breaks", "risk", "risk", "safe"]


@pytest.mark.browser
def test_a_click_on_a_client_shows_evidence_and_remedies(browser: Browser) -> None:
    browser.run(
        "[...document.querySelectorAll('tr.opens')].find(r => /pay/.test(r.textContent)).click()"
    )
    detail = browser.run("document.querySelector('tr.detail').textContent")
    assert "ListOffsets 0, 70,000 requests" in detail
    assert "upgrade librdkafka to 1.8.2 or later" in detail
    browser.run("document.querySelector('tr.detail').previousSibling.click()")
    assert browser.run("document.querySelector('tr.detail')") is None


@pytest.mark.browser
@pytest.mark.parametrize(
    ("command", "title"),
    [("clients", "Clients"), ("restarts", "Brokers"), ("problems", "Problems")],
)
def test_every_report_has_a_page(command: str, title: str, tmp_path: Path) -> None:
    page = write_page(hostile_tables(), tmp_path, command)
    with open_browser(tmp_path / "profile") as browser:
        browser.open(page)
        assert browser.run("document.title") != "owned"
        assert browser.errors == []
        titles = browser.run(TITLES)
        assert titles[0] == title
        assert ("Library versions per day" in titles) is (command != "restarts")
