"""Builds that carry Apache Kafka under a number of their own."""

import pytest

from rollcall.catalog.loader import TableError
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.vendor_builds import apache_line, build_platforms


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
def test_a_build_leads_to_the_line_it_carries(text: str, line: str | None) -> None:
    assert apache_line(Release.parse(text)) == line


def test_a_build_of_an_unknown_line_is_a_contradiction() -> None:
    rows = [{"name": "Some Platform", "suffixes": ["x"], "lines": {"9.0": "5.5"}}]
    with pytest.raises(
        TableError, match=r"vendor_builds\.json, row Some Platform: 9\.0 carries 5\.5"
    ):
        build_platforms(rows, ["4.3"])
