"""Loading the tables, and the errors that name an invalid row."""

import time
from importlib.resources import files

import pytest

from rollcall.catalog import apis, features
from rollcall.catalog.brokers import other_products
from rollcall.catalog.clients import applications, libraries
from rollcall.catalog.loader import (
    TableError,
    check_fields,
    invalid_row,
    parse_api,
    parse_range,
    parse_ranges,
    read_table,
)
from rollcall.catalog.releases import api_ranges, log_formats, release_lines, vendor_builds

TABLES = sorted(path.name for path in files("rollcall.catalog").joinpath("data").iterdir())


def load_all() -> None:
    known = apis.build_apis(read_table(apis.FILE)["apis"])
    lines = release_lines.build_release_lines(read_table(release_lines.FILE), known)
    api_ranges.build_deprecated(read_table(api_ranges.DEPRECATED)["deprecated"], lines, known)
    vendor_builds.build_vendor_builds(
        read_table(vendor_builds.FILE)["builds"], [line.name for line in lines]
    )
    other_products.build_products(read_table(other_products.FILE)["products"], known)
    features.build_features(read_table(features.FILE)["features"], lines, known)
    libraries.build_libraries(read_table(libraries.FILE)["libraries"], known)
    applications.build_rules(read_table(applications.FILE)["rules"])
    patches = [patch for line in lines for patch in line.patches]
    log_formats.build_log_formats(read_table(log_formats.FILE)["formats"], patches)


def test_every_table_has_a_module_and_an_about_text() -> None:
    owned = {apis.FILE, release_lines.FILE, api_ranges.DEPRECATED, vendor_builds.FILE}
    owned |= {other_products.FILE, features.FILE, libraries.FILE}
    owned |= {applications.FILE, log_formats.FILE}
    assert set(TABLES) == owned
    assert all(read_table(table)["about"] for table in TABLES)


def test_all_tables_load_within_30_ms_of_cpu_time() -> None:
    times = []
    for _ in range(7):
        start = time.process_time()
        load_all()
        times.append(time.process_time() - start)
    assert min(times) < 0.030


def test_invalid_row_names_the_file_and_row() -> None:
    with pytest.raises(TableError) as caught:
        invalid_row("some.json", "row 7", "is odd", "make it even")
    assert caught.value.message == "catalog/data/some.json, row 7: is odd"
    assert caught.value.hint == "make it even"


@pytest.mark.parametrize("pair", [[1, 0], [0], [-1, 0], "0-1", None, [0, 1, 2], [0.0, 1.0]])
def test_parse_range_rejects_an_invalid_range(pair: object) -> None:
    with pytest.raises(TableError, match="Fetch has the range"):
        parse_range("some.json", "row 7", "Fetch", pair)


def test_parse_ranges_replaces_names_by_keys() -> None:
    assert parse_ranges("some.json", "row 7", {"Fetch": [0, 4]}, {"Fetch": 1}) == {1: (0, 4)}
    with pytest.raises(TableError, match="row 7: there is no API Fecth"):
        parse_api("some.json", "row 7", "Fecth", {"Fetch": 1})


def test_check_fields_rejects_missing_and_unknown_fields() -> None:
    check_fields("some.json", "row 7", {"a": 1}, required={"a"}, optional={"b"})
    with pytest.raises(TableError, match="lacks a"):
        check_fields("some.json", "row 7", {}, required={"a"})
    with pytest.raises(TableError, match="unknown field c"):
        check_fields("some.json", "row 7", {"a": 1, "c": 1}, required={"a"}, optional={"b"})
