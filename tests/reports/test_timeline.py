"""Library versions per day."""

from pathlib import Path

from rollcall.reports import version_timeline
from tests.reports.table_builder import TableBuilder, hour


def test_version_timeline_counts_applications_per_day(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, "librdkafka 2.3.0", days=[0, 1])
    builder.use("Fetch", 11, "librdkafka 2.4.1", days=[1, 2]).use(
        "Fetch", 3, principal="User:b", days=[2]
    )
    found = version_timeline(builder.write(tmp_path / "tables"))
    assert found.days == (hour(0), hour(1), hour(2))
    assert found.series == {
        "librdkafka 2.3": (1, 1, 0),
        "librdkafka 2.4": (0, 1, 1),
        "no name reported": (0, 0, 1),
    }


def test_version_timeline_of_empty_tables_is_empty(tmp_path: Path) -> None:
    assert version_timeline(TableBuilder().write(tmp_path / "tables")).series == {}
