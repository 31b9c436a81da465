"""Vendor builds of Apache Kafka with their own version numbers."""

import pytest

from rollcall.catalog.loader import TableError
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.vendor_builds import apache_line, build_vendor_builds


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("7.9.10-0-ccs", "3.9"),
        ("7.7.0-ccs", "3.7"),
        ("8.0.0-ce", "4.0"),
        ("6.2.1", "2.8"),
        ("3.9.1-ccs", None),
        ("7.9.1-SNAPSHOT", None),
        ("9.9.0-ccs", None),
    ],
)
def test_apache_line_finds_the_line_in_a_vendor_build(text: str, line: str | None) -> None:
    assert apache_line(Release.parse(text)) == line


def test_build_vendor_builds_rejects_an_unknown_line() -> None:
    rows = [{"name": "Some Platform", "suffixes": ["x"], "lines": {"9.0": "5.5"}}]
    message = r"vendor_builds\.json, row Some Platform: 9\.0 contains the unknown line 5\.5"
    with pytest.raises(TableError, match=message):
        build_vendor_builds(rows, ["4.3"])
