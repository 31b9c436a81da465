"""Application names from client ids."""

import copy

import pytest

from rollcall.catalog.clients.applications import (
    FILE,
    application_of,
    application_rules,
    build_rules,
)
from rollcall.catalog.loader import TableError, read_table


@pytest.mark.parametrize(
    ("client_id", "application"),
    [
        ("billing", "billing"),
        ("consumer-billing-3", "consumer-billing-*"),
        ("kafka-python-2.0.2", "kafka-python-*.*.*"),
        ("app-3f2504e0-4f89-11d3-9a0c-0305e82c3301", "app-*"),
        ("app-3F2504E0-4F89-11D3-9A0C-0305E82C3301-7", "app-*-*"),
        ("reader-9f86d081884c7d659a2feaa0c55ad015", "reader-*"),
        ("loader-6d4cf56db6-x2xpq", "loader-*"),
        ("decade", "decade"),
        ("", ""),
    ],
)
def test_application_of_replaces_the_parts_that_vary(client_id: str, application: str) -> None:
    assert application_of(client_id) == application
    assert application_of(application) == application


def test_application_of_is_equal_for_all_instances() -> None:
    assert len({application_of(f"orders-{n}-producer") for n in range(100)}) == 1


def test_rules_use_only_syntax_that_java_and_re2_share() -> None:
    for rule in application_rules():
        assert "(?" not in rule.pattern
        assert "\\" not in rule.pattern + rule.replacement


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pattern": "["}, "row uuid: '\\['"),
        ({"replacement": "-"}, "row uuid: .* becomes"),
        ({"x": 1}, "field x"),
    ],
)
def test_build_rules_names_the_file_and_row_of_an_invalid_rule(
    change: dict[str, object], message: str
) -> None:
    rows = copy.deepcopy(read_table(FILE)["rules"])
    rows[0] = {**rows[0], **change}
    with pytest.raises(TableError, match=message) as caught:
        build_rules(rows)
    assert "applications.json" in caught.value.message
