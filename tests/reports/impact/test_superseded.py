"""Whether later days with accepted versions supersede a refused version."""

import pytest

from rollcall.reports.impact.superseded import HostUse, superseded

FETCH = 1
OLD = HostUse("10.0.0.1", "sarama", "1.30.0", FETCH, 3, days=0b111)
LATER_7_DAYS = 0b1111111 << 3


def accepted(
    host: str | None = "10.0.0.1", version: str | None = "1.30.0", days: int = LATER_7_DAYS
) -> HostUse:
    return HostUse(host, "sarama", version, FETCH, 11, days)


@pytest.mark.parametrize(
    ("later", "is_superseded"),
    [
        ([], False),
        ([accepted()], True),
        ([accepted(days=LATER_7_DAYS >> 1)], False),  # 6 later days
        ([accepted(days=0b1111 << 3), accepted(days=0b1111 << 6)], True),  # 7 days together
        ([accepted(host="10.0.0.2")], False),
        ([accepted(host=None)], False),
        ([accepted(host="10.0.0.2", version="1.31.0")], True),  # newer software on another host
        ([accepted(host="10.0.0.2", version="1.29.0")], False),
        ([accepted(host="10.0.0.2", version=None)], False),
    ],
)
def test_a_use_is_superseded_after_7_later_days_of_the_host_or_newer_software(
    later: list[HostUse], is_superseded: bool
) -> None:
    assert (OLD in superseded([OLD], later)) is is_superseded
