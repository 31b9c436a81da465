"""Reading the tables: quickly, and with an error that leads to the row."""

import time
from importlib.resources import files

import pytest

from rollcall.catalog import apis, features
from rollcall.catalog.brokers import other_products as others
from rollcall.catalog.clients import applications, libraries
from rollcall.catalog.loader import TableError, check_fields, complain, range_from, read_table
from rollcall.catalog.releases import api_ranges as listings
from rollcall.catalog.releases import log_formats
from rollcall.catalog.releases import release_lines as lines
from rollcall.catalog.releases import vendor_builds as platforms

TABLES = sorted(path.name for path in files("rollcall.catalog").joinpath("data").iterdir())


def load_all() -> None:
    keys = apis.build_apis(read_table(apis.FILE)["apis"])
    known = lines.build_lines(read_table(lines.FILE), keys)
    listings.build_marks(read_table(listings.DEPRECATED)["marks"], known, keys)
    platforms.build_platforms(
        read_table(platforms.FILE)["platforms"], [line.name for line in known]
    )
    others.build_brokers(read_table(others.FILE)["brokers"], keys)
    features.build_features(read_table(features.FILE)["features"], known, keys)
    libraries.build_libraries(read_table(libraries.FILE)["libraries"], keys)
    applications.build_rules(read_table(applications.FILE)["rules"])
    patches = [patch for line in known for patch in line.patches]
    log_formats.build_log_formats(read_table(log_formats.FILE)["formats"], patches)


def test_every_table_has_an_owner_and_says_how_to_read_it() -> None:
    owned = {apis.FILE, lines.FILE, listings.DEPRECATED, platforms.FILE, others.FILE}
    owned |= {features.FILE, libraries.FILE, applications.FILE, log_formats.FILE}
    assert set(TABLES) == owned
    assert all(read_table(table)["about"] for table in TABLES)


def test_all_tables_load_and_are_checked_within_30_ms() -> None:
    times = []
    for _ in range(7):
        start = time.process_time()
        load_all()
        times.append(time.process_time() - start)
    assert min(times) < 0.030


def test_a_complaint_leads_to_the_row() -> None:
    with pytest.raises(TableError) as caught:
        complain("some.json", "row 7", "is odd", "make it even")
    assert caught.value.message == "catalog/data/some.json, row 7: is odd"
    assert caught.value.hint == "make it even"


@pytest.mark.parametrize("pair", [[1, 0], [0], [-1, 0], "0-1", None, [0, 1, 2], [0.0, 1.0]])
def test_what_is_no_range_is_refused(pair: object) -> None:
    with pytest.raises(TableError, match="Fetch has the range"):
        range_from("some.json", "row 7", "Fetch", pair)


def test_a_row_may_lack_nothing_and_have_nothing_unread() -> None:
    check_fields("some.json", "row 7", {"a": 1}, needs={"a"}, may={"b"})
    with pytest.raises(TableError, match="lacks a"):
        check_fields("some.json", "row 7", {}, needs={"a"}, may=set())
    with pytest.raises(TableError, match="unknown field c"):
        check_fields("some.json", "row 7", {"a": 1, "c": 1}, needs={"a"}, may={"b"})
